/* 402_matmul_tensorcore: cases of the products of bf16 and of fp16 with sums in fp32: what the
 * inputs are after rounding is what counts, and products of two of them are exact. Its speed
 * against tensor cores that are fed from global memory. */
#include "exercises/shared/matmul_half_cases.h"

/* shape: m, n, k, and which of the two; 0 is bf16 */
enum { BF16, HALF };

static const struct {
    element_type element;
    const char *function;
} types[] = {{ELEMENT_BF16, "matmul_tensorcore"}, {ELEMENT_F16, "matmul_tensorcore_half"}};

MATMUL_HALF_RUNNERS(types[shape[3]].function, types[shape[3]].element)

static void run_large(const long *shape)
{
    half_large(types[shape[3]].function, types[shape[3]].element, shape);
}

static const grading_case cases[] = {
    MATMUL_ROWS,
    MATMUL_HALF_ROWS,
    MATMUL_GPU_ROWS,
    {.name = "8388481x1x1", .run = run_random, .shape = {8388481, 1, 1}, .where = ON_GPU},
    {.name = "1x8388481x1", .run = run_random, .shape = {1, 8388481, 1}, .where = ON_GPU},
    MATMUL_HALF_GPU_ROWS,
    {.name = "half 1x1x1",
     .run = run_exact,
     .shape = {1, 1, 1, HALF},
     .part = "matmul_tensorcore_half"},
    {.name = "half 0x5x3", .run = run_exact, .shape = {0, 5, 3, HALF}},
    {.name = "half k=0", .run = run_exact, .shape = {5, 6, 0, HALF}},
    LONG_ROW("half 1100x2x3", run_random, 1100, 2, 3, HALF),
    LONG_ROW("half 2x1100x3", run_random, 2, 1100, 3, HALF),
    {.name = "half 17x33x65", .run = run_random, .shape = {17, 33, 65, HALF}},
    {.name = "half 129x136x40", .run = run_random, .shape = {129, 136, 40, HALF}},
    {.name = "half misaligned", .run = run_misaligned, .shape = {40, 48, 56, HALF}},
    {.name = "half nan", .run = run_nan, .shape = {37, 41, 65, HALF}},
    {.name = "half long sums, 16x24x1600", .run = run_long, .shape = {16, 24, 1600, HALF}},
    {.name = "half large sums", .run = run_large, .shape = {18, 24, 64, HALF}},
    GPU_ROW("half long sums, 64x80x16384", run_long, 64, 80, 16384, HALF),
    GPU_ROW("half 2000x2008x2016", run_random, 2000, 2008, 2016, HALF),
    {0},
};

/* The baseline's rate is known by the bytes of the three matrices. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "tensor cores fed from global memory",
                .shape = "4096 × 4096 × 4096"},
     .function = "matmul_tensorcore",
     .baseline = "baseline_matmul_wmma",
     .run = half_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 4.0,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .precision = IN_HALF,
     .peer_share = 0.014,
     .peer_bytes = 4096.0 * 4096 * (2 + 2 + 4)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"tensor instructions", .per = "16 × 16 × 16 product", .shape = "128 × 128 × 128"},
     .function = "matmul_tensorcore",
     .run = half_timed,
     .shape = {128, 128, 128},
     .count = tensor_instructions,
     .ideal = 8.0 * 8 * 8,
     .bound = AT_LEAST,
     .multiplications = 128.0 * 128 * 128,
     .wanted = 1.0},
    {.metric = {"reduction in DRAM bytes", .over = "tensor cores fed from global memory",
                .shape = "128 × 128 × 128"},
     .function = "matmul_tensorcore",
     .baseline = "baseline_matmul_wmma",
     .run = half_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 4.5},
    {.metric = {"bank conflicts", .per = "16 × 16 × 16 product", .shape = "128 × 128 × 128"},
     .function = "matmul_tensorcore",
     .run = half_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 8.0 * 8 * 8,
     .bound = AT_MOST,
     .wanted = 4.0,
     .begin = 14},
    {0},
};

EXERCISE(402) = {
    .id = 402,
    .core = true,
    .name = "matmul_tensorcore",
    .file = "phase4_optimization/402_matmul_tensorcore/402_matmul_tensorcore.cu",
    .functions = {"matmul_tensorcore", "matmul_tensorcore_half"},
    .baseline_file = "grader/exercises/402_matmul_tensorcore/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "half 17x33x65",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
