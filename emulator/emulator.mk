# emulator.mk: build and test softgpu. Part of the course's Makefile; also works by itself:
#
#     make -f emulator/emulator.mk [emulator-test]
#
# The library is built with the headers of emulator/include; no toolkit is needed.

EMULATOR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
BUILD ?= build

FUZZ_CC ?= clang

EMULATOR_CFLAGS := -std=gnu11 -O3 -march=native -ffp-contract=off -fPIC -pthread -Wall -Wextra \
	-fno-semantic-interposition -isystem $(EMULATOR)/include
EMULATOR_SOURCES := $(wildcard $(EMULATOR)/device/*.c $(EMULATOR)/runtime/*.c)
EMULATOR_OBJECTS := $(EMULATOR_SOURCES:$(EMULATOR)/%.c=$(BUILD)/emulator/%.o)
EMULATOR_EXPORTS := $(EMULATOR)/runtime/exports.map

$(BUILD)/libsoftgpu.so: $(EMULATOR_OBJECTS) $(EMULATOR_EXPORTS)
	@echo 'link $@'
	@$(CC) -shared -pthread -Wl,-soname,libsoftgpu.so -Wl,--version-script=$(EMULATOR_EXPORTS) \
		-o $@ $(EMULATOR_OBJECTS) -lm

# cuBLAS: a library over the public runtime API, so it sees nothing of softgpu's inside.
EMULATOR_BLAS_OBJECTS := $(patsubst $(EMULATOR)/%.c,$(BUILD)/emulator/%.o,$(wildcard $(EMULATOR)/blas/*.c))
$(EMULATOR_BLAS_OBJECTS): EMULATOR_CFLAGS += -fvisibility=hidden

$(BUILD)/libsoftgpu_cublas.so: $(EMULATOR_BLAS_OBJECTS) $(BUILD)/libsoftgpu.so
	@echo 'link $@'
	@$(CC) -shared -pthread -Wl,-soname,$(@F) -o $@ $^ -Wl,-rpath,'$$ORIGIN' -lm

$(BUILD)/emulator/%.o: $(EMULATOR)/%.c
	@mkdir -p $(@D) && echo 'cc   $<'
	@$(CC) $(EMULATOR_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/test_device: $(EMULATOR)/tests/test_device.c $(EMULATOR)/tests/test_counts.c \
                      $(filter $(BUILD)/emulator/device/%,$(EMULATOR_OBJECTS))
	@echo 'link $@'
	@$(CC) -std=gnu11 -O2 -Wall -Wextra -pthread -o $@ $^ \
		$(or $(CHECK_LIBS),-lcheck -lsubunit -lrt) -lm

.PHONY: emulator-test
emulator-test: $(BUILD)/libsoftgpu.so $(BUILD)/libsoftgpu_cublas.so
	@CUCC_LIBRARY=$(abspath $<) $(EMULATOR)/tests/counters/compare $(BUILD)/emulator/tests
	@CUCC_LIBRARY=$(abspath $<) $(EMULATOR)/tests/run $(BUILD)/emulator/tests
	@$(EMULATOR)/tests/api_complete $<

# Fuzzers of what reads untrusted bytes: emulator/fuzz/fuzz.sh runs them. They need clang.
FUZZ_CFLAGS := -std=gnu11 -g -O1 -march=x86-64-v3 -ffp-contract=off -pthread -isystem $(EMULATOR)/include \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=alignment -fno-sanitize-recover=undefined
FUZZ_OBJECTS := $(patsubst $(EMULATOR)/%.c,$(BUILD)/fuzz/%.o,$(filter $(EMULATOR)/device/%.c,$(EMULATOR_SOURCES)))

$(BUILD)/fuzz/fuzz_ptx: $(BUILD)/fuzz/fuzz/fuzz_ptx.o $(FUZZ_OBJECTS)
	@echo 'link $@'
	@$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -pthread -o $@ $^ -lm

$(BUILD)/fuzz/fuzz_fatbin: $(BUILD)/fuzz/fuzz/fuzz_fatbin.o $(BUILD)/fuzz/runtime/fatbin.o
	@echo 'link $@'
	@$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^

$(BUILD)/fuzz/%.o: $(EMULATOR)/%.c
	@mkdir -p $(@D) && echo 'fuzz $<'
	@$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

-include $(FUZZ_OBJECTS:.o=.d)
-include $(EMULATOR_OBJECTS:.o=.d) $(EMULATOR_BLAS_OBJECTS:.o=.d)
