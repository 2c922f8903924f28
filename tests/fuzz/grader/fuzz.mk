# fuzz.mk: fuzzers of what the grader reads from others, and their inputs as a test. Included by the
# Makefile. tests/fuzz/grader/fuzz.sh builds the fuzzers, with clang, in a build folder of their own.

FUZZ_NAMES := idx reply weights $(if $(ARCHIVE_LIBS),settings archive)
FUZZ_O     := $(call objects,grader,$(wildcard tests/fuzz/grader/*.c))
REPLAY_O   := $(BUILD)/obj/grader/tests/fuzz/replay.o

# What is fuzzed; fuzz_reply.c has a worker_process.c of its own.
FUZZED_O   := $(filter-out %/main.o,$(GRADER_O)) $(BUILD)/obj/grader/tests/fuzz/grader/file.o
$(BUILD)/fuzz_settings $(BUILD)/fuzz_archive $(BUILD)/replay_settings $(BUILD)/replay_archive: \
    $(filter-out %/main.o,$(CLASS_O))
$(BUILD)/fuzz_%: $(BUILD)/obj/grader/tests/fuzz/grader/fuzz_%.o $(FUZZED_O) $(BUILD)/libcourse.so
	echo 'link $@'
	$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(if $(filter reply,$*),$(filter-out %/worker_process.o,$^),$^) \
	    -Wl,-rpath,'$$ORIGIN' $(CLASS_LIBS)

# weights fuzzes a solution, with what that calls.
$(BUILD)/fuzz_weights $(BUILD)/replay_weights: $(call objects,grader,solutions/phase5_full_network/504_resnet18_cpu/504_resnet18_cpu.c \
    solutions/phase1_cpu/110_conv2d_cpu/110_conv2d_cpu.c solutions/phase1_cpu/106_matmul_cpu_vectorized/106_matmul_cpu_vectorized.c)

# Without a fuzzer: every compiler can build it.
$(FUZZ_NAMES:%=$(BUILD)/replay_%): $(BUILD)/replay_%: $(BUILD)/obj/grader/tests/fuzz/grader/fuzz_%.o $(REPLAY_O) \
    $(FUZZED_O) $(BUILD)/libcourse.so
	echo 'link $@'
	$(CC) $(LDFLAGS) -o $@ $(if $(filter reply,$*),$(filter-out %/worker_process.o,$^),$^) \
	    -Wl,-rpath,'$$ORIGIN' $(CLASS_LIBS)

.PHONY: fuzz-replay-grader
fuzz-replay-grader: $(FUZZ_NAMES:%=$(BUILD)/replay_%)
	for name in $(FUZZ_NAMES); do \
	    "$(BUILD)/replay_$$name" tests/fuzz/grader/$$name/* 2>/dev/null || echo '0 passed, 1 failed'; \
	done | awk '{ passed += $$1; failed += $$3 } \
	            END { print passed " passed, " failed " failed"; exit failed > 0 }'
