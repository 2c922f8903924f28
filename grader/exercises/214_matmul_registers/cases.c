/* 214_matmul_registers: cases of the product with several elements of c a thread, sizes just
 * beside the usual tiles, its speed against a coalesced kernel without tiles, and how much a
 * multiply-add loads. */
#include "exercises/shared/matmul_cases.h"

MATMUL_RUNNERS("matmul_registers")

static const grading_case cases[] = {
    MATMUL_ROWS,
    {.name = "63x64x9", .run = run_random, .shape = {63, 64, 9}},
    {.name = "127x129x7", .run = run_random, .shape = {127, 129, 7}},
    {.name = "128x128x8", .run = run_random, .shape = {128, 128, 8}},
    {.name = "129x257x17", .run = run_random, .shape = {129, 257, 17}},
    MATMUL_GPU_ROWS,
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "the untiled kernel", .shape = "4096 × 4096 × 4096"},
     .function = "matmul_registers",
     .baseline = "baseline_matmul_naive",
     .run = matmul_timed,
     .shape = {4096, 4096, 4096},
     .where = ON_GPU,
     .threshold = 3.5,
     .flop = 2.0 * 4096 * 4096 * 4096,
     .peer_share = 0.087},
    {0},
};

/* Of a warp, whatever memory it asks: shared memory once for each wavefront, others for each
 * request. Registers that became local memory are loads and stores too. */
static double loads(const device_counts *c)
{
    return (double)(c->shared_load.wavefronts + c->global_load.requests + c->local_load.requests +
                    c->local_store.requests);
}

static const traffic_test traffic[] = {
    {.metric = {"loads", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_registers",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = loads,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.6,
     .begin = 2.125},
    {.metric = {"reduction in DRAM bytes", .over = "the untiled kernel",
                .shape = "128 × 128 × 128"},
     .function = "matmul_registers",
     .baseline = "baseline_matmul_naive",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 25.0},
    {.metric = {"bank conflicts", .per = "warp FMA", .shape = "128 × 128 × 128"},
     .function = "matmul_registers",
     .run = matmul_timed,
     .shape = {128, 128, 128},
     .count = bank_conflicts,
     .ideal = 128.0 * 128 * 128 / 32,
     .bound = AT_MOST,
     .wanted = 0.1,
     .begin = 0.43},
    {0},
};

EXERCISE(214) = {
    .id = 214,
    .core = true,
    .name = "matmul_registers",
    .file = "phase2_cuda_basics/214_matmul_registers/214_matmul_registers.cu",
    .functions = {"matmul_registers"},
    .baseline_file = "grader/exercises/211_matmul_tiled/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "127x129x7",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
