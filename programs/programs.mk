# programs.mk: programs that a student's exercises become a part of. Included by the Makefile.
#
#   TEXT=FILE STEPS=N EVERY=N LAYERS=N HEADS=N CHANNELS=N CONTEXT=N BATCH=N LR=X DROPOUT=X RESUME=1
#                          for make gpt: build/gpt --help
#   ARCH=llama             for make gpt and sample: a network of Llama blocks, with as many parameters
#   CHECKPOINT=FILE PROMPT=TEXT COUNT=N TEMPERATURE=X  for make sample (CHECKPOINT: for make gpt, too)
#   DATA=FILE MEGABYTES=N  for make train_from_nvme: a file on the drive, written and removed
#   DEVICE=cpu|gpu|N       for make cuda_demo, gpt and sample (default: the best one)

#group Programs

# The units that only Hopper has are a part of sm_90a, not of sm_90. On softgpu clang takes the headers that were
# compiled for submissions (Makefile), with their options: two thirds of its time for a solution.
CUDA_CC = $(if $(filter cuda,$(BACKEND)),$(NVCC) -arch=sm_$(GPU_ARCH:90=90a),emulator/cucc $(COMPILED_ONCE))
COMPILED_ONCE = --precompiled="$(BUILD)/precompiled" -Xcompiler -fPIC,-Wall,-Wextra
CUDA_CC_FLAGS = -O3 -Icommon $(PHASES:%=-I%) -L"$(BUILD)" -lcourse -Xlinker -rpath='$$ORIGIN'

# What they call and the student has not solved is the course's, as in make grade.
NEEDS = $(GRADER) needs --submission "$$SUBMISSION" --backend "$$BACKEND" $(KEEP)
# These exercises, or an end with words where one of them is not written.
WRITTEN = needed="$$($(NEEDS) '$(1)')" || { echo 'make $@: it runs when these are written' >&2; exit 1; }

first: ## run the whole program of phase2_cuda_basics/200_a_whole_program/README.md
	mkdir -p "$(BUILD)"
	$(CUDA_CC) programs/first/first.cu -o "$(BUILD)/first"
	"$(BUILD)/first"

mnist: all ## train the network of exercise 501: EPOCHS=5 SEED=1; FAST=1: with 502
	$(if $(FAST),$(call WRITTEN,501 502),needed="$$($(NEEDS) '501 502')"); $(MAKE) mnist-program NEEDED="$$needed"
	"$(BUILD)/mnist" $${EPOCHS:-5} $${SEED:-1} $(if $(FAST),fast)

mnist-program:
	$(CUDA_CC) $(patsubst phase%,"$$SUBMISSION"/phase%,$(NEEDED)) programs/mnist/main.c $(CUDA_CC_FLAGS) -o "$(BUILD)/mnist"

# What was given of these, as options of the program.
gpt_options = $(foreach o,$(1),$(if $($(o)),--$(shell echo $(o) | tr A-Z a-z) "$$$(o)"))

gpt: all ## train the GPT of exercises 508 and 509 on TEXT (default: Tiny Shakespeare); STEPS, RESUME=1, DEVICE; ARCH=llama: with 3c; FAST=1: with 510; GPUS=2: with 513, COMM=nccl
	$(MAKE) gpt-program
	mkdir -p results
	"$(BUILD)/$(NETWORK)" train --curve results/$(NETWORK).tsv $(if $(RESUME),--resume) $(if $(FAST),--fast) $(call gpt_options,$(GPT_OF_BOTH) GPUS COMM TEXT STEPS EVERY LAYERS HEADS CHANNELS CONTEXT BATCH LR DROPOUT)
	if command -v gnuplot >/dev/null; then gnuplot -e "table='results/$(NETWORK).tsv'" programs/gpt/loss.gp; fi

sample: all ## let the network in make gpt's CHECKPOINT write text: PROMPT, COUNT, TEMPERATURE
	$(MAKE) gpt-program
	"$(BUILD)/$(NETWORK)" sample $(call gpt_options,$(GPT_OF_BOTH))

GPT_OF_BOTH = DEVICE CHECKPOINT PROMPT COUNT TEMPERATURE SEED

NETWORK     = $(if $(filter llama,$(ARCH)),llama,gpt)
REFUSE_ARCH = $(if $(filter-out gpt llama,$(ARCH)),echo "ARCH=$$ARCH: gpt or llama?" >&2; exit 2, \
    $(if $(filter llama,$(ARCH)),$(if $(FAST)$(GPUS),echo 'ARCH=llama: without FAST=1 and GPUS=N' >&2; exit 2, \
    $(if $(LLAMA_SRC),,echo 'ARCH=llama: its network is not in this copy of the course' >&2; exit 2))))
LLAMA_SRC   = $(wildcard programs/gpt/llama/*.c programs/gpt/llama/*.cu)

gpt-program:
	$(REFUSE_ODD_NAME)
	$(REFUSE_ARCH)
	$(call WRITTEN,508 509$(if $(wildcard programs/gpt/cpu_network.c), 108 109 111)$(if $(filter llama,$(NETWORK)), 3c)$(if $(FAST), 510)$(if $(GPUS), 513)); $(MAKE) $(BUILD)/$(NETWORK) NEEDED="$$needed"

STUDY = $${OUTPUT:-results}
study: all ## measure what bounds the autoencoder of 511: study.tsv, study.txt and a picture in OUTPUT (BATCHES="32 512")
	$(call WRITTEN,511); $(MAKE) study-program NEEDED="$$needed"
	BACKEND="$(BACKEND)" programs/study/study.sh "$(STUDY)" $$BATCHES

study-program:
	$(CUDA_CC) $(patsubst phase%,"$$SUBMISSION"/phase%,$(NEEDED)) programs/study/main.c -Iemulator $(CUDA_CC_FLAGS) -lm -o "$(BUILD)/study"

cuda_nn: all ## make a Python package from SUBMISSION's networks and kernels, in build/cuda_nn
	$(MAKE) package PACKAGE=$@ NEEDED="$$($(NEEDS) "216 503")"

optimized_ops: all ## make a package of PyTorch operations, with a C interface, from SUBMISSION's kernels, in build/optimized_ops
	$(MAKE) package PACKAGE=$@ LIBRARY=liboptimized_kernels.so NEEDED="$$($(NEEDS) '301 302 312 416 4g 4i 4j 512')" \
	    INCLUDED="$$($(NEEDS) 510 2>/dev/null | grep -x '.*/510_gpt2.cu' || ls phase5*/510_*/510_gpt2.cu)"
	$(if $(filter cuda,$(BACKEND)),$(MAKE) "$(BUILD)/optimized_ops/liboptimized_ops.so")

# What torch.ops.load_library takes, where a python3 has torch. It uses torch's libstdc++: with one of its own, linked
# statically where there is no other to link with, words of an error would crash.
TORCH = $(shell "$${PYTHON:-python3}" -c 'from importlib.util import find_spec; print(*find_spec("torch").submodule_search_locations)' 2>/dev/null)
$(BUILD)/optimized_ops/liboptimized_ops.so: $(wildcard python/optimized_ops/*.cpp)
	$(if $(TORCH),echo 'c++  $^' && $(CXX) -std=c++17 -O2 -Wall -Wextra -fPIC -shared -isystem "$(TORCH)/include" -isystem '$(CUDA_INCLUDE)' \
	    -Icommon $(PHASES:%=-I%) $^ -L"$(@D)" -loptimized_kernels -L"$(TORCH)/lib" -ltorch -ltorch_cuda -ltorch_cpu -lc10 -l:libstdc++.so.6 \
	    -L'$(CUDA_LIB)' -lcudart -Wl$(comma)-rpath='$$ORIGIN:$(TORCH)/lib' -o $@,echo 'no python3 with torch: without $(@F)')

# Whole in its folder: the libraries that the kernels' own asks for lie beside it. INCLUDED: a file whose parts it includes.
IN_PACKAGE = $(BUILD)/$(PACKAGE)
LIBRARY    = lib$(PACKAGE).so
package:
	rm -rf "$(IN_PACKAGE)" && mkdir "$(IN_PACKAGE)"
	$(CUDA_CC) -shared -Xcompiler -fPIC $(if $(filter cuda,$(BACKEND)),-cudart shared,$(if $(filter optimized_ops,$(PACKAGE)),-arch=sm_90a)) \
	    $(patsubst prebuilt/%,"$(CURDIR)"/prebuilt/%,$(patsubst phase%,"$$SUBMISSION"/phase%,$(filter-out %.py,$(NEEDED)))) \
	    $(wildcard python/$(PACKAGE)/*.cu) $(addprefix -I,$(patsubst phase%,"$$SUBMISSION"/phase%,$(dir $(INCLUDED)))) $(CUDA_CC_FLAGS) -o "$(IN_PACKAGE)/$(LIBRARY)"
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
	mkdir -p $(@D) && echo '$(notdir $(firstword $(CUDA_CC))) $<'
	$(CUDA_CC) -O3 -MMD -MP -Icommon $(PHASES:%=-I%) -c $< -o $@

-include $(if $(NEEDED)$(filter $(BUILD)/bench_%,$(MAKECMDGOALS)),$(shell find $(BUILD)/program -name '*.d' 2>/dev/null))

.PHONY: $(BUILD)/gpt $(BUILD)/llama cuda_nn optimized_ops package mnist-program study study-program resnet18 $(BUILD)/resnet18 cuda_demo $(BUILD)/cuda_demo train_from_nvme $(BUILD)/train_from_nvme
REFUSE_ODD_NAME = case $$SUBMISSION in *[!a-zA-Z0-9_./-]*) echo 'make $@: the name of SUBMISSION is too odd for it'; exit 2 ;; esac

resnet18: all ## build the program that times five ResNet-18s: build/resnet18 --help
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/resnet18 NEEDED="$$($(NEEDS) '306 504 505 506 507')"

$(BUILD)/resnet18: $(call PROGRAM_O,$(RESNET18_MAIN))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(WRAPPED:%=-Xlinker --wrap=%) $(CUDA_CC_FLAGS) -lm -o $@

# One library with two backends, programs/backend, and what shows it.
cuda_demo: all ## show what DEVICE=cpu|gpu|N has, computes and refuses, and compare its time with the CPU's
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/cuda_demo NEEDED="$$($(NEEDS) '102 103 107 202 204 205 208 213 408')"
	"$(BUILD)/cuda_demo" $(if $(DEVICE),--device "$$DEVICE")

$(BUILD)/cuda_demo: $(call PROGRAM_O,$(wildcard programs/backend/*.c programs/backend/*.cu programs/cuda_demo/*.c))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(CUDA_CC_FLAGS) -lcublas -lm -o $@

$(BUILD)/gpt $(BUILD)/llama: $(call PROGRAM_O,$(wildcard programs/gpt/*.c) $(if $(filter llama,$(NETWORK)),$(LLAMA_SRC)) $(if $(FAST),programs/gpt/fast/fast.c programs/gpt/fast/dropout.cu) $(if $(GPUS),$(wildcard programs/gpt/team/*.c)))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(GPT_WRAPPED:%=-Xlinker --wrap=%) \
	    $(if $(GPUS),-Xlinker --wrap=allreduce_ring -ldl) $(CUDA_CC_FLAGS) -lm -o $@

# dropout.c and the files of fast/ stand between the network and these; llama/ has a network of its own.
GPT_WRAPPED = attention_naive attention_naive_backward $(if $(filter llama,$(NETWORK)),gpt_forward gpt_backward gpt_update) $(if $(FAST),adam_update_groups attention_flash3 attention_flash3_backward)

# From a file to a trained network, by io_uring and cuFile too, where they are.
URING  = $(if $(shell $(CC) -E -include liburing.h -x c /dev/null >/dev/null 2>&1 && echo yes),-DWITH_URING -luring)
CUFILE = $(if $(filter cuda,$(BACKEND)),$(if $(wildcard $(CUDA_INCLUDE)/cufile.h),-DWITH_CUFILE -lcufile))
train_from_nvme: all ## train 501 from the file DATA, and measure bytes per second from the drive to the device
	$(REFUSE_ODD_NAME)
	$(MAKE) $(BUILD)/train_from_nvme NEEDED="$$($(NEEDS) '208 414 501')"
	mkdir -p results
	"$(BUILD)/train_from_nvme" "$${DATA:-results/train_from_nvme.data}" "$${MEGABYTES:-$(if $(filter cuda,$(BACKEND)),1000,10)}"

$(BUILD)/train_from_nvme: ALL_CFLAGS += $(filter -D%,$(URING) $(CUFILE))
$(BUILD)/train_from_nvme: $(call PROGRAM_O,$(wildcard programs/train_from_nvme/*.c))
	echo 'link $@'
	$(CUDA_CC) $^ $(filter %.so,$(NEEDED)) $(CUDA_CC_FLAGS) $(filter -l%,$(URING) $(CUFILE)) -lm -o $@
