/* 3a_deterministic_backward: the gradients of 312 for crowds of equal tokens, with the same bits
 * every time; its time against sums by atomics. shape: batch, seq, dim, vocab, text */
#include "exercises/shared/embedding_cases.h"

#include <string.h>

#define TIMES 10 /* that must be alike */

static const char function[] = "embedding_backward_deterministic";

static void run_backward(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter(function, &e, true, 0, 0);
}

static void run_without_positions(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter(function, &e, false, 0, 0);
}

static void run_special(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter(function, &e, true, 2, 0);
}

static void run_misaligned(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter(function, &e, true, 0, 4);
}

/* Tokens whose low 8 bits are the same, in turn, the last of the vocabulary among them; where there
 * are so many, their low 16 bits. Each comes 256 times, so that a run begins where a block's tokens
 * do. */
static void run_low_bits_alike(const long *shape)
{
    const embedding e = embedding_of(shape);
    const int apart = e.vocab > 2 << 16 ? 1 << 16 : 1 << 8;
    for (size_t r = 0; r < e.rows; r++) e.tokens[r] = (int)(r % 3) * apart % (int)e.vocab;
    embedding_scatter(function, &e, true, 0, 0);
}

static void run_timed(const char *timed, const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter(timed, &e, false, 0, 0);
}

/* Without a GPU all calls are alike: atomics are counted there, of which a sort may take some. */
static void expect_few_atomics(const embedding *e)
{
    const device_counts *c = call_counts();
    expect(!c || atomics(c) <= 4.0 * (double)e->rows,
           "%g atomics for %zu tokens of %zu columns: they add in any order", atomics(c), e->rows,
           e->dim);
}

static void run_same_bits(const long *shape)
{
    const embedding e = embedding_of(shape);
    const size_t size = e.vocab * e.dim;
    const float *grad_y = random_f32(e.rows * e.dim);
    float *first = f32_array(size), *table = f32_array(size);
    for (int i = 0; i < TIMES; i++) {
        memset(table, 0, size * sizeof *table);
        call_counted(function, ARGS(inout_f32("grad_table", table, size), null_pointer(),
                                    in_f32("grad_y", grad_y, e.rows * e.dim),
                                    in_i32("tokens", e.tokens, e.rows), i32((int)e.batch),
                                    i32((int)e.seq), i32((int)e.dim), i32((int)e.vocab), stream()));
        if (i == 0) expect_few_atomics(&e);
        if (i == 0) memcpy(first, table, size * sizeof *table);
        for (size_t at = 0; at < size; at++) {
            expect(
                table[at] == first[at],
                "grad_table[%zu] was %.9g and is %.9g for the same input: the order of additions "
                "changes",
                at, first[at], table[at]);
        }
    }
}

static const grading_case cases[] = {
    {.name = "0x5x7", .run = run_backward, .shape = {0, 5, 7, 3}},
    {.name = "5x0x7", .run = run_backward, .shape = {5, 0, 7, 3}},
    {.name = "5x7x0", .run = run_backward, .shape = {5, 7, 0, 3}},
    {.name = "1x1x1", .run = run_backward, .shape = {1, 1, 1, 1}},
    {.name = "2x5x33", .run = run_backward, .shape = {2, 5, 33, 4}},
    {.name = "3x117x129", .run = run_backward, .shape = {3, 117, 129, 50}},
    {.name = "tokens beyond 256", .run = run_backward, .shape = {3, 117, 20, 700}},
    {.name = "tokens of equal low bits", .run = run_low_bits_alike, .shape = {3, 256, 20, 257}},
    {.name = "all tokens equal", .run = run_backward, .shape = {5, 401, 40, 300, ONE_TOKEN}},
    {.name = "eight tokens", .run = run_backward, .shape = {4, 257, 33, 30, EIGHT_TOKENS}},
    {.name = "no two tokens equal", .run = run_backward, .shape = {2, 150, 33, 301, IN_TURN}},
    {.name = "without positions", .run = run_without_positions, .shape = {3, 50, 40, 20}},
    {.name = "with NaN", .run = run_special, .shape = {3, 50, 33, 20}},
    {.name = "misaligned", .run = run_misaligned, .shape = {2, 90, 64, 20}},
    {.name = "any", .run = run_backward, .shape = {1, 1, 1, 1}, .most = {9, 90, 150, 600}},
    LONG_ROW("70000x1x1", run_backward, 70000, 1, 1, 3),
    LONG_ROW("1x70000x1", run_backward, 1, 70000, 1, 3),
    LONG_ROW("1x2x70000", run_backward, 1, 2, 70000, 2),
    LONG_ROW("of 70000 tokens", run_backward, 2, 50, 3, 70000),
    LONG_ROW("tokens of equal low 16 bits", run_low_bits_alike, 3, 300, 1, 140000),
    {.name = "the same bits every time", .run = run_same_bits, .shape = {4, 300, 160, 9}},
    GPU_ROW("the same bits every time, 32x1024x768", run_same_bits, 32, 1024, 768, 50257,
            EIGHT_TOKENS),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"throughput", .relative_to = "atomics on sorted runs",
                .shape = "32 × 1024 × 768, 4096 tokens"},
     .function = function,
     .baseline = "baseline_embedding_backward",
     .run = run_timed,
     .shape = {32, 1024, 768, 4096},
     .where = ON_GPU,
     .threshold = 0.67},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = "bytes of grad_y", .shape = "512 tokens, 128 columns"},
     .function = function,
     .run = run_timed,
     .shape = {1, 512, 128, 8},
     .count = moved_bytes,
     .ideal = 4.0 * 512 * 128,
     .bound = AT_MOST,
     .wanted = 2.5},
    {.metric = {"instructions", .per = "warp", .shape = "4096 tokens, 128 columns"},
     .function = function,
     .run = run_timed,
     .shape = {1, 4096, 128, 64},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 45000},
    {0},
};

EXERCISE(3a) = {
    .id = CHALLENGE(3, 'a'),
    .name = "deterministic_backward",
    .file = "phase3_layers/3a_deterministic_backward/3a_deterministic_backward.cu",
    .functions = {"embedding_backward_deterministic"},
    .prerequisites = {302},
    .baseline_file = "grader/exercises/3a_deterministic_backward/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "2x5x33",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
