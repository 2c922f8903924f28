/* 401_matmul_vectorized: cases of the product with loads of 16 bytes, among them each matrix
 * whose rows, or whose first element, do not allow them; its speed against 214 as it was. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_vectorized")

static const grading_case cases[] = {
    MATMUL_ROWS,
    {.name = "misaligned, rows of 16 bytes", .run = run_misaligned, .shape = {36, 44, 12}},
    {.name = "63x64x12", .run = run_random, .shape = {63, 64, 12}},
    {.name = "33x36x10", .run = run_random, .shape = {33, 36, 10}},
    {.name = "33x129x12", .run = run_random, .shape = {33, 129, 12}},
    {.name = "127x132x4", .run = run_random, .shape = {127, 132, 4}},
    {.name = "129x260x20", .run = run_random, .shape = {129, 260, 20}},
    LONG_ROW("3x70004x4", run_random, 3, 70004, 4),
    MATMUL_GPU_ROWS,
    {.name = "8388481x1x1", .run = run_random, .shape = {8388481, 1, 1}, .where = ON_GPU},
    {.name = "1x8388481x1", .run = run_random, .shape = {1, 8388481, 1}, .where = ON_GPU},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "214", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_vectorized",
     .baseline = "baseline_matmul_registers",
     .run = matmul_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 1.2,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .peer_share = 0.36},
    {0},
};

/* Instructions of a warp that reach memory, of any kind and width. */
static double requests(const device_counts *c)
{
    return global_requests(c) + shared_requests(c) +
           (double)(c->local_load.requests + c->local_store.requests);
}

static const traffic_test traffic[] = {
    {.metric = {"loads and stores", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_vectorized",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = requests,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.2,
     .begin = 0.271},
    {.metric = {"global loads and stores", .relative_to = MINIMUM, .shape = "128 × 128 × 128"},
     .function = "matmul_vectorized",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = global_requests,
     .ideal = 3.0 * 128 * 128 / 4 / 32, /* each element once, four at a time */
     .bound = AT_MOST,
     .wanted = 3.5}, /* clang 14 takes some loads of the reference apart: 3; all apart are 4 */
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_vectorized",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.05,
     .begin = 0.125},
    {0},
};

EXERCISE(401) = {
    .id = 401,
    .core = true,
    .name = "matmul_vectorized",
    .file = "phase4_optimization/401_matmul_vectorized/401_matmul_vectorized.cu",
    .functions = {"matmul_vectorized"},
    .baseline_file = "grader/exercises/401_matmul_vectorized/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "63x64x12",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
