# emulator.mk: build and test softgpu. Part of the course's Makefile; also works by itself:
#
#     make -f emulator/emulator.mk [emulator-test]
#
# The library is built with the headers of emulator/include; no toolkit is needed.

EMULATOR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
BUILD ?= build
TESTS := $(dir $(EMULATOR))tests

FUZZ_CC ?= clang

# A first build of the course (Makefile) is one line of the terminal, which counts.
TELL = $(if $(FIRST_BUILD),[ ! -t 1 ] || printf '\r\033[K%s' 'building$(NTH)',echo '$(1)')
TELL_LINK = $(if $(FIRST_BUILD),true,echo 'link $@')

EMULATOR_CFLAGS := -std=gnu11 -O3 -ffp-contract=off -fPIC -pthread -Wall -Wextra \
	-fno-semantic-interposition -I$(EMULATOR) -isystem $(EMULATOR)/include -isystem $(EMULATOR)/include/libraries
EMULATOR_SOURCES := $(wildcard $(EMULATOR)/runtime/*/*.c)
EMULATOR_OBJECTS := $(EMULATOR_SOURCES:$(EMULATOR)/%.c=$(BUILD)/emulator/%.o)
EMULATOR_EXPORTS := $(EMULATOR)/runtime/core/exports.map

# The device is compiled for several kinds of x86-64 processors; simd/simd.c chooses. The functions
# that device.h declares get the kind as a prefix, all others become local. Once and quickly:
# make SIMD_KINDS= SIMD_FLAGS=-march=native
SIMD_KINDS := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),plain avx2 avx512)
SIMD_FLAGS_plain := -O2
SIMD_FLAGS_avx2 := -march=x86-64-v3
SIMD_FLAGS_avx512 := -march=x86-64-v4
DEVICE_SOURCES := $(wildcard $(EMULATOR)/device/*/*.c)
device_objects = $(DEVICE_SOURCES:$(EMULATOR)/%.c=$(BUILD)/emulator/$1/%.o)
ALL_DEVICE_OBJECTS := $(foreach kind,$(SIMD_KINDS),$(call device_objects,$(kind)))
LOCAL_OBJECT := $(BUILD)/emulator/simd/here.o
DEVICE_OBJECTS := $(if $(SIMD_KINDS),$(SIMD_KINDS:%=$(BUILD)/emulator/%.o) $(BUILD)/emulator/simd/simd.o,\
	$(DEVICE_SOURCES:$(EMULATOR)/%.c=$(BUILD)/emulator/%.o) $(BUILD)/emulator/simd/only.o)

# test_counts.c looks inside the device, at this file.
PATTERN_OBJECT := $(if $(SIMD_KINDS),$(BUILD)/emulator/plain/device/counts/pattern.o)
$(BUILD)/emulator/device/%.o: EMULATOR_CFLAGS += $(SIMD_FLAGS)

# The runtime with the device in the program's own process; the runtime with a client of a device in
# another, by the same name, so that a program that was linked with one runs with the other; and the
# program which that other process runs.
REMOTE_OBJECTS = $(1:%=$(BUILD)/emulator/remote/%.o)
CLIENT_OBJECTS := $(call REMOTE_OBJECTS,client start link)
SERVER_OBJECTS := $(call REMOTE_OBJECTS,server perform perform_run watch link) \
	$(patsubst %,$(BUILD)/emulator/runtime/%.o,options/checks finding/finding options/options profile/profile_collect \
	profile/profile_table profile/profile_source profile/profile_json profile/profile_ratio) $(DEVICE_OBJECTS)

# What a supervisor compiles that includes supervisor.h.
SUPERVISOR_C := $(EMULATOR)/remote/link.c $(EMULATOR)/runtime/finding/finding.c

EMULATOR_O = $(EMULATOR_OBJECTS) $(ALL_DEVICE_OBJECTS) $(if $(SIMD_KINDS),,$(DEVICE_OBJECTS)) $(LOCAL_OBJECT) \
	$(BUILD)/emulator/simd/simd.o $(CLIENT_OBJECTS) $(filter-out $(DEVICE_OBJECTS),$(SERVER_OBJECTS)) $(call REMOTE_OBJECTS,main) \
	$(EMULATOR_BLAS_OBJECTS)
$(BUILD)/libsoftgpu.so: $(EMULATOR_OBJECTS) $(DEVICE_OBJECTS) $(LOCAL_OBJECT)
$(BUILD)/remote/libsoftgpu.so: $(EMULATOR_OBJECTS) $(CLIENT_OBJECTS) | $(BUILD)/softgpu_device
$(BUILD)/libsoftgpu.so $(BUILD)/remote/libsoftgpu.so $(BUILD)/early/libsoftgpu.so: $(EMULATOR_EXPORTS)
	@mkdir -p $(@D); $(TELL_LINK)
	@$(CC) -shared -pthread -Wl,-soname,libsoftgpu.so -Wl,--version-script=$(EMULATOR_EXPORTS) $(EMULATOR_LINK) \
		-o $@ $(filter %.o,$^) -lm -ldl

# Of the tests: the first one, with a seed for each device.
$(BUILD)/early/libsoftgpu.so: $(EMULATOR_OBJECTS) $(DEVICE_OBJECTS) $(LOCAL_OBJECT) $(BUILD)/tests/emulator/early.o
$(BUILD)/early/libsoftgpu.so: private EMULATOR_LINK := -Wl,--wrap=device_open

$(BUILD)/softgpu_device: $(call REMOTE_OBJECTS,main) $(SERVER_OBJECTS)
	@$(TELL_LINK)
	@$(CC) -pthread -o $@ $^ -lm

define simd_rules
$(BUILD)/emulator/$1/%.o: $(EMULATOR)/%.c
	@mkdir -p $$(@D); $$(call TELL,cc   $$< ($1))
	@$$(CC) $$(EMULATOR_CFLAGS) $(SIMD_FLAGS_$1) -MMD -MP -c -o $$@ $$<

$(BUILD)/emulator/$1.o: $(call device_objects,$1)
	@$$(TELL_LINK)
	@$$(LD) -r -o $$@ $$^
	@nm -g --defined-only $$@ | sed -n 's/.* \(device_[a-z0-9_]*\)$$$$/\1 $1_\1/p' >$$@.names
	@objcopy --redefine-syms=$$@.names $$@
	@objcopy -w --keep-global-symbol='$1_device_*' $$@
endef
$(foreach kind,$(SIMD_KINDS),$(eval $(call simd_rules,$(kind))))

$(BUILD)/emulator/simd.inc: $(BUILD)/emulator/plain.o
	@sed 's/\(.*\) .*/FUNCTION(\1)/' $<.names >$@

$(BUILD)/emulator/simd/simd.o: $(BUILD)/emulator/simd.inc
$(BUILD)/emulator/simd/%.o: EMULATOR_CFLAGS += -I$(BUILD)/emulator

# cuBLAS: a library over the public runtime API, so it sees nothing of softgpu's inside. Its products
# are kernels, which want a compiler of kernels.
EMULATOR_BLAS_OBJECTS := $(patsubst $(EMULATOR)/%.c,$(BUILD)/emulator/%.o,$(wildcard $(EMULATOR)/blas/*.c))
$(EMULATOR_BLAS_OBJECTS): EMULATOR_CFLAGS += -fvisibility=hidden
EMULATOR_BLAS_KERNELS := $(BUILD)/emulator/blas/gemm_kernel.o

$(EMULATOR_BLAS_KERNELS): $(BUILD)/emulator/%.o: $(EMULATOR)/%.cu $(EMULATOR)/blas/gemm.h
	@mkdir -p $(@D); $(TELL_LINK)
	@$(EMULATOR)/cucc --no-lines -O3 -Xcompiler -fPIC,-fvisibility=hidden,-Wall -c -o $@ $<

$(BUILD)/libsoftgpu_cublas.so: $(EMULATOR_BLAS_OBJECTS) $(EMULATOR_BLAS_KERNELS) $(BUILD)/libsoftgpu.so
	@$(TELL_LINK)
	@$(CC) -shared -pthread -Wl,-soname,$(@F) -o $@ $^ -Wl,-rpath,'$$ORIGIN' -lstdc++ -lm

$(BUILD)/emulator/%.o: $(EMULATOR)/%.c
	@mkdir -p $(@D); $(call TELL,cc   $<)
	@$(CC) $(EMULATOR_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/test_device: $(wildcard $(TESTS)/emulator/device/*.c) $(DEVICE_OBJECTS) $(PATTERN_OBJECT)
	@echo 'link $@'
	@$(CC) -std=gnu11 -O2 -Wall -Wextra -pthread -I$(EMULATOR) -o $@ $^ \
		$(or $(CHECK_LIBS),-lcheck -lsubunit -lrt) -lm

$(BUILD)/remote/test_device: $(addprefix $(TESTS)/emulator/,device/test_device.c device/test_order.c device/test_trace.c remote/test_remote.c) $(CLIENT_OBJECTS) | $(BUILD)/softgpu_device
	@mkdir -p $(@D) && echo 'link $@'
	@$(CC) -std=gnu11 -O2 -Wall -Wextra -pthread -I$(EMULATOR) -DTEST_PROGRAM='"$(abspath $(BUILD))/softgpu_device"' -o $@ $^ \
		$(or $(CHECK_LIBS),-lcheck -lsubunit -lrt) -lm -ldl

# All that a program needs of it: PREFIX/lib/softgpu, which may be moved, and PREFIX/bin/cucc.
.PHONY: install
#group Developer
install: $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so ## install softgpu without the course: cucc and its library, in PREFIX
	@prefix="$${PREFIX:-/usr/local}" && to="$$prefix/lib/softgpu" && mkdir -p "$$prefix/bin" "$$to/include/device" && \
	    cp -R $(EMULATOR)/cucc $(EMULATOR)/frontends $(EMULATOR)/include $^ "$$to" && \
	    cp $(EMULATOR)/softgpu.h "$$to/include" && \
	    cp $(EMULATOR)/device/counts.h $(EMULATOR)/device/finding.h "$$to/include/device" && \
	    printf '%s\n' '#!/bin/sh' 'exec bash "$$(dirname "$$(readlink -f "$$0")")/../lib/softgpu/cucc" "$$@"' >"$$prefix/bin/cucc" && \
	    chmod 755 "$$prefix/bin/cucc" && echo "installed: $$prefix/bin/cucc"

.PHONY: emulator-test
emulator-test: $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so $(BUILD)/early/libsoftgpu.so
	@CUCC_LIBRARY=$(abspath $<) $(TESTS)/emulator/counters/compare kernels $(BUILD)/tests/emulator
	@CUCC_LIBRARY=$(abspath $<) $(TESTS)/emulator/counters/compare solutions $(BUILD)/tests/emulator
	@CUCC_LIBRARY=$(abspath $<) $(TESTS)/emulator/counters/compare hopper $(BUILD)/tests/emulator
	@CUCC_LIBRARY=$(abspath $<) $(TESTS)/emulator/run $(BUILD)/tests/emulator
	@CUCC_LIBRARY=$(abspath $<) REMOTE=$(abspath $(BUILD)/early/libsoftgpu.so) $(TESTS)/emulator/run $(BUILD)/tests/emulator \
		$(patsubst %,device/%.cu,cluster cluster_sums hopper mbarrier tma wgmma wgmma_columns)
	@$(TESTS)/emulator/api_complete $<

# Programs with a mistake, and what softgpu has to say of each.
.PHONY: emulator-diagnose
emulator-diagnose: $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so $(BUILD)/early/libsoftgpu.so
	@CUCC_LIBRARY=$(abspath $<) EARLY=$(abspath $(BUILD)/early/libsoftgpu.so) $(TESTS)/emulator/diagnose $(BUILD)/tests/emulator

# Small programs, by both compilers.
.PHONY: emulator-compare
emulator-compare: $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so
	@CUCC_LIBRARY=$(abspath $<) $(TESTS)/emulator/programs.sh $(BUILD)/tests/emulator

# The same verdict in 50 runs with 1, 2 and 4 host threads, where it depends on the order of blocks.
.PHONY: emulator-diagnose-again
emulator-diagnose-again: $(BUILD)/libsoftgpu.so
	@RUNS=50 THREADS="1 2 4" CUCC_LIBRARY=$(abspath $<) $(TESTS)/emulator/diagnose \
		$(BUILD)/tests/emulator $(wildcard $(TESTS)/emulator/diagnostics/global_*/*.cu)

# Through a device in another process, those that ask most of it; REMOTE_TESTS= runs all.
REMOTE_TESTS ?= device/diagnostics_memory.cu device/printf.cu \
	$(addprefix runtime/,basics.cu devices.cu together.cu async_visibility.cu managed.cu pinned.cu streams.cu)
.PHONY: emulator-test-remote
emulator-test-remote: $(BUILD)/libsoftgpu.so $(BUILD)/remote/libsoftgpu.so
	@CUCC_LIBRARY=$(abspath $<) REMOTE=$(abspath $(BUILD)/remote/libsoftgpu.so) \
		$(TESTS)/emulator/run $(BUILD)/tests/emulator $(REMOTE_TESTS)

.PHONY: bench-softgpu
bench-softgpu: $(BUILD)/libsoftgpu.so $(BUILD)/remote/libsoftgpu.so ## measure softgpu's speed: kernels, launches, start, memory
	@CUCC_LIBRARY=$(abspath $<) $(EMULATOR)/cucc -O3 -march=native $(EMULATOR)/../bench/softgpu.cu -o $(BUILD)/bench_softgpu
	@rm -f $(BUILD)/bench_softgpu_clang; CUCC_FRONTEND=clang $(EMULATOR)/cucc --front-end >/dev/null 2>&1 || exit 0; \
	    CUCC_FRONTEND=clang CUCC_LIBRARY=$(abspath $<) \
	    $(EMULATOR)/cucc -O3 -march=native $(EMULATOR)/../bench/softgpu.cu -o $(BUILD)/bench_softgpu_clang
	@$(BUILD)/bench_softgpu

# The fuzzers' inputs as a test.
$(BUILD)/tests/%.o: $(TESTS)/%.c
	@mkdir -p $(@D) && echo 'cc   $<'
	@$(CC) $(EMULATOR_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/replay_ptx: $(BUILD)/tests/fuzz/replay.o $(BUILD)/tests/fuzz/emulator/fuzz_ptx.o $(call device_objects,plain)
$(BUILD)/replay_fatbin: $(BUILD)/tests/fuzz/replay.o $(BUILD)/tests/fuzz/emulator/fuzz_fatbin.o $(BUILD)/emulator/runtime/launch/fatbin.o
$(BUILD)/replay_remote: $(BUILD)/tests/fuzz/replay.o $(BUILD)/tests/fuzz/emulator/fuzz_remote.o $(SERVER_OBJECTS)
$(BUILD)/replay_%:
	@echo 'link $@'
	@$(CC) -pthread -o $@ $^ -lm

.PHONY: fuzz-replay
fuzz-replay: $(BUILD)/replay_ptx $(BUILD)/replay_fatbin $(BUILD)/replay_remote
	@$(BUILD)/replay_ptx $(TESTS)/fuzz/emulator/ptx/*
	@$(BUILD)/replay_fatbin $(TESTS)/fuzz/emulator/fatbin/*
	@$(BUILD)/replay_remote $(TESTS)/fuzz/emulator/remote/*

# Fuzzers of what reads untrusted bytes: tests/fuzz/emulator/fuzz.sh runs them. They need clang.
FUZZ_CFLAGS := -std=gnu11 -g -O1 -march=x86-64-v3 -ffp-contract=off -pthread -I$(EMULATOR) -isystem $(EMULATOR)/include \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=alignment -fno-sanitize-recover=undefined
FUZZ_OBJECTS := $(patsubst $(EMULATOR)/%.c,$(BUILD)/fuzz/%.o,$(DEVICE_SOURCES))

$(BUILD)/fuzz/fuzz_ptx: $(BUILD)/fuzz/tests/fuzz_ptx.o $(FUZZ_OBJECTS)
	@echo 'link $@'
	@$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -pthread -o $@ $^ -lm

$(BUILD)/fuzz/fuzz_fatbin: $(BUILD)/fuzz/tests/fuzz_fatbin.o $(BUILD)/fuzz/runtime/launch/fatbin.o
	@echo 'link $@'
	@$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^

$(BUILD)/fuzz/fuzz_remote: $(BUILD)/fuzz/tests/fuzz_remote.o $(FUZZ_OBJECTS) \
		$(patsubst %,$(BUILD)/fuzz/%.o,remote/perform remote/perform_run remote/watch runtime/finding/finding runtime/profile/profile_ratio)
	@echo 'link $@'
	@$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -pthread -o $@ $^ -lm

$(BUILD)/fuzz/tests/%.o: $(TESTS)/fuzz/emulator/%.c
	@mkdir -p $(@D) && echo 'fuzz $<'
	@$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/%.o: $(EMULATOR)/%.c
	@mkdir -p $(@D) && echo 'fuzz $<'
	@$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

-include $(FUZZ_OBJECTS:.o=.d) $(wildcard $(BUILD)/tests/fuzz/*.d $(BUILD)/tests/fuzz/emulator/*.d)
-include $(wildcard $(BUILD)/emulator/remote/*.d)
-include $(ALL_DEVICE_OBJECTS:.o=.d) $(DEVICE_OBJECTS:.o=.d) $(EMULATOR_OBJECTS:.o=.d) $(EMULATOR_BLAS_OBJECTS:.o=.d)
