# The course's Makefile: rules. `make help` lists the targets. tools/setup.sh finds (or installs)
# compilers and libraries and says in $(BUILD)/config.mk what they are.
#
#   SUBMISSION=DIR         the folder that holds phase1_cpu ... (default: this one)
#   EX="206 211" PHASE=2   only these exercises, only this phase
#   BACKEND=cpu|cuda       the software GPU or a real one (default: what the machine has)
#   CUCC_FRONTEND=nvcc|clang  what compiles for the software GPU (default: nvcc where there is one)
#   CASE=NAME SEED=N       one case again, with the same numbers
#   FRESH=1                grade again what has not changed
#   TIMES=20               gradings of make repeat
#   STRICT=1               fail unless all points are reached
#   OWN=1                  link exercises with your own earlier ones, whatever their verdict
#   RESULTS=FILE           where the results go (default: results/results.json)
#   HISTORY=FILE           where every verdict is kept (default: history.jsonl beside RESULTS)
#   FORMAT=html OUTPUT=FILE  of a report
# instructor
#   CLASS_RESULTS=FILE     class.json of make class, for make compare (default: beside RESULTS)
#   SUBMISSIONS=DIR OUT=DIR CLASS=FILE JOBS=N RERUN=1 SCHEDULER=slurm  of make class: docs/class.md
#   HANDOUT=DIR            of make handout (default: build/handout)
#   HIDDEN=FILE REVEAL=1   a private seed and more cases; show them: docs/class.md
# end instructor
#   ISOLATION=required|off  refuse to grade with a layer of isolation missing; do without
#   KEY=FILE               of make grade, class and verify: the instructor's, which signs results
#   NO_INSTALL=1           never install anything
#   V=1                    show the commands

BUILD      ?= build
SUBMISSION ?= .
RESULTS    ?= results/results.json
HISTORY    ?= $(dir $(RESULTS))history.jsonl
CLASS_RESULTS ?= $(wildcard $(dir $(RESULTS))class.json)

.DEFAULT_GOAL := help
ifndef V
.SILENT:
endif
WITHOUT_SETUP := help setup doctor gradescope data new skeletons reset docs pages format clean
ifneq ($(filter-out $(WITHOUT_SETUP),$(or $(MAKECMDGOALS),help)),)
include $(BUILD)/config.mk
endif
export COURSE_ROOT  := $(CURDIR)
export COURSE_BUILD := $(abspath $(BUILD))
export SUBMISSION RESULTS EX PHASE CASE SEED

MAKEFLAGS := $(MAKEFLAGS) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS))$(filter-out 0,$(MAKELEVEL)),,-j$(shell nproc))
CFLAGS    ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(CFLAGS) -Wall -Wextra -Wno-format-truncation -D_GNU_SOURCE -MMD -MP \
             -Icommon

# --- what is built ----------------------------------------------------------------------------

PHASES     := $(sort $(wildcard phase?_*))
COURSE_C   := $(wildcard common/*.c)
GRADER_ROOMS := base sandbox course build call correctness correctness/mistakes measure verdict views \
              student selftest
GRADER_C   := $(wildcard grader/*.c $(GRADER_ROOMS:%=grader/%/*.c) grader/exercises/*/cases.c \
              grader/exercises/shared/*.c) emulator/remote/link.c emulator/runtime/core/finding.c
WORKER_C   := $(wildcard grader/worker/*.c grader/exercises/*/worker.c)
TESTS_C    := tests/grader/main.c $(wildcard tests/common/*.c $(GRADER_ROOMS:%=tests/grader/%/test_*.c) \
              tests/grader/exercises/*.c tests/grader/worker/*.c)
CLASS_C    := $(wildcard grader/class/*.c)
CLASS_TESTS_C := $(wildcard tests/grader/class/*.c)

objects     = $(patsubst %.c,$(BUILD)/obj/$(1)/%.o,$(2))
COURSE_O   := $(call objects,course,$(COURSE_C))
GRADER_O   := $(call objects,grader,$(GRADER_C))
TESTS_O    := $(call objects,grader,$(TESTS_C))
CLASS_O    := $(call objects,grader,$(CLASS_C))
CLASS_TESTS_O := $(call objects,grader,$(CLASS_TESTS_C))

WORKERS    := cpu $(if $(CUCC_FRONTEND),softgpu) $(if $(CUDA_LIB),cuda)
PROGRAMS   := $(BUILD)/grader $(WORKERS:%=$(BUILD)/worker_%)

-include emulator/emulator.mk

$(BUILD)/libcourse.so: $(COURSE_O)
	echo 'link $@'
	$(CC) $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^ -lz -lm

$(BUILD)/grader: $(GRADER_O) $(BUILD)/libcourse.so
	echo 'link $@'
	$(CC) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CHECK_LIBS) -ljansson -lcrypto -lz -lm -pthread -ldl

$(BUILD)/unit_tests: $(TESTS_O) $(filter-out %/main.o,$(GRADER_O)) $(BUILD)/libcourse.so
	echo 'link $@'
	$(CC) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CHECK_LIBS) -ljansson -lcrypto -lz -lm -pthread -ldl

# For instructors: with libarchive, which students need not have.
CLASS_LIBS := $(ARCHIVE_LIBS) $(CHECK_LIBS) -ljansson -lcrypto -lz -lm -pthread -ldl
$(BUILD)/class: $(CLASS_O) $(filter-out %/main.o,$(GRADER_O)) $(BUILD)/libcourse.so
$(BUILD)/class_tests: $(CLASS_TESTS_O) $(filter-out %/main.o,$(CLASS_O) $(GRADER_O)) $(BUILD)/libcourse.so | $(BUILD)/class
$(BUILD)/class $(BUILD)/class_tests:
	echo 'link $@'
	$(CC) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CLASS_LIBS)

# One source, three workers: the CPU alone, the software GPU, a real one.
$(BUILD)/worker_cpu: $(call objects,worker_cpu,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/worker_softgpu: $(call objects,worker_softgpu,$(WORKER_C)) $(BUILD)/libcourse.so \
                         $(BUILD)/remote/libsoftgpu.so | $(BUILD)/libsoftgpu.so
$(BUILD)/worker_softgpu: RPATH := $$ORIGIN/remote:
$(BUILD)/worker_cuda: $(call objects,worker_cuda,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/worker_cuda: LIBS := -L'$(CUDA_LIB)' -Wl,-rpath,'$(CUDA_LIB)' -lcudart
$(WORKERS:%=$(BUILD)/worker_%):
	echo 'link $@'
	$(CC) $(LDFLAGS) -o $@ -Wl,--no-as-needed $^ -Wl,-rpath,'$(RPATH)$$ORIGIN' $(LIBS) -lffi -lm -pthread -ldl

FLAGS_course         := -fPIC -fno-semantic-interposition
FLAGS_grader         := -Igrader -Iemulator -Itests $(PHASES:%=-I%)
FLAGS_worker_cpu     := -Igrader -Igrader/worker -Iemulator
FLAGS_worker_softgpu := $(FLAGS_worker_cpu) -DWITH_CUDA -DWITH_SOFTGPU -isystem emulator/include
FLAGS_worker_cuda    := $(FLAGS_worker_cpu) -DWITH_CUDA -isystem '$(CUDA_INCLUDE)'

# Objects lie in $(BUILD)/obj/KIND/, compiled with FLAGS_KIND.
define compile
$(BUILD)/obj/$(1)/%.o: %.c
	mkdir -p $$(@D) && echo 'cc   $$<'
	$$(CC) $$(ALL_CFLAGS) $$(FLAGS_$(1)) -c $$< -o $$@
endef
$(foreach kind,course grader worker_cpu worker_softgpu worker_cuda,$(eval $(call compile,$(kind))))

-include $(shell find $(BUILD)/obj $(BUILD)/compiled -name '*.d' 2>/dev/null)

# It holds copies.c, which is of a worker with CUDA.
$(BUILD)/obj/grader/tests/grader/worker/test_copies.o: ALL_CFLAGS += -isystem emulator/include

# Objects are made again when their flags may have changed.
$(FUZZ_O) $(REPLAY_O) $(COURSE_O) $(GRADER_O) $(TESTS_O) $(CLASS_O) $(CLASS_TESTS_O) $(foreach w,$(WORKERS),$(call objects,worker_$(w),$(WORKER_C))): \
    $(BUILD)/config.mk

$(BUILD)/config.mk: tools/setup.sh
	tools/setup.sh "$(BUILD)"

ifneq ($(strip $(NVIDIA_DEVICES)),$(sort $(wildcard /dev/nvidia[0-9]* /dev/dxg)))
$(BUILD)/config.mk: FORCE
endif

-include tests/fuzz/grader/fuzz.mk

# --- what is compiled only to see that it compiles, and without a warning ----------------------

comma     := ,
SOLUTIONS := $(wildcard solutions/phase?_*/*.c solutions/phase?_*/*.cu)
PARTS     := $(wildcard solutions/phase?_*/*.cuh)
SKELETONS := $(SOLUTIONS:solutions/%=$(BUILD)/skeletons/%)
PART_SKELETONS := $(PARTS:solutions/%=$(BUILD)/skeletons/%)
COMPILED  := $(SOLUTIONS) \
             $(wildcard grader/exercises/*/baseline.c*) \
             $(wildcard bench/*.cu)
COMPILED_O := $(patsubst %,$(BUILD)/compiled/%.o,$(if $(NVCC)$(CUCC_FRONTEND),$(COMPILED), \
                  $(filter %.c,$(COMPILED))))

$(SKELETONS) $(PART_SKELETONS): $(BUILD)/skeletons/%: solutions/% tools/skeleton.awk
	mkdir -p $(@D)
	awk -f tools/skeleton.awk $< >$@

NVCC_FLAGS = -c -Xcompiler -Wall$(comma)-Wextra -Werror all-warnings
TWO_GPUS   = -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
PTX_ALONE  = -gencode arch=compute_80,code=compute_80
QUICKLY    = $(if $(findstring --Ofast-compile,$(shell $(NVCC) --help)),--Ofast-compile=max)
NVCC_OR_CUCC = $(if $(NVCC),$(NVCC) -ccbin $(CXX) $(QUICKLY) $(if $(filter solutions/% bench/%,$<),$(TWO_GPUS),$(PTX_ALONE)),emulator/cucc) $(NVCC_FLAGS)

$(BUILD)/compiled/%.c.o: %.c
	mkdir -p $(@D) && echo 'cc   $<'
	$(CC) $(ALL_CFLAGS) -O3 -march=native -Werror $(PHASES:%=-I%) -c $< -o $@

$(BUILD)/compiled/%.cu.o: %.cu
	mkdir -p $(@D) && echo '$(if $(NVCC),nvcc,cucc) $<'
	$(NVCC_OR_CUCC) -O3 -MMD -MP -Icommon $(if $(filter bench/%,$<),-Isolutions/phase5_full_network) $(PHASES:%=-I%) $< -o $@

# --- what can be asked for --------------------------------------------------------------------

.PHONY: help setup doctor all grade check repeat verify class phase1 phase2 phase3 phase4 phase5 hint watch progress next reset compare sanitize profile data mnist bench report gradescope readme new pages messages mistakes handout corpus manifest \
        skeletons test tested compiled docs compile_commands.json format clean FORCE

GRADER      = "$(BUILD)/grader"
SIGN        = $(if $(KEY),--key "$(KEY)")
KEEP        = --history "$(HISTORY)"
GRADE_FLAGS = --submission "$$SUBMISSION" --backend "$$BACKEND" $(if $(EX),--exercise "$$EX") \
              $(if $(PHASE),--phase "$$PHASE") $(if $(CASE),--case "$$CASE") \
              $(if $(SEED),--seed "$$SEED") $(if $(FRESH),--fresh) $(if $(STRICT),--strict) \
              $(if $(OWN),--own) $(HIDE)
HIDE        = $(if $(HIDDEN),--hidden "$$(realpath -m "$(HIDDEN)")") $(if $(REVEAL),--reveal)

help: ## this list
	echo 'usage: make TARGET [NAME=VALUE ...]'; echo
	sed -n 's/^\([a-z][-a-z0-9_. ]*\):.*## /  \1\t/p' Makefile emulator/emulator.mk | sed 's/phase1.*phase5/phase1 .. phase5/' | expand -t 26; echo
	sed -n 's/^#   \([A-Z_]*=.*\)/  \1/p' Makefile

setup: ## find what the course needs, install what is missing
	tools/setup.sh "$(BUILD)"

doctor: ## what this machine has and lacks, and what follows
	tools/doctor.sh "$(BUILD)"

all: $(PROGRAMS) ## build the grader

grade: all ## grade SUBMISSION
	$(GRADER) grade $(GRADE_FLAGS) $(KEEP) $(SIGN) --results "$$RESULTS"

check: all ## grade EX (or one CASE of it) once more, and leave RESULTS as they are
	$(GRADER) grade $(GRADE_FLAGS) --fresh --results "$$COURSE_BUILD/check.json"

verify: all ## are RESULTS what a grader wrote (KEY), of SUBMISSION, by this course? ALLOW_UNSIGNED=1
	$(GRADER) verify $(SIGN) --results "$$RESULTS" $(if $(ALLOW_UNSIGNED),--allow-unsigned) \
	    $(if $(filter file,$(origin SUBMISSION)),,--submission "$$SUBMISSION")

repeat: all ## grade TIMES times afresh: does every grading come to the same verdicts? (OUTPUT: as TSV)
	OUTPUT="$(OUTPUT)" tools/repeat_grading.sh "$(or $(TIMES),20)" $(GRADE_FLAGS)

phase1 phase2 phase3 phase4 phase5: all ## build the exercises of one phase
	$(GRADER) build --submission "$$SUBMISSION" --phase $(@:phase%=%)

hint: all ## the next hint: make hint EX=211
	$(GRADER) hint "$$EX"

watch: all ## grade an exercise whenever its file is saved (EX, PHASE: only these)
	$(GRADER) watch $(GRADE_FLAGS) $(KEEP) --results "$$COURSE_BUILD/watch.json"

progress: all ## a map of the course: what is done, what is open, how many points
	$(GRADER) progress $(GRADE_FLAGS) $(KEEP)

next: all ## the next exercise: its page, its file, about how many lines
	$(GRADER) next $(GRADE_FLAGS) $(KEEP)

reset: ## hand an exercise out again: make reset EX=211 (keeps your file in results/backups)
	tools/reset.sh "$$EX"

compare: all ## EX against your earlier gradings, the reference, the class and this device, with a plot
	tools/compare.sh $(KEEP) $(GRADE_FLAGS) $(addprefix --class ,$(CLASS_RESULTS:%="%"))

sanitize: all ## look for races, wild accesses and undefined reads in EX, and list them all
	tools/sanitize_student.sh $(GRADE_FLAGS)

profile: all ## what the kernels of EX do, counted, and which lines cost most
	tools/profile.sh $(GRADE_FLAGS)

data: ## fetch MNIST into data/mnist
	tools/data.sh

CUDA_CC = $(if $(filter cuda,$(BACKEND)),$(NVCC) -arch=sm_$(GPU_ARCH),emulator/cucc)
CUDA_CC_FLAGS = -O3 -Icommon $(PHASES:%=-I%) -L"$(BUILD)" -lcourse -Xlinker -rpath='$$ORIGIN'

mnist: all ## train the network of exercise 501: EPOCHS=5 SEED=1
	$(CUDA_CC) $(patsubst %,"$$SUBMISSION"/%,$(shell $(GRADER) needs 501)) programs/mnist/main.c $(CUDA_CC_FLAGS) -o "$(BUILD)/mnist"
	"$(BUILD)/mnist" $(EPOCHS) $(SEED)

# The program of five ResNet-18s, from programs/resnet18 and SUBMISSION's exercises. The linker puts wrapped.c
# between the networks and what they call.
RESNET18_MAIN = $(wildcard programs/resnet18/*.c)
RESNET18_O = $(patsubst %,$(BUILD)/program/$(BACKEND)/%.o,$(NEEDED:%=$(patsubst ./%,%,$(SUBMISSION)/%)) $(RESNET18_MAIN))
WRAPPED = $(shell sed -n 's|^WRAP[^a-z]\([A-Za-z0-9_]*\),.*|\1|p' programs/resnet18/wrapped.c)

$(BUILD)/program/$(BACKEND)/%.c.o: %.c
	mkdir -p $(@D) && echo 'cc   $<'
	$(CC) $(ALL_CFLAGS) -O3 -march=native $(PHASES:%=-I%) \
	    $(FLAGS_worker_$(if $(filter cuda,$(BACKEND)),cuda,softgpu)) \
	    $(if $(filter %/layerwise.c,$(RESNET18_MAIN)),,-DWITHOUT_LAYERWISE) -c $< -o $@

$(BUILD)/program/$(BACKEND)/%.cu.o: %.cu
	mkdir -p $(@D) && echo '$(firstword $(notdir $(CUDA_CC))) $<'
	$(CUDA_CC) -O3 -MMD -MP -Icommon $(PHASES:%=-I%) -c $< -o $@

-include $(shell find $(BUILD)/program -name '*.d' 2>/dev/null)

.PHONY: resnet18 $(BUILD)/resnet18 bench-matmul bench-launch bench-layers bench-resnet18
resnet18: all ## the program that times five ResNet-18s: build/resnet18 --help
	$(MAKE) $(BUILD)/resnet18 NEEDED="$$($(GRADER) needs '306 504 505 506 507')"

$(BUILD)/resnet18: $(RESNET18_O)
	echo 'link $@'
	$(CUDA_CC) $^ $(WRAPPED:%=-Xlinker --wrap=%) $(CUDA_CC_FLAGS) -lm -o $@

# instructor
BENCH = $(or $(OUTPUT),results)
bench: ## matrix products, launches and ResNet-18, beside cuBLAS and PyTorch, as TSV in OUTPUT (default: results)
	$(MAKE) bench-matmul
	$(MAKE) bench-launch
	$(MAKE) bench-resnet18

bench-resnet18:
	$(MAKE) resnet18 SUBMISSION=solutions
	bench/resnet18.sh "$(BENCH)"
	$(if $(filter cuda,$(BACKEND)),$(MAKE) bench-layers BATCHES="--rule 1 8 64")

bench-matmul: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/matmul.cu solutions/phase2_cuda_basics/206_matmul_naive.cu \
	    solutions/phase2_cuda_basics/211_matmul_tiled.cu grader/exercises/206_matmul_naive/baseline.cu \
	    $(CUDA_CC_FLAGS) $(if $(filter cuda,$(BACKEND)),-DWITH_CUBLAS -lcublas) -o "$(BUILD)/bench_matmul"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_matmul" \
	    $(or $(SIZES),$(if $(filter cuda,$(BACKEND)),256 512 1024 2048 4096 8192,256 512)) >"$(BENCH)/matmul.tsv"
	cat "$(BENCH)/matmul.tsv"
	if command -v gnuplot >/dev/null; then \
	    gnuplot -e "table='$(BENCH)/matmul.tsv'; picture='$(BENCH)/matmul.svg'" bench/matmul.gp; \
	fi

bench-launch: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/launch.cu solutions/phase4_optimization/407_graphs.cu $(CUDA_CC_FLAGS) -o "$(BUILD)/bench_launch"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_launch" $(ROUNDS) \
	    >"$(BENCH)/launch.tsv"
	cat "$(BENCH)/launch.tsv"

bench-layers: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/resnet18_layers.cu -Isolutions/phase5_full_network $(CUDA_CC_FLAGS) -o "$(BUILD)/bench_layers"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_layers" $(BATCHES) \
	    >"$(BENCH)/resnet18_layers.tsv"
	grep '^#' "$(BENCH)/resnet18_layers.tsv"

# end instructor
# instructor
ifeq ($(FORMAT),resnet18)
report: ## of ResNet-18, FORMAT=resnet18: pictures and a page of OUTPUT/resnet18.tsv, which make bench wrote
	COURSE_ROOT="$(CURDIR)" tools/report_resnet18.sh "$(BENCH)"
else
# end instructor
report: all ## RESULTS as FORMAT=junit|gradescope|github|summary|csv|html|markdown|tsv, to OUTPUT=FILE
	$(if $(filter html,$(FORMAT)),tools/setup.sh --need gnuplot gnuplot-nox || true)
	$(GRADER) report --format "$(FORMAT)" --results "$$RESULTS" $(if $(OUTPUT),--output "$(OUTPUT)") \
	    $(if $(HISTORY),--history "$(HISTORY)") $(if $(VISIBILITY),--visibility "$(VISIBILITY)")
# instructor
endif

corpus: all ## the grader graded: wrong, slow and hostile submissions, JOBS at a time (EX: only these; SEED)
	$(GRADER) corpus --backend "$$BACKEND" $(if $(EX),--exercise "$$EX") $(if $(JOBS),--jobs "$(JOBS)") $(if $(SEED),--seed "$(SEED)")

manifest: all ## the list of the corpus and its verdicts, written anew
	$(GRADER) manifest >grader/exercises/MANIFEST

gradescope: ## build/gradescope.zip, to be uploaded as an autograder; from what is committed
	HIDDEN="$(HIDDEN)" tools/gradescope/zip.sh "$(BUILD)/gradescope.zip"

readme: all ## the tables of README.md and docs/softgpu.md, from docs/results and the pages' titles
	tools/documents.sh README.md docs/softgpu.md

pages: ## the numbers of the exercises' pages, from docs/results
	tools/documents.sh docs/exercises/*.md

messages: all ## the tables of docs/messages.md, from the sources and the corpus
	tools/documents.sh docs/messages.md

mistakes: all ## what slow submissions cost, counted anew: docs/results/softgpu/mistakes.tsv
	tools/mistakes.sh >"$(BUILD)/mistakes.tsv" && cp "$(BUILD)/mistakes.tsv" docs/results/softgpu/mistakes.tsv

new: ## lay out a new exercise: make new EX=316 NAME=rope PHASE=3
	NAME="$(NAME)" tools/new.sh

handout: all ## the course without solutions, for students, in HANDOUT and HANDOUT.tar.gz
	HANDOUT="$(or $(HANDOUT),$(BUILD)/handout)"; tools/handout.sh "$$HANDOUT"

skeletons: ## write phase*/ anew from solutions/, except what somebody has worked on
	tools/skeletons.sh

ifeq ($(ARCHIVE_LIBS),)
class:
	tools/setup.sh --archive "$(BUILD)"
	$(MAKE) class
else
GPUS = $${CUDA_VISIBLE_DEVICES:-$$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -s -d , -)}
class: all $(BUILD)/class ## grade every folder, zip and tarball in SUBMISSIONS: gradebook and page in OUT
	"$(BUILD)/class" --submissions "$(or $(SUBMISSIONS),$(error make class SUBMISSIONS=DIR))" \
	    --out "$(or $(OUT),results/class)" $(if $(CLASS),--settings "$(CLASS)") \
	    $(if $(JOBS),--jobs "$(JOBS)") $(if $(filter cuda,$(BACKEND)),--gpus "$(GPUS)") \
	    $(if $(RERUN),--rerun) $(if $(SCHEDULER),--scheduler "$(SCHEDULER)") -- \
	    $(GRADER) grade --backend "$$BACKEND" $(SIGN) $(HIDE) $(if $(EX),--exercise "$$EX") $(if $(PHASE),--phase "$$PHASE")
endif

test: ## all tests; the last line counts them. FAST=1: not the parts that passed with the same files
	tools/setup.sh --tests "$(BUILD)"
	$(MAKE) tested

tested: all $(BUILD)/unit_tests $(if $(ARCHIVE_LIBS),$(BUILD)/class $(BUILD)/class_tests) $(BUILD)/test_device $(BUILD)/remote/test_device $(SKELETONS) $(PART_SKELETONS)
	tests/all.sh

compiled: $(COMPILED_O) ## every solution and benchmark, for sm_80 and sm_90; baselines, as PTX
# end instructor
#handout test:
#handout 	echo 'The tests of the course are not handed out. make grade tests your work.'

docs: ## the pages of Doxygen, in $(BUILD)/docs
	tools/setup.sh --need doxygen doxygen
	mkdir -p $(BUILD) && doxygen docs/Doxyfile

compile_commands.json: ## for editors and clang tools
	MAKEFLAGS= $(MAKE) -Bn -o $(BUILD)/config.mk BUILD=$(BUILD) all | tools/compile_commands.awk >$@

format: ## clang-format over all C and CUDA
	git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format -i

clean: ## remove all that was built (not what was downloaded)
	find $(BUILD) -mindepth 1 -maxdepth 1 ! -name cuda -exec rm -rf {} +
