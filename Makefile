# The course's Makefile: rules. `make help` lists the targets. tools/setup.sh finds (or installs)
# compilers and libraries and says in $(BUILD)/config.mk what they are.
#
#   SUBMISSION=DIR         the folder that holds phase1_cpu ... (default: this one)
#   EX="206 211" PHASE=2   only these exercises, only this phase
#   BACKEND=cpu|cuda       the software GPU or a real one (default: what the machine has)
#   CUCC_FRONTEND=nvcc|clang  the compiler for the software GPU (default: nvcc if it is installed;
#                          for make corpus: clang if it is installed)
#   CASE=NAME SEED=N       one case again, with the same numbers
#   SHAPE=5x700            for make run: the shape of the call
#   FRESH=1                also grade exercises that have not changed
#   COURSE_CACHE=DIR       where compiled objects are kept, 2 GiB at most (default: ~/.cache/cuda-course)
#   ALL=1                  for make next and watch: all exercises, not only the path
#   TIMES=20               for make repeat: how often to grade
#   STRICT=1               fail unless all points are reached
#   CHECKS=0               on a GPU: do not also run the cases on softgpu
#   OWN=1                  link exercises with your own earlier ones, even if these failed
#   RESULTS=FILE           the results of a grading (default: results/results.json)
#   HISTORY=FILE           all verdicts (default: history.jsonl next to RESULTS)
#   FORMAT=html OUTPUT=FILE  for make report
#   PREFIX=DIR             for make install: softgpu alone, without the course (default: /usr/local)
#   BLOCK=0,0,0 WARP=0     for make see: what to draw
# instructor
#   CLASS_RESULTS=FILE     class.json of make class, for make compare (default: next to RESULTS)
#   SUBMISSIONS=DIR OUT=DIR CLASS=FILE JOBS=N RERUN=1 SCHEDULER=slurm FORMAT=moodle|canvas
#                          for make class: docs/class.md
#   HANDOUT=DIR            for make handout (default: build/handout)
#   ONLY=PART              for make test: the part of that name
#   HIDDEN=FILE REVEAL=1   a private seed and more cases; print them: docs/class.md
# end instructor
#   ISOLATION=required|off  refuse to grade if a layer of isolation is missing; use none
#   KEY=FILE               for make grade, class and verify: the instructor's key, which signs results
#   NO_INSTALL=1           never install anything
#   V=1                    show the commands

# What people give is taken as it is, here and in recipes ("$$X"): a folder's name may look like a command.
GIVEN := SUBMISSION EX PHASE BACKEND CUCC_FRONTEND CASE SHAPE SEED FRESH ONLY TIMES STRICT OWN RESULTS HISTORY FORMAT OUTPUT \
         CLASS_RESULTS SUBMISSIONS OUT CLASS JOBS RERUN SCHEDULER HANDOUT HIDDEN REVEAL ISOLATION KEY NO_INSTALL \
         ALL ALLOW_UNSIGNED VISIBILITY PREFIX BLOCK WARP NAME EPOCHS FAST SIZES LADDER ROUNDS BATCHES \
         ARCH TEXT STEPS EVERY LAYERS HEADS CHANNELS CONTEXT BATCH LR DROPOUT RESUME CHECKPOINT PROMPT COUNT TEMPERATURE DEVICE DATA MEGABYTES LEFT
$(foreach v,$(GIVEN),$(if $(value $v),$(eval override $v := $$(value $v))$(eval export $v)))

BUILD      ?= build
SUBMISSION ?= .
RESULTS    ?= results/results.json
HISTORY    ?= $(dir $(RESULTS))history.jsonl
CLASS_RESULTS ?= $(wildcard $(dir $(RESULTS))class.json)

# Mistakes that would grade everything.
$(foreach goal,$(filter 1% 2% 3% 4% 5%,$(MAKECMDGOALS)),$(error $(goal) is no target: make grade EX=$(goal)))
$(foreach name,ex phase case seed submission backend,$(if $(filter command,$(firstword $(origin $(name)))), \
    $(error $(name)= is not known: write it in capitals)))

.DEFAULT_GOAL := help
ifndef V
.SILENT:
endif
WITHOUT_SETUP := help setup doctor gradescope data new skeletons reset book docs format clean
ifneq ($(filter-out $(WITHOUT_SETUP),$(or $(MAKECMDGOALS),help)),)
include $(BUILD)/config.mk
FIRST_BUILD := $(if $(wildcard $(BUILD)/grader),,yes)
$(if $(FIRST_BUILD),$(if $(filter 0,$(MAKELEVEL)$(MAKE_RESTARTS)),$(info building the grader, once: a few minutes)))
endif
export COURSE_ROOT  := $(CURDIR)
export COURSE_BUILD := $(abspath $(BUILD))
export SUBMISSION RESULTS EX PHASE CASE SEED

MAKEFLAGS := $(MAKEFLAGS) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS))$(filter-out 0,$(MAKELEVEL)),,-j$(shell nproc))
CFLAGS    ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(CFLAGS) -Wall -Wextra -Wno-format-truncation -D_GNU_SOURCE -MMD -MP \
             -Icommon

# --- what is built ----------------------------------------------------------------------------

-include emulator/emulator.mk

PHASES     := $(sort $(wildcard phase?_*))
COURSE_C   := $(wildcard common/*.c)
GRADER_ROOMS := base sandbox course build call correctness correctness/mistakes measure verdict views \
              student grade selftest
GRADER_C   := $(wildcard grader/*.c $(GRADER_ROOMS:%=grader/%/*.c) grader/exercises/*/cases.c \
              grader/exercises/shared/*.c grader/exercises/shared/*/*.c) $(SUPERVISOR_C)
WORKER_C   := $(wildcard grader/worker/*.c grader/exercises/*/worker.c)
TESTS_C    := $(wildcard tests/grader/*.c tests/common/*.c $(GRADER_ROOMS:%=tests/grader/%/test_*.c) \
              tests/grader/exercises/*.c tests/grader/worker/*.c)
CLASS_C    := $(wildcard grader/class/*.c grader/class/*/*.c)
CLASS_TESTS_C := $(wildcard tests/grader/made.c tests/grader/class/*.c tests/grader/class/*/*.c)

objects     = $(patsubst %.c,$(BUILD)/obj/$(1)/%.o,$(2))
COURSE_O   := $(call objects,course,$(COURSE_C))
GRADER_O   := $(call objects,grader,$(GRADER_C))
TESTS_O    := $(call objects,grader,$(TESTS_C))
CLASS_O    := $(call objects,grader,$(CLASS_C))
CLASS_TESTS_O := $(call objects,grader,$(CLASS_TESTS_C))

WORKERS    := cpu $(if $(CUCC_FRONTEND),softgpu) $(if $(CUDA_LIB),cuda)
# of Python: without CUDA, or with one of two
PYTHON_WORKERS := $(BUILD)/python_worker.so $(filter-out %_cpu.so,$(WORKERS:%=$(BUILD)/python_worker_%.so))
WORKER_KINDS := python $(WORKERS) $(patsubst %,python_%,$(filter-out cpu,$(WORKERS)))
PROGRAMS   := $(BUILD)/grader $(WORKERS:%=$(BUILD)/worker_%) $(PYTHON_WORKERS) $(BUILD)/python_driver.py $(BUILD)/python_cases.py \
              $(if $(CUCC_CLANG),$(BUILD)/precompiled/host.pch)

$(BUILD)/libcourse.so: $(COURSE_O)
	$(TELL_LINK)
	$(CC) $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^ -lz -lm

$(BUILD)/grader: $(GRADER_O) $(BUILD)/libcourse.so
	$(TELL_LINK)
	$(CC) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CHECK_LIBS) -ljansson -lcrypto -lz -lm -pthread -ldl

$(BUILD)/unit_tests: $(TESTS_O) $(filter-out %/main.o,$(GRADER_O)) $(BUILD)/libcourse.so
	$(TELL_LINK)
	$(CC) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CHECK_LIBS) -ljansson -lcrypto -lz -lm -pthread -ldl

# For instructors: with libarchive, which students need not have.
CLASS_LIBS := $(ARCHIVE_LIBS) $(CHECK_LIBS) -ljansson -lcrypto -lz -lm -pthread -ldl
$(BUILD)/class: $(CLASS_O) $(filter-out %/main.o,$(GRADER_O)) $(BUILD)/libcourse.so
$(BUILD)/class_tests: $(CLASS_TESTS_O) $(filter-out %/main.o,$(CLASS_O) $(GRADER_O)) $(BUILD)/libcourse.so | $(BUILD)/class
$(BUILD)/class $(BUILD)/class_tests:
	$(TELL_LINK)
	$(CC) $(LDFLAGS) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CLASS_LIBS)

# One source, three workers: the CPU alone, the software GPU, a real one.
$(BUILD)/worker_cpu: $(call objects,worker_cpu,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/worker_softgpu: $(call objects,worker_softgpu,$(WORKER_C)) $(BUILD)/libcourse.so \
                         $(BUILD)/remote/libsoftgpu.so | $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so
# A worker loads what a library may need that is linked by the C++ compiler: it sees no others.
$(BUILD)/worker_cpu: LIBS := -lgcc_s
$(BUILD)/worker_softgpu: LIBS := -lstdc++ -lgcc_s
$(BUILD)/worker_softgpu: RPATH := $$ORIGIN/remote:
$(BUILD)/worker_cuda: $(call objects,worker_cuda,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/worker_cuda: LIBS := -L'$(CUDA_LIB)' -Wl,-rpath,'$(CUDA_LIB)' -lcudart -lstdc++ -lgcc_s
$(WORKERS:%=$(BUILD)/worker_%):
	$(TELL_LINK)
	$(CC) $(LDFLAGS) -o $@ -Wl,-z,relro,-z,now -Wl,--dynamic-list=grader/worker/exports.list -Wl,--no-as-needed $^ -Wl,-rpath,'$(RPATH)$$ORIGIN' $(LIBS) -lffi -lm -pthread -ldl

# ... and the same three as libraries, which an interpreter of Python loads.
$(BUILD)/python_worker.so: $(call objects,worker_python,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/python_worker_softgpu.so: $(call objects,worker_python_softgpu,$(WORKER_C)) $(BUILD)/libcourse.so \
                                   $(BUILD)/remote/libsoftgpu.so | $(BUILD)/libsoftgpu.so
$(BUILD)/python_worker_softgpu.so: RPATH := $$ORIGIN/remote:
$(BUILD)/python_worker_cuda.so: $(call objects,worker_python_cuda,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/python_worker_cuda.so: LIBS := -L'$(CUDA_LIB)' -Wl,-rpath,'$(CUDA_LIB)' -lcudart
$(PYTHON_WORKERS):
	$(TELL_LINK)
	$(CC) $(LDFLAGS) -shared -Wl,-Bsymbolic -o $@ $^ -Wl,-rpath,'$(RPATH)$$ORIGIN' $(LIBS) -lffi -lm -pthread -ldl

$(BUILD)/python_driver.py: grader/worker/python_driver.py
	cp $< $@

# Half of the time that clang takes for a submission, once for all, with the options of
# grader/build/compiler.c. Without it that time is spent.
$(BUILD)/precompiled/host.pch: $(shell find emulator/cucc emulator/frontends emulator/include -type f) $(BUILD)/config.mk
	mkdir -p $(@D) && umask 022 && \
	    { CUCC_FRONTEND=clang emulator/cucc --precompile $(@D) -O3 -Xcompiler -fPIC,-Wall,-Wextra || touch $@; }

# The Python side of the cases, one file of them all.
$(BUILD)/python_cases.py: $(wildcard grader/exercises/*/worker.py)
	cat $^ > $@

FLAGS_course         := -fPIC -fno-semantic-interposition
FLAGS_grader         := -Igrader -Iemulator -Itests $(PHASES:%=-I%) -isystem emulator/include
FLAGS_worker_cpu     := -Igrader -Igrader/worker -Iemulator
FLAGS_worker_python  := $(FLAGS_worker_cpu) -fPIC -DWITH_PYTHON
FLAGS_worker_softgpu := $(FLAGS_worker_cpu) -DWITH_CUDA -DWITH_SOFTGPU -isystem emulator/include -isystem emulator/include/libraries
FLAGS_worker_cuda    := $(FLAGS_worker_cpu) -DWITH_CUDA -isystem '$(CUDA_INCLUDE)'
FLAGS_worker_python_softgpu := $(FLAGS_worker_softgpu) -fPIC -DWITH_PYTHON
FLAGS_worker_python_cuda    := $(FLAGS_worker_cuda) -fPIC -DWITH_PYTHON

# Of a first build, how far it is, " 17/412", on one line of the terminal (TELL: emulator.mk).
ALL_KINDS = python $(WORKERS) $(filter-out python_cpu,$(WORKERS:%=python_%))
ALL_O = $(sort $(COURSE_O) $(GRADER_O) $(foreach w,$(ALL_KINDS),$(call objects,worker_$(w),$(WORKER_C))) $(EMULATOR_O))
NTH   = $(if $(FIRST_BUILD),$(eval COMPILED_NOW += x) $(words $(COMPILED_NOW))/$(words $(ALL_O)))

# Objects lie in $(BUILD)/obj/KIND/, compiled with FLAGS_KIND.
define compile
$(BUILD)/obj/$(1)/%.o: %.c
	mkdir -p $$(@D); $$(call TELL,cc   $$<)
	$$(CC) $$(ALL_CFLAGS) $$(FLAGS_$(1)) -c $$< -o $$@
endef
$(foreach kind,course grader worker_cpu worker_python worker_softgpu worker_cuda worker_python_softgpu worker_python_cuda,$(eval $(call compile,$(kind))))

-include $(shell find $(BUILD)/obj $(BUILD)/compiled -name '*.d' 2>/dev/null)

# Objects are made again when their flags may have changed.
$(FUZZ_O) $(REPLAY_O) $(COURSE_O) $(GRADER_O) $(TESTS_O) $(CLASS_O) $(CLASS_TESTS_O) $(foreach w,$(WORKER_KINDS),$(call objects,worker_$(w),$(WORKER_C))): \
    $(BUILD)/config.mk

$(BUILD)/config.mk: tools/setup.sh
	tools/setup.sh "$(BUILD)"

ifneq ($(strip $(NVIDIA_DEVICES)),$(sort $(wildcard /dev/nvidia[0-9]* /dev/dxg)))
$(BUILD)/config.mk: FORCE
endif

-include tests/fuzz/grader/fuzz.mk

# --- what is compiled only to see that it compiles, and without a warning ----------------------

comma     := ,
SOLUTIONS := $(wildcard solutions/phase?_*/*/*.c solutions/phase?_*/*/*.cu)
PARTS     := $(wildcard $(foreach e,cuh py answers,solutions/phase?_*/*/*.$(e)))
SKELETONS := $(SOLUTIONS:solutions/%=$(BUILD)/skeletons/%)
PART_SKELETONS := $(PARTS:solutions/%=$(BUILD)/skeletons/%)
COMPILED  := $(SOLUTIONS) $(wildcard bench/*.cu)
COMPILED_O := $(patsubst %,$(BUILD)/compiled/%.o,$(if $(NVCC)$(CUCC_FRONTEND),$(COMPILED), \
                  $(filter %.c,$(COMPILED))))

$(SKELETONS) $(PART_SKELETONS): $(BUILD)/skeletons/%: solutions/% tools/skeleton.awk tools/skeletons.sh
	mkdir -p $(@D)
	tools/skeletons.sh --print $< >$@

# Of the solutions what only this compiles, the code for GPUs: make test has all of them built with -Wall -Wextra.
NVCC_FLAGS = $(if $(and $(NVCC),$(filter solutions/%,$<)),-fatbin,-c -Xcompiler -Wall$(comma)-Wextra) -Werror all-warnings
HOPPER     = -gencode arch=compute_90a,code=sm_90a # for files with code of its own
FOR_GPUS   = -gencode arch=compute_80,code=sm_80 $(if $(shell grep -l -e __CUDA_ARCH -e hopper.h -e wgmma $<),$(HOPPER))
QUICKLY    = $(if $(findstring --Ofast-compile,$(shell $(NVCC) --help)),--Ofast-compile=max)
NVCC_OR_CUCC = $(if $(NVCC),$(NVCC) -ccbin $(CXX) $(QUICKLY) $(FOR_GPUS),emulator/cucc) $(NVCC_FLAGS)

$(BUILD)/compiled/%.c.o: %.c
	mkdir -p $(@D) && echo 'cc   $<'
	$(CC) $(ALL_CFLAGS) -O3 -march=native -Werror $(PHASES:%=-I%) -c $< -o $@

$(BUILD)/compiled/%.cu.o: %.cu
	mkdir -p $(@D) && echo '$(if $(NVCC),nvcc,cucc) $<'
	$(NVCC_OR_CUCC) -O3 -MMD -MP -Icommon $(if $(filter bench/%,$<),-Isolutions/phase5_full_network/507_resnet18_optimized) $(PHASES:%=-I%) $< -o $@

# --- what can be asked for --------------------------------------------------------------------

.PHONY: help setup doctor all grade check numbers repeat run verify class phase1 phase2 phase3 phase4 phase5 hint watch progress next reset compare sanitize profile see data first mnist gpt gpt-program sample bench report gradescope update check-generated new mistakes handout corpus mutants \
        skeletons test tested quick quickly compiled book docs compile_commands.json format clean FORCE

GRADER      = "$(BUILD)/grader"
SIGN        = $(if $(KEY),--key "$$KEY")
KEEP        = --history "$${HISTORY-$$(dirname "$$RESULTS")/history.jsonl}"
GRADE_FLAGS = --submission "$$SUBMISSION" --backend "$$BACKEND" $(if $(EX),--exercise "$$EX") \
              $(if $(PHASE),--phase "$$PHASE") $(if $(CASE),--case "$$CASE") \
              $(if $(SEED),--seed "$$SEED") $(if $(FRESH),--fresh) $(if $(STRICT),--strict) \
              $(if $(OWN),--own) $(if $(filter 0,$(CHECKS)),--no-checks) $(HIDE)
HIDE        = $(if $(HIDDEN),--hidden "$$(realpath -m "$$HIDDEN")") $(if $(REVEAL),--reveal)

HELP = Makefile programs/programs.mk $(wildcard bench/bench.mk) emulator/emulator.mk
#group Student
help: ## show this list; ALL=1: with the variables, and the commands for instructors and developers
	awk -v all='$(if $(ALL),1)' -f tools/help.awk $(HELP)

setup: ## find the compilers and packages that the course needs; install missing ones
	tools/setup.sh "$(BUILD)"

doctor: ## show what this machine has and lacks, and the consequences
	tools/doctor.sh "$(BUILD)"

all: $(PROGRAMS) ## build the grader
	$(if $(FIRST_BUILD),[ ! -t 1 ] || printf '\r\033[K')

grade: all ## grade SUBMISSION (OUTPUT=DIR: write grades.tsv and tests.tsv there, too)
	$(GRADER) grade $(GRADE_FLAGS) $(if $(JOBS),--jobs "$$JOBS") $(KEEP) $(SIGN) --results "$$RESULTS"
	$(if $(OUTPUT),for table in grades tests; do \
	    $(GRADER) report --format $$table --results "$$RESULTS" --output "$$OUTPUT/$$table.tsv" || exit; done)

check: all ## grade EX (or one CASE of it) again, and leave RESULTS unchanged
	$(GRADER) grade $(GRADE_FLAGS) --fresh --results "$$COURSE_BUILD/check.json"

run: all ## call EX once and show its inputs and outputs, its time and what it prints (CASE, SHAPE)
	$(GRADER) run $(GRADE_FLAGS) $(if $(SHAPE),--shape "$$SHAPE")

#group Instructor
verify: all ## check that a grader of this course with KEY wrote RESULTS for SUBMISSION; ALLOW_UNSIGNED=1
	$(GRADER) verify $(SIGN) --results "$$RESULTS" $(if $(ALLOW_UNSIGNED),--allow-unsigned) \
	    $(if $(filter file,$(origin SUBMISSION)),,--submission "$$SUBMISSION")

#group Developer
repeat: all ## grade TIMES times from scratch, and compare the verdicts (OUTPUT: as TSV)
	tools/repeat_grading.sh "$${TIMES:-20}" $(GRADE_FLAGS)

#group Student
phase1 phase2 phase3 phase4 phase5: all ## build the exercises of one phase
	$(GRADER) build --submission "$$SUBMISSION" --phase $(@:phase%=%)

hint: all ## show the next hint: make hint EX=211
	$(GRADER) hint "$$EX"

numbers: all ## show the numbers in EX that are drawn for you
	$(GRADER) drawn $(GRADE_FLAGS)

watch: all ## grade an exercise whenever its file is saved, then go on to the next (EX, PHASE: only these; ALL=1)
	$(GRADER) watch $(GRADE_FLAGS) $(if $(ALL),--all) $(KEEP) --results "$$COURSE_BUILD/watch.json"

progress: all ## show a map of the course, the path first, with verdicts and points
	$(GRADER) progress $(GRADE_FLAGS) $(KEEP)

next: all ## show the next exercise on the path: page, file, lines to write; ALL=1: off the path, too
	$(GRADER) next $(GRADE_FLAGS) $(if $(ALL),--all) $(KEEP)

reset: ## start an exercise again: make reset EX=211 (your file is kept in results/backups)
	tools/reset.sh "$$EX"

#group See and measure
compare: all ## compare EX with your earlier gradings, the reference, the class and this device, with a plot
	tools/compare.sh $(KEEP) $(GRADE_FLAGS) $(if $(CLASS_RESULTS),--class "$${CLASS_RESULTS:-$$(dirname "$$RESULTS")/class.json}")

sanitize: all ## list all races, wild accesses and undefined reads in EX
	tools/sanitize_student.sh $(GRADE_FLAGS)

profile: all ## count what the kernels of EX do, and show the lines that cost most
	tools/profile.sh $(GRADE_FLAGS)

see: all ## draw what the kernels of EX do: lanes, banks, shared memory, time (CASE, BLOCK, WARP)
	$(GRADER) see $(GRADE_FLAGS) $(KEEP) $(if $(BLOCK),--block "$$BLOCK") $(if $(WARP),--warp "$$WARP") --results "$$RESULTS"

#group Student
data: ## fetch MNIST and Tiny Shakespeare into data
	tools/data.sh

include programs/programs.mk

#group See and measure
# instructor
include bench/bench.mk

ifeq ($(FORMAT),resnet18)
report: # of ResNet-18, FORMAT=resnet18: pictures and a page of OUTPUT/resnet18.tsv, which make bench wrote
	COURSE_ROOT="$(CURDIR)" tools/report_resnet18.sh "$(BENCH)"
else ifeq ($(FORMAT),course)
report: # of the whole course, FORMAT=course: docs/report.md, from the tables of docs/results
	tools/documents.sh docs/report.md
else
# end instructor
report: all ## write RESULTS as FORMAT=junit|gradescope|github|summary|csv|html|markdown|grades|tests, to OUTPUT=FILE
	$(GRADER) report --format "$$FORMAT" --results "$$RESULTS" $(if $(OUTPUT),--output "$$OUTPUT") \
	    $(if $(HISTORY),$(KEEP)) $(if $(VISIBILITY),--visibility "$$VISIBILITY")
# instructor
endif

#group Developer
# By clang, which takes half of the time, unless a compiler is asked for.
CORPUS_FRONTEND = $(if $(filter override,$(origin CUCC_FRONTEND)),"$$CUCC_FRONTEND",$(if $(CUCC_CLANG),clang,$(CUCC_FRONTEND)))
corpus: all ## grade the grader: wrong, slow and hostile submissions, JOBS at a time (EX: only these; SEED, FRESH)
	CUCC_FRONTEND=$(CORPUS_FRONTEND) $(GRADER) corpus $(if $(FRESH),--fresh) --backend "$$BACKEND" $(if $(EX),--exercise "$$EX") $(if $(JOBS),--jobs "$$JOBS") $(if $(SEED),--seed "$$SEED")

mutants: all ## put mistakes into the solution of EX and list those that its cases miss (COUNT, SEED, OUTPUT; LEFT=1: new ones)
	CUCC_FRONTEND=$(CORPUS_FRONTEND) tools/mutants/mutants.sh "$$EX"

#group Instructor
gradescope: ## write build/gradescope.zip, an autograder to upload, from the last commit
	tools/gradescope/zip.sh "$(BUILD)/gradescope.zip"

#group Developer
update: all ## write the generated files: skeletons, and the tables of README, docs and pages
	tools/skeletons.sh
	tools/documents.sh

check-generated: all ## fail if make update has something to write
	tools/skeletons.sh --check; skeletons=$$?; tools/documents.sh --check && exit $$skeletons

mistakes: all ## count the cost of slow submissions: docs/results/softgpu/mistakes.tsv
	tools/mistakes.sh >"$(BUILD)/mistakes.tsv" && cp "$(BUILD)/mistakes.tsv" docs/results/softgpu/mistakes.tsv

new: ## lay out a new exercise: make new EX=316 NAME=rope PHASE=3
	tools/new.sh

#group Instructor
handout: all ## write the course without solutions, for students, to HANDOUT and HANDOUT.tar.gz
	HANDOUT="$${HANDOUT:-$(BUILD)/handout}"; tools/handout.sh "$$HANDOUT"

#group Developer
skeletons: ## write phase*/ anew from solutions/, except files that somebody has changed
	tools/skeletons.sh

ifeq ($(ARCHIVE_LIBS),)
class:
	tools/setup.sh --archive "$(BUILD)"
	MAKEFLAGS= $(MAKE) --no-print-directory -j$(shell nproc) class # reads config.mk again; jobs of its own
else
CLASS_GPUS = $${CUDA_VISIBLE_DEVICES:-$$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -s -d , -)}
#group Instructor
class: all $(BUILD)/class ## grade every folder, zip and tarball in SUBMISSIONS: gradebook, feedback and page in OUT
	"$(BUILD)/class" --submissions "$(if $(SUBMISSIONS),$$SUBMISSIONS,$(error make class SUBMISSIONS=DIR))" \
	    --out "$${OUT:-results/class}" $(if $(CLASS),--settings "$$CLASS") \
	    $(if $(JOBS),--jobs "$$JOBS") $(if $(filter cuda,$(BACKEND)),--gpus "$(CLASS_GPUS)") \
	    $(if $(FORMAT),--format "$$FORMAT") $(if $(RERUN),--rerun) $(if $(SCHEDULER),--scheduler "$$SCHEDULER") -- \
	    $(GRADER) grade --backend "$$BACKEND" $(SIGN) $(HIDE) $(if $(EX),--exercise "$$EX") $(if $(PHASE),--phase "$$PHASE")
endif

#group Developer
test: ## run all tests; the last line counts them. FAST=1: skip parts that passed with the same files
	tools/setup.sh --tests "$(BUILD)"
	$(MAKE) tested

tested: all $(BUILD)/unit_tests $(if $(ARCHIVE_LIBS),$(BUILD)/class $(BUILD)/class_tests) $(BUILD)/test_device $(BUILD)/remote/test_device $(SKELETONS) $(PART_SKELETONS)
	tests/all.sh

quick: ## run the tests that take seconds, and those of exercises that changed since the last commit
	tools/setup.sh --tests "$(BUILD)"
	$(MAKE) quickly

quickly: all $(BUILD)/unit_tests
	tests/all.sh quick

compiled: $(COMPILED_O) ## compile every solution and benchmark for sm_80, and Hopper code for sm_90a
# end instructor
#handout test:
#handout 	echo 'The tests of the course are not handed out. make grade tests your work.'

#group See and measure
book: ## turn the pages into a book for the browser, with RESULTS, in OUTPUT (default: build/book)
	tools/book.sh "$(BUILD)" $(if $(OUTPUT),"$$OUTPUT")

#group Developer
docs: ## turn the headers of grader and emulator into pages with Doxygen, in $(BUILD)/docs
	tools/setup.sh --need doxygen doxygen
	mkdir -p $(BUILD) && doxygen docs/Doxyfile

# What clangd is to see of a phase's files, kernels included: nvcc's own options mean nothing to it.
EDITOR_FLAGS = -Wall -Wextra -Icommon $(PHASES:%=-I%)
EDITOR_CUDA  = -x cuda --cuda-host-only --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_80 \
               -Xclang -target-sdk-version=11.5 -isystem emulator/include \
               -isystem emulator/include/libraries -include cuda_runtime.h -std=gnu++17

compile_commands.json: FORCE ## write this file for editors (clangd: docs/working.md) and clang tools
	{ MAKEFLAGS= $(MAKE) -Bn -o $(BUILD)/config.mk BUILD=$(BUILD) all; \
	    printf 'cc -std=gnu11 $(EDITOR_FLAGS) -c %s\n' $(wildcard $(PHASES:%=%/*/*.c)); \
	    printf 'clang++ $(EDITOR_CUDA) $(EDITOR_FLAGS) -c %s\n' $(wildcard $(PHASES:%=%/*/*.cu)); } | \
	    tools/compile_commands.awk >$@

format: ## run clang-format over all C and CUDA
	git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format -i

#group Student
clean: ## remove the build folder (downloads stay)
	find $(BUILD) -mindepth 1 -maxdepth 1 ! -name cuda ! -name sphinx -exec rm -rf {} +
