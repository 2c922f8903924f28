# The course's Makefile: rules. `make help` lists the targets. tools/setup.sh finds (or installs)
# compilers and libraries and says in $(BUILD)/config.mk what they are.
#
#   SUBMISSION=DIR         the folder that holds phase1_cpu ... (default: this one)
#   EX="206 211" PHASE=2   only these exercises, only this phase
#   BACKEND=cpu|cuda       the software GPU or a real one (default: what the machine has)
#   CUCC_FRONTEND=nvcc|clang  what compiles for the software GPU (default: nvcc where there is one;
#                          of make corpus: clang where there is one)
#   CASE=NAME SEED=N       one case again, with the same numbers
#   SHAPE=5x700            of make run
#   FRESH=1                grade again what has not changed
#   COURSE_CACHE=DIR       where compiled objects are kept, 2 GiB at most (default: ~/.cache/cuda-course)
#   TIMES=20               gradings of make repeat
#   STRICT=1               fail unless all points are reached
#   CHECKS=0               on a GPU: do not look for races and the like on softgpu too
#   OWN=1                  link exercises with your own earlier ones, whatever their verdict
#   RESULTS=FILE           where the results go (default: results/results.json)
#   HISTORY=FILE           where every verdict is kept (default: history.jsonl beside RESULTS)
#   FORMAT=html OUTPUT=FILE  of a report
#   PREFIX=DIR             of make install: softgpu alone, without the course (default: /usr/local)
#   BLOCK=0,0,0 WARP=0     of make see
#   TEXT=FILE STEPS=N EVERY=N LAYERS=N HEADS=N CHANNELS=N CONTEXT=N BATCH=N LR=X RESUME=1
#                          of make gpt: build/gpt --help
#   CHECKPOINT=FILE PROMPT=TEXT COUNT=N TEMPERATURE=X  of make sample (CHECKPOINT: of both)
#   DATA=FILE MEGABYTES=N  of make train_from_nvme: a file on the drive, written and removed
#   DEVICE=cpu|gpu|N       of make cuda_demo, gpt and sample (default: the best one)
# instructor
#   LADDER=matmul SIZES="128 256"  of make bench: the matrix products alone, of these sizes
#   LADDER=mnist SIZES="6000 512"  an epoch of so many images and a product, from Python to one kernel
#   LADDER=gpt2 SIZES=tiny a training step of GPT-2 124M; tiny: of a network that softgpu can train
#   CLASS_RESULTS=FILE     class.json of make class, for make compare (default: beside RESULTS)
#   SUBMISSIONS=DIR OUT=DIR CLASS=FILE JOBS=N RERUN=1 SCHEDULER=slurm FORMAT=moodle|canvas
#                          of make class: docs/class.md
#   HANDOUT=DIR            of make handout (default: build/handout)
#   HIDDEN=FILE REVEAL=1   a private seed and more cases; show them: docs/class.md
# end instructor
#   ISOLATION=required|off  refuse to grade with a layer of isolation missing; do without
#   KEY=FILE               of make grade, class and verify: the instructor's, which signs results
#   NO_INSTALL=1           never install anything
#   V=1                    show the commands

# What people give is taken as it is, here and in recipes ("$$X"): a folder's name may look like a command.
GIVEN := SUBMISSION EX PHASE BACKEND CUCC_FRONTEND CASE SHAPE SEED FRESH TIMES STRICT OWN RESULTS HISTORY FORMAT OUTPUT \
         CLASS_RESULTS SUBMISSIONS OUT CLASS JOBS RERUN SCHEDULER HANDOUT HIDDEN REVEAL ISOLATION KEY NO_INSTALL \
         ALLOW_UNSIGNED VISIBILITY PREFIX BLOCK WARP NAME EPOCHS FAST SIZES LADDER ROUNDS BATCHES \
         TEXT STEPS EVERY LAYERS HEADS CHANNELS CONTEXT BATCH LR RESUME CHECKPOINT PROMPT COUNT TEMPERATURE DEVICE DATA MEGABYTES
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
$(if $(FIRST_BUILD),$(if $(filter 0,$(MAKELEVEL)$(MAKE_RESTARTS)),$(info building the grader, once: about two minutes of one core)))
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
              grader/exercises/shared/*.c grader/exercises/shared/*/*.c) emulator/remote/link.c emulator/runtime/core/finding.c
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
# of Python: without CUDA, or with one of two
PYTHON_WORKERS := $(BUILD)/python_worker.so $(filter-out %_cpu.so,$(WORKERS:%=$(BUILD)/python_worker_%.so))
WORKER_KINDS := python $(WORKERS) $(patsubst %,python_%,$(filter-out cpu,$(WORKERS)))
PROGRAMS   := $(BUILD)/grader $(WORKERS:%=$(BUILD)/worker_%) $(PYTHON_WORKERS) $(BUILD)/python_driver.py $(BUILD)/python_cases.py

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
                         $(BUILD)/remote/libsoftgpu.so | $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so
# A worker loads what a library may need that is linked by the C++ compiler: it sees no others.
$(BUILD)/worker_cpu: LIBS := -lgcc_s
$(BUILD)/worker_softgpu: LIBS := -lstdc++ -lgcc_s
$(BUILD)/worker_softgpu: RPATH := $$ORIGIN/remote:
$(BUILD)/worker_cuda: $(call objects,worker_cuda,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/worker_cuda: LIBS := -L'$(CUDA_LIB)' -Wl,-rpath,'$(CUDA_LIB)' -lcudart -lstdc++ -lgcc_s
$(WORKERS:%=$(BUILD)/worker_%):
	echo 'link $@'
	$(CC) $(LDFLAGS) -o $@ -Wl,--dynamic-list=grader/worker/exports.list -Wl,--no-as-needed $^ -Wl,-rpath,'$(RPATH)$$ORIGIN' $(LIBS) -lffi -lm -pthread -ldl

# ... and the same three as libraries, which an interpreter of Python loads.
$(BUILD)/python_worker.so: $(call objects,worker_python,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/python_worker_softgpu.so: $(call objects,worker_python_softgpu,$(WORKER_C)) $(BUILD)/libcourse.so \
                                   $(BUILD)/remote/libsoftgpu.so | $(BUILD)/libsoftgpu.so
$(BUILD)/python_worker_softgpu.so: RPATH := $$ORIGIN/remote:
$(BUILD)/python_worker_cuda.so: $(call objects,worker_python_cuda,$(WORKER_C)) $(BUILD)/libcourse.so
$(BUILD)/python_worker_cuda.so: LIBS := -L'$(CUDA_LIB)' -Wl,-rpath,'$(CUDA_LIB)' -lcudart
$(PYTHON_WORKERS):
	echo 'link $@'
	$(CC) $(LDFLAGS) -shared -Wl,-Bsymbolic -o $@ $^ -Wl,-rpath,'$(RPATH)$$ORIGIN' $(LIBS) -lffi -lm -pthread -ldl

$(BUILD)/python_driver.py: grader/worker/python_driver.py
	cp $< $@

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

# Of a first build, how far it is: " 17/412".
ALL_KINDS = python $(WORKERS) $(filter-out python_cpu,$(WORKERS:%=python_%))
ALL_O = $(sort $(COURSE_O) $(GRADER_O) $(foreach w,$(ALL_KINDS),$(call objects,worker_$(w),$(WORKER_C))) $(EMULATOR_O))
NTH   = $(if $(FIRST_BUILD),$(eval COMPILED_NOW += x) $(words $(COMPILED_NOW))/$(words $(ALL_O)))

# Objects lie in $(BUILD)/obj/KIND/, compiled with FLAGS_KIND.
define compile
$(BUILD)/obj/$(1)/%.o: %.c
	mkdir -p $$(@D) && echo 'cc   $$<$$(NTH)'
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
COMPILED  := $(SOLUTIONS) \
             $(wildcard grader/exercises/*/baseline.c*) \
             $(wildcard bench/*.cu)
COMPILED_O := $(patsubst %,$(BUILD)/compiled/%.o,$(if $(NVCC)$(CUCC_FRONTEND),$(COMPILED), \
                  $(filter %.c,$(COMPILED))))

$(SKELETONS) $(PART_SKELETONS): $(BUILD)/skeletons/%: solutions/% tools/skeleton.awk tools/skeletons.sh
	mkdir -p $(@D)
	tools/skeletons.sh --print $< >$@

NVCC_FLAGS = -c -Xcompiler -Wall$(comma)-Wextra -Werror all-warnings
TWO_GPUS   = -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a
PTX_ALONE  = -gencode arch=compute_80,code=compute_80
QUICKLY    = $(if $(findstring --Ofast-compile,$(shell $(NVCC) --help)),--Ofast-compile=max)
NVCC_OR_CUCC = $(if $(NVCC),$(NVCC) -ccbin $(CXX) $(QUICKLY) $(if $(filter solutions/% bench/%,$<),$(TWO_GPUS),$(PTX_ALONE)),emulator/cucc) $(NVCC_FLAGS)

$(BUILD)/compiled/%.c.o: %.c
	mkdir -p $(@D) && echo 'cc   $<'
	$(CC) $(ALL_CFLAGS) -O3 -march=native -Werror $(PHASES:%=-I%) -c $< -o $@

$(BUILD)/compiled/%.cu.o: %.cu
	mkdir -p $(@D) && echo '$(if $(NVCC),nvcc,cucc) $<'
	$(NVCC_OR_CUCC) -O3 -MMD -MP -Icommon $(if $(filter bench/%,$<),-Isolutions/phase5_full_network/507_resnet18_optimized) $(PHASES:%=-I%) $< -o $@

# --- what can be asked for --------------------------------------------------------------------

.PHONY: help setup doctor all grade check numbers repeat run verify class phase1 phase2 phase3 phase4 phase5 hint watch progress next reset compare sanitize profile see data first mnist gpt gpt-program sample bench report gradescope update check-generated new mistakes handout corpus \
        skeletons test tested quick quickly compiled book docs compile_commands.json format clean FORCE

GRADER      = "$(BUILD)/grader"
SIGN        = $(if $(KEY),--key "$$KEY")
KEEP        = --history "$${HISTORY-$$(dirname "$$RESULTS")/history.jsonl}"
GRADE_FLAGS = --submission "$$SUBMISSION" --backend "$$BACKEND" $(if $(EX),--exercise "$$EX") \
              $(if $(PHASE),--phase "$$PHASE") $(if $(CASE),--case "$$CASE") \
              $(if $(SEED),--seed "$$SEED") $(if $(FRESH),--fresh) $(if $(STRICT),--strict) \
              $(if $(OWN),--own) $(if $(filter 0,$(CHECKS)),--no-checks) $(HIDE)
HIDE        = $(if $(HIDDEN),--hidden "$$(realpath -m "$$HIDDEN")") $(if $(REVEAL),--reveal)

help: ## this list
	echo 'usage: make TARGET [NAME=VALUE ...]'; echo
	sed -n 's/^\([a-z][-a-z0-9_. ]*\):.*## /  \1\t/p' Makefile emulator/emulator.mk | sed 's/phase1.*phase5/phase1 .. phase5/' | expand -t 26; echo
	sed -n 's/^#   \([A-Z_]*=.*\)/  \1/p' Makefile

setup: ## find what the course needs, install what is missing
	tools/setup.sh "$(BUILD)"

doctor: ## what this machine has and lacks, and what follows
	tools/doctor.sh "$(BUILD)"

all: $(PROGRAMS) ## build the grader

grade: all ## grade SUBMISSION (OUTPUT=DIR: its numbers too, as grades.tsv and tests.tsv)
	$(GRADER) grade $(GRADE_FLAGS) $(KEEP) $(SIGN) --results "$$RESULTS"
	$(if $(OUTPUT),for table in grades tests; do \
	    $(GRADER) report --format $$table --results "$$RESULTS" --output "$$OUTPUT/$$table.tsv" || exit; done)

check: all ## grade EX (or one CASE of it) once more, and leave RESULTS as they are
	$(GRADER) grade $(GRADE_FLAGS) --fresh --results "$$COURSE_BUILD/check.json"

run: all ## call EX once and show it: what goes in and comes out, its time, what it prints (CASE, SHAPE)
	$(GRADER) run $(GRADE_FLAGS) $(if $(SHAPE),--shape "$$SHAPE")

verify: all ## are RESULTS what a grader wrote (KEY), of SUBMISSION, by this course? ALLOW_UNSIGNED=1
	$(GRADER) verify $(SIGN) --results "$$RESULTS" $(if $(ALLOW_UNSIGNED),--allow-unsigned) \
	    $(if $(filter file,$(origin SUBMISSION)),,--submission "$$SUBMISSION")

repeat: all ## grade TIMES times afresh: does every grading come to the same verdicts? (OUTPUT: as TSV)
	tools/repeat_grading.sh "$${TIMES:-20}" $(GRADE_FLAGS)

phase1 phase2 phase3 phase4 phase5: all ## build the exercises of one phase
	$(GRADER) build --submission "$$SUBMISSION" --phase $(@:phase%=%)

hint: all ## the next hint: make hint EX=211
	$(GRADER) hint "$$EX"

numbers: all ## the numbers of EX that are drawn for you
	$(GRADER) drawn $(GRADE_FLAGS)

watch: all ## grade an exercise whenever its file is saved, and go on to the next (EX, PHASE: only these)
	$(GRADER) watch $(GRADE_FLAGS) $(KEEP) --results "$$COURSE_BUILD/watch.json"

progress: all ## a map of the course: what is done, what is open, how many points
	$(GRADER) progress $(GRADE_FLAGS) $(KEEP)

next: all ## the next exercise: its page, its file, about how many lines
	$(GRADER) next $(GRADE_FLAGS) $(KEEP)

reset: ## hand an exercise out again: make reset EX=211 (keeps your file in results/backups)
	tools/reset.sh "$$EX"

compare: all ## EX against your earlier gradings, the reference, the class and this device, with a plot
	tools/compare.sh $(KEEP) $(GRADE_FLAGS) $(if $(CLASS_RESULTS),--class "$${CLASS_RESULTS:-$$(dirname "$$RESULTS")/class.json}")

sanitize: all ## look for races, wild accesses and undefined reads in EX, and list them all
	tools/sanitize_student.sh $(GRADE_FLAGS)

profile: all ## what the kernels of EX do, counted, and which lines cost most
	tools/profile.sh $(GRADE_FLAGS)

see: all ## pictures of what the kernels of EX do: lanes, banks, shared memory, time (CASE, BLOCK, WARP)
	$(GRADER) see $(GRADE_FLAGS) $(if $(BLOCK),--block "$$BLOCK") $(if $(WARP),--warp "$$WARP") --results "$$RESULTS"

data: ## fetch MNIST and Tiny Shakespeare into data
	tools/data.sh

CUDA_CC = $(if $(filter cuda,$(BACKEND)),$(NVCC) -arch=sm_$(GPU_ARCH),emulator/cucc)
CUDA_CC_FLAGS = -O3 -Icommon $(PHASES:%=-I%) -L"$(BUILD)" -lcourse -Xlinker -rpath='$$ORIGIN'

# What they call and the student has not solved is the course's, as in make grade.
NEEDS = $(GRADER) needs --submission "$$SUBMISSION" --backend "$$BACKEND" $(KEEP)

first: ## run the whole program of phase2_cuda_basics/200_a_whole_program/README.md
	mkdir -p "$(BUILD)"
	$(CUDA_CC) programs/first/first.cu -o "$(BUILD)/first"
	"$(BUILD)/first"

mnist: all ## train the network of exercise 501: EPOCHS=5 SEED=1; FAST=1: by 502
	$(MAKE) mnist-program NEEDED="$$($(NEEDS) '501 502')"
	"$(BUILD)/mnist" $${EPOCHS:-5} $${SEED:-1} $(if $(FAST),fast)

mnist-program:
	$(CUDA_CC) $(patsubst phase%,"$$SUBMISSION"/phase%,$(NEEDED)) programs/mnist/main.c $(CUDA_CC_FLAGS) -o "$(BUILD)/mnist"

# What was given of these, as options of the program.
gpt_options = $(foreach o,$(1),$(if $($(o)),--$(shell echo $(o) | tr A-Z a-z) "$$$(o)"))

gpt: all ## train the GPT of exercises 508 and 509 on TEXT (default: Tiny Shakespeare); STEPS, RESUME=1, DEVICE; FAST=1: by 510
	$(MAKE) gpt-program
	mkdir -p results
	"$(BUILD)/gpt" train --curve results/gpt.tsv $(if $(RESUME),--resume) $(if $(FAST),--fast) $(call gpt_options,$(GPT_OF_BOTH) TEXT STEPS EVERY LAYERS HEADS CHANNELS CONTEXT BATCH LR)
	if command -v gnuplot >/dev/null; then gnuplot -e "table='results/gpt.tsv'" programs/gpt/loss.gp; fi

sample: all ## text from the network that make gpt left in CHECKPOINT: PROMPT, COUNT, TEMPERATURE
	$(MAKE) gpt-program
	"$(BUILD)/gpt" sample $(call gpt_options,$(GPT_OF_BOTH))

GPT_OF_BOTH = DEVICE CHECKPOINT PROMPT COUNT TEMPERATURE SEED

gpt-program:
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/gpt NEEDED="$$($(NEEDS) '508 509$(if $(wildcard programs/gpt/cpu_network.c), 108 109 111)$(if $(FAST), 510)')"

STUDY = $${OUTPUT:-results}
study: all ## what bounds the autoencoder of 511: study.tsv, study.txt and a picture in OUTPUT (BATCHES="32 512")
	$(MAKE) study-program NEEDED="$$($(NEEDS) 511)"
	BACKEND="$(BACKEND)" programs/study/study.sh "$(STUDY)" $$BATCHES

study-program:
	$(CUDA_CC) $(patsubst phase%,"$$SUBMISSION"/phase%,$(NEEDED)) programs/study/main.c -Iemulator $(CUDA_CC_FLAGS) -lm -o "$(BUILD)/study"

cuda_nn: all ## SUBMISSION's exercises in Python, with its kernels, as a package in build/cuda_nn
	$(MAKE) package PACKAGE=$@ NEEDED="$$($(NEEDS) "216 503")"

optimized_ops: all ## SUBMISSION's kernels as operations of PyTorch, as a package in build/optimized_ops; its C interface too
	$(MAKE) package PACKAGE=$@ NEEDED="$$($(NEEDS) 512)"

# Whole in its folder: the libraries that the kernels' own asks for lie beside it.
IN_PACKAGE = $(BUILD)/$(PACKAGE)
package:
	rm -rf "$(IN_PACKAGE)" && mkdir "$(IN_PACKAGE)"
	$(CUDA_CC) -shared -Xcompiler -fPIC $(if $(filter cuda,$(BACKEND)),-cudart shared) \
	    $(patsubst prebuilt/%,"$(CURDIR)"/prebuilt/%,$(patsubst phase%,"$$SUBMISSION"/phase%,$(filter-out %.py,$(NEEDED)))) \
	    $(wildcard python/$(PACKAGE)/*.cu) $(CUDA_CC_FLAGS) -o "$(IN_PACKAGE)/lib$(PACKAGE).so"
	for file in $(patsubst phase%,"$$SUBMISSION"/phase%,$(filter %.py,$(NEEDED))); do \
	    name=$${file##*/} && cp "$$file" "$(IN_PACKAGE)/$${name#*_}"; done
	cp "$(BUILD)/libcourse.so" $(if $(filter cuda,$(BACKEND)),,"$(BUILD)/libsoftgpu.so") $(wildcard python/$(PACKAGE)/*.py python/$(PACKAGE)/*.h) "$(IN_PACKAGE)"

# The program of five ResNet-18s, from programs/resnet18 and SUBMISSION's exercises. The linker puts wrapped.c
# between the networks and what they call.
RESNET18_MAIN = $(wildcard programs/resnet18/*.c)
PROGRAM_O = $(patsubst %,$(BUILD)/program/$(BACKEND)/%.o,$(patsubst phase%,$(patsubst ./%,%,$(SUBMISSION)/phase%),$(filter-out %.so,$(NEEDED))) $(1))
WRAPPED = $(shell sed -n 's|^WRAP[^a-z]\([A-Za-z0-9_]*\),.*|\1|p' programs/resnet18/wrapped.c)

$(BUILD)/program/$(BACKEND)/%.c.o: %.c
	mkdir -p $(@D) && echo 'cc   $<'
	$(CC) $(ALL_CFLAGS) -O3 -march=native $(PHASES:%=-I%) \
	    $(FLAGS_worker_$(if $(filter cuda,$(BACKEND)),cuda,softgpu)) \
	    $(if $(filter %/layerwise.c,$(RESNET18_MAIN)),,-DWITHOUT_LAYERWISE) \
	    $(if $(wildcard programs/gpt/cpu_network.c),,-DWITHOUT_CPU_NETWORK) -c $< -o $@

$(BUILD)/program/$(BACKEND)/%.cu.o: %.cu
	mkdir -p $(@D) && echo '$(firstword $(notdir $(CUDA_CC))) $<'
	$(CUDA_CC) -O3 -MMD -MP -Icommon $(PHASES:%=-I%) -c $< -o $@

-include $(if $(NEEDED),$(shell find $(BUILD)/program -name '*.d' 2>/dev/null))

.PHONY: $(BUILD)/gpt cuda_nn optimized_ops package mnist-program study study-program resnet18 $(BUILD)/resnet18 cuda_demo $(BUILD)/cuda_demo train_from_nvme $(BUILD)/train_from_nvme validate $(BUILD)/bench_validate bench-matmul bench-stages bench-launch bench-layers bench-resnet18 bench-gpt2
REFUSE_ODD_NAME = case $$SUBMISSION in *[!a-zA-Z0-9_./-]*) echo 'make $@: the name of SUBMISSION is too odd for it'; exit 2 ;; esac

resnet18: all ## the program that times five ResNet-18s: build/resnet18 --help
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/resnet18 NEEDED="$$($(NEEDS) '306 504 505 506 507')"

$(BUILD)/resnet18: $(call PROGRAM_O,$(RESNET18_MAIN))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(WRAPPED:%=-Xlinker --wrap=%) $(CUDA_CC_FLAGS) -lm -o $@

# One library with two backends, programs/backend, and what shows it.
cuda_demo: all ## DEVICE=cpu|gpu|N: what it has, computes, refuses, and how fast it is beside the CPU
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/cuda_demo NEEDED="$$($(NEEDS) '102 103 107 202 204 205 208 213 408')"
	"$(BUILD)/cuda_demo" $(if $(DEVICE),--device "$$DEVICE")

$(BUILD)/cuda_demo: $(call PROGRAM_O,$(wildcard programs/backend/*.c programs/backend/*.cu programs/cuda_demo/*.c))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(CUDA_CC_FLAGS) -lcublas -lm -o $@

$(BUILD)/gpt: $(call PROGRAM_O,$(wildcard programs/gpt/*.c) $(if $(FAST),programs/gpt/fast/fast.c))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(if $(FAST),-Xlinker --wrap=adam_update_groups) $(CUDA_CC_FLAGS) -lm -o $@

# From a file to a trained network, by io_uring and cuFile too, where they are.
URING  = $(if $(shell $(CC) -E -include liburing.h -x c /dev/null >/dev/null 2>&1 && echo yes),-DWITH_URING -luring)
CUFILE = $(if $(filter cuda,$(BACKEND)),$(if $(wildcard $(CUDA_INCLUDE)/cufile.h),-DWITH_CUFILE -lcufile))
train_from_nvme: all ## train 501 from a file, DATA: bytes per second from the drive through memory to the device
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/train_from_nvme NEEDED="$$($(NEEDS) '208 414 501')"
	mkdir -p results
	"$(BUILD)/train_from_nvme" "$${DATA:-results/train_from_nvme.data}" "$${MEGABYTES:-$(if $(filter cuda,$(BACKEND)),1000,10)}"

$(BUILD)/train_from_nvme: ALL_CFLAGS += $(filter -D%,$(URING) $(CUFILE))
$(BUILD)/train_from_nvme: $(call PROGRAM_O,$(wildcard programs/train_from_nvme/*.c))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(CUDA_CC_FLAGS) $(filter -l%,$(URING) $(CUFILE)) -lm -o $@

# instructor
BENCH = $${OUTPUT:-results}
bench: ## matrix products, launches, ResNet-18 and GPT-2, beside cuBLAS and PyTorch, as TSV in OUTPUT (default: results)
	$(if $(filter-out matmul mnist gpt2,$(LADDER)),$(error LADDER is matmul, mnist, gpt2, or nothing))
	$(if $(filter mnist gpt2,$(LADDER)),,$(MAKE) bench-matmul)
	$(if $(filter matmul gpt2,$(LADDER)),,$(MAKE) bench-stages $(if $(LADDER),,SIZES=))
	$(if $(filter matmul mnist,$(LADDER)),,$(MAKE) bench-gpt2 $(if $(LADDER),,SIZES=$(if $(filter cuda,$(BACKEND)),,tiny)))
	$(if $(LADDER),,$(MAKE) bench-launch)
	$(if $(LADDER),,$(MAKE) bench-resnet18)

bench-resnet18:
	$(MAKE) resnet18 SUBMISSION=solutions
	bench/resnet18.sh "$(BENCH)"
	$(if $(filter cuda,$(BACKEND)),$(MAKE) bench-layers BATCHES="--rule 1 8 64")

RUNGS_C   = $(wildcard solutions/phase1_cpu/*_matmul_*/*.c)
LADDER_C  = bench/matmul.c grader/course/tensor_cores.c grader/exercises/106_matmul_cpu_vectorized/baseline.c \
            $(RUNGS_C) solutions/phase1_cpu/108_gemm_cpu/108_gemm_cpu.c
LADDER_CU = bench/matmul_gpu.cu grader/exercises/206_matmul_naive/baseline.cu $(wildcard solutions/phase?_*/*_matmul_*/*.cu)
LADDER_FLAGS = -O3 -Igrader -Iemulator -Icommon $(PHASES:%=-I%) -L"$(BUILD)" -lcourse -lm

# wgmma is a part of sm_90a, not of sm_90.
bench-matmul: all
	mkdir -p "$(BENCH)"
	blas=$$(tools/setup.sh --bench) && $(if $(filter cuda,$(BACKEND)), \
	    $(CUDA_CC:sm_90=sm_90a) -Xcompiler -march=native -DWITH_GPU $(LADDER_C) $(LADDER_CU) $(LADDER_FLAGS) -Xlinker -rpath='$$ORIGIN' -lcublas, \
	    $(CC) -march=native -Wall -Wextra $(LADDER_C) $(LADDER_FLAGS) -Wl$(comma)-rpath='$$ORIGIN' -pthread) \
	    $$blas -o "$(BUILD)/bench_matmul"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    COURSE_CPU=$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) \
	    "$(BUILD)/bench_matmul" $${SIZES:-128 256 512 1024 2048 4096 8192} >"$(BENCH)/matmul.tsv.new"
	mv "$(BENCH)/matmul.tsv.new" "$(BENCH)/matmul.tsv"
	cat "$(BENCH)/matmul.tsv"
	if command -v gnuplot >/dev/null; then gnuplot -e "folder='$(BENCH)'" bench/matmul.gp; fi

# An epoch and a product, stage by stage, with every function from the exercise that has it.
STAGES     = 103 104 106 107 109 111 112 206 208 209 211 212 301 302 303 305 314 404 501 502
STAGES_SRC = $(foreach e,$(STAGES),$(wildcard solutions/phase?_*/$(e)_*/*.c solutions/phase?_*/$(e)_*/*.cu))

bench-stages: all
	mkdir -p "$(BENCH)"
	tools/setup.sh --bench >/dev/null
	$(MAKE) cuda_nn SUBMISSION=solutions
	$(CUDA_CC) -Xcompiler -march=native bench/stages.c bench/stages_gpu.cu $(STAGES_SRC) $(CUDA_CC_FLAGS) -lm -o "$(BUILD)/bench_stages"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    COURSE_CPU=$$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) \
	    "$(BUILD)/bench_stages" $$SIZES >"$(BENCH)/stages.tsv.new"
	mv "$(BENCH)/stages.tsv.new" "$(BENCH)/stages.tsv"
	cat "$(BENCH)/stages.tsv"

# Objects of their own, so that a second time only what has changed is compiled.
VALIDATE_SRC = $(foreach e,206 214 2a 313 402 404 405 409 410 412 413 4b 4c,$(wildcard solutions/phase?_*/$(e)_*/*.cu)) \
               $(foreach e,304 311 404 410 412 4a,$(wildcard grader/exercises/$(e)_*/baseline.cu))
VALIDATE_CU  = $(VALIDATE_SRC)
VALIDATE_O   = $(patsubst %,$(BUILD)/program/$(BACKEND)/%.o,bench/validate.c bench/validate_operations.c $(VALIDATE_CU)) \
               $(call objects,grader,grader/course/tensor_cores.c)

validate: all ## each operation naive, optimised, by a library: time, bytes, share of the roof, right or not; in OUTPUT
	$(MAKE) $(BUILD)/bench_validate GPU_ARCH=$(GPU_ARCH:90=90a)
	mkdir -p "$(BENCH)"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} \
	    "$(BUILD)/bench_validate" >"$(BENCH)/validate.tsv"; right=$$?; cat "$(BENCH)/validate.tsv"; exit $$right

$(BUILD)/bench_validate: $(VALIDATE_O)
	echo 'link $@'
	$(CUDA_CC) $^ $(CUDA_CC_FLAGS) -lcublas -lm -o $@

# Training steps of GPT-2, by the exercises that 508 and 510 stand on; but bench/gpt2_layers.cu for 303, and
# bench/gpt2_attention.cu for 313.
GPT2     = 208 209 301 302 305 311 312 314 3a 401 4c 4d 4g 508 510
GPT2_SRC = $(foreach e,$(GPT2),$(wildcard solutions/phase?_*/$(e)_*/*.cu))

bench-gpt2: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/gpt2.c bench/gpt2_layers.cu bench/gpt2_attention.cu $(GPT2_SRC) $(CUDA_CC_FLAGS) -lm -o "$(BUILD)/bench_gpt2"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_gpt2" $$SIZES >"$(BENCH)/gpt2.tsv.new"
	for python in $${PYTHON:-python3 /usr/bin/python3}; do \
	    if "$$python" -c 'import torch' 2>/dev/null; then "$$python" bench/gpt2_torch.py $$SIZES >>"$(BENCH)/gpt2.tsv.new"; exit; fi; \
	done; echo '# PyTorch: not measured here, no python3 has it' >>"$(BENCH)/gpt2.tsv.new"
	mv "$(BENCH)/gpt2.tsv.new" "$(BENCH)/gpt2.tsv"
	cat "$(BENCH)/gpt2.tsv"

bench-launch: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/launch.cu solutions/phase4_optimization/407_graphs/407_graphs.cu $(CUDA_CC_FLAGS) -o "$(BUILD)/bench_launch"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_launch" $$ROUNDS \
	    >"$(BENCH)/launch.tsv"
	cat "$(BENCH)/launch.tsv"

bench-layers: all
	mkdir -p "$(BENCH)"
	$(CUDA_CC) bench/resnet18_layers.cu -Isolutions/phase5_full_network/507_resnet18_optimized $(CUDA_CC_FLAGS) -o "$(BUILD)/bench_layers"
	COURSE_COMMIT=$${COURSE_COMMIT:-$$(git rev-parse --short=12 HEAD)} "$(BUILD)/bench_layers" $$BATCHES \
	    >"$(BENCH)/resnet18_layers.tsv"
	grep '^#' "$(BENCH)/resnet18_layers.tsv"

# end instructor
# instructor
ifeq ($(FORMAT),resnet18)
report: ## of ResNet-18, FORMAT=resnet18: pictures and a page of OUTPUT/resnet18.tsv, which make bench wrote
	COURSE_ROOT="$(CURDIR)" tools/report_resnet18.sh "$(BENCH)"
else
# end instructor
report: all ## RESULTS as FORMAT=junit|gradescope|github|summary|csv|html|markdown|grades|tests, to OUTPUT=FILE
	$(if $(filter html,$(FORMAT)),tools/setup.sh --need gnuplot gnuplot-nox || true)
	$(GRADER) report --format "$$FORMAT" --results "$$RESULTS" $(if $(OUTPUT),--output "$$OUTPUT") \
	    $(if $(HISTORY),$(KEEP)) $(if $(VISIBILITY),--visibility "$$VISIBILITY")
# instructor
endif

# By clang, which takes half of the time, unless a compiler is asked for.
CORPUS_FRONTEND = $(if $(filter override,$(origin CUCC_FRONTEND)),$(CUCC_FRONTEND),$(if $(CUCC_CLANG),clang,$(CUCC_FRONTEND)))
corpus: all ## the grader graded: wrong, slow and hostile submissions, JOBS at a time (EX: only these; SEED, FRESH)
	CUCC_FRONTEND=$(CORPUS_FRONTEND) $(GRADER) corpus $(if $(FRESH),--fresh) --backend "$$BACKEND" $(if $(EX),--exercise "$$EX") $(if $(JOBS),--jobs "$$JOBS") $(if $(SEED),--seed "$$SEED")

gradescope: ## build/gradescope.zip, to be uploaded as an autograder; from what is committed
	tools/gradescope/zip.sh "$(BUILD)/gradescope.zip"

update: all ## write what is generated: skeletons, and the tables of README, docs and pages
	tools/skeletons.sh
	tools/documents.sh

check-generated: all ## fail where make update has something to write
	tools/skeletons.sh --check; skeletons=$$?; tools/documents.sh --check && exit $$skeletons

mistakes: all ## what slow submissions cost, counted anew: docs/results/softgpu/mistakes.tsv
	tools/mistakes.sh >"$(BUILD)/mistakes.tsv" && cp "$(BUILD)/mistakes.tsv" docs/results/softgpu/mistakes.tsv

new: ## lay out a new exercise: make new EX=316 NAME=rope PHASE=3
	tools/new.sh

handout: all ## the course without solutions, for students, in HANDOUT and HANDOUT.tar.gz
	HANDOUT="$${HANDOUT:-$(BUILD)/handout}"; tools/handout.sh "$$HANDOUT"

skeletons: ## write phase*/ anew from solutions/, except what somebody has worked on
	tools/skeletons.sh

ifeq ($(ARCHIVE_LIBS),)
class:
	tools/setup.sh --archive "$(BUILD)"
	MAKEFLAGS= $(MAKE) --no-print-directory -j$(shell nproc) class # jobs of its own: a jobserver does not outlive a new config.mk
else
GPUS = $${CUDA_VISIBLE_DEVICES:-$$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -s -d , -)}
class: all $(BUILD)/class ## grade every folder, zip and tarball in SUBMISSIONS: gradebook, feedback and page in OUT
	"$(BUILD)/class" --submissions "$(if $(SUBMISSIONS),$$SUBMISSIONS,$(error make class SUBMISSIONS=DIR))" \
	    --out "$${OUT:-results/class}" $(if $(CLASS),--settings "$$CLASS") \
	    $(if $(JOBS),--jobs "$$JOBS") $(if $(filter cuda,$(BACKEND)),--gpus "$(GPUS)") \
	    $(if $(FORMAT),--format "$$FORMAT") $(if $(RERUN),--rerun) $(if $(SCHEDULER),--scheduler "$$SCHEDULER") -- \
	    $(GRADER) grade --backend "$$BACKEND" $(SIGN) $(HIDE) $(if $(EX),--exercise "$$EX") $(if $(PHASE),--phase "$$PHASE")
endif

test: ## all tests; the last line counts them. FAST=1: not the parts that passed with the same files
	tools/setup.sh --tests "$(BUILD)"
	$(MAKE) tested

tested: all $(BUILD)/unit_tests $(if $(ARCHIVE_LIBS),$(BUILD)/class $(BUILD)/class_tests) $(BUILD)/test_device $(BUILD)/remote/test_device $(SKELETONS) $(PART_SKELETONS)
	tests/all.sh

quick: ## the tests that take seconds, and those of the exercises that changed since the last commit
	tools/setup.sh --tests "$(BUILD)"
	$(MAKE) quickly

quickly: all $(BUILD)/unit_tests
	tests/all.sh quick

compiled: $(COMPILED_O) ## every solution and benchmark, for sm_80 and sm_90a; baselines, as PTX
# end instructor
#handout test:
#handout 	echo 'The tests of the course are not handed out. make grade tests your work.'

book: ## the pages as a book for the browser, with RESULTS, in OUTPUT (default: build/book)
	tools/book.sh "$(BUILD)" $(if $(OUTPUT),"$$OUTPUT")

docs: ## the headers of grader and emulator by Doxygen, in $(BUILD)/docs
	tools/setup.sh --need doxygen doxygen
	mkdir -p $(BUILD) && doxygen docs/Doxyfile

# What clangd is to see of a phase's files, kernels included: nvcc's own options mean nothing to it.
EDITOR_FLAGS = -Wall -Wextra -Icommon $(PHASES:%=-I%)
EDITOR_CUDA  = -x cuda --cuda-host-only --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_80 \
               -Xclang -target-sdk-version=11.5 -isystem emulator/include \
               -isystem emulator/include/libraries -include cuda_runtime.h -std=gnu++17

compile_commands.json: FORCE ## for editors (clangd: README) and clang tools
	{ MAKEFLAGS= $(MAKE) -Bn -o $(BUILD)/config.mk BUILD=$(BUILD) all; \
	    printf 'cc -std=gnu11 $(EDITOR_FLAGS) -c %s\n' $(wildcard $(PHASES:%=%/*/*.c)); \
	    printf 'clang++ $(EDITOR_CUDA) $(EDITOR_FLAGS) -c %s\n' $(wildcard $(PHASES:%=%/*/*.cu)); } | \
	    tools/compile_commands.awk >$@

format: ## clang-format over all C and CUDA
	git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format -i

clean: ## remove all that was built (not what was downloaded)
	find $(BUILD) -mindepth 1 -maxdepth 1 ! -name cuda ! -name sphinx -exec rm -rf {} +
