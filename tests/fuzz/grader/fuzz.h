/*
 * fuzz.h: what the fuzzers of the grader's readers share. Each fuzz_NAME.c defines
 * LLVMFuzzerTestOneInput, which must return whatever the bytes are; a promise that is broken is an
 * abort(). fuzz.sh runs them, and without a fuzzer tests/fuzz/replay.c feeds them the files of
 * NAME/.
 */
#ifndef GRADER_FUZZ_H
#define GRADER_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/** The path of a file in memory that holds these bytes; the next call makes it anew. */
const char *file_of(const uint8_t *data, size_t bytes);

#endif
