/* 2c_radix_sort: kept elements, runs and sorted pairs, of keys of every kind and of lengths around
 * warps, blocks and tiles; the speed of the sort against a bitonic one. */
#include "correctness/case.h"

#include <string.h>

enum kind { RANDOM, FEW, EQUAL, RISING, FALLING, EXTREMES, ALTERNATING, BLOCKS, LONG_RUNS };

#define LARGEST 0xffffffff
#define MIDDLE  0x80000000

enum { INVALID_VALUE = 1 };

static unsigned bits(void)
{
    return (unsigned)random_u64(case_random());
}

static unsigned key_of(enum kind kind, unsigned i, unsigned n, unsigned drawn, unsigned before)
{
    static const unsigned extremes[] = {0, LARGEST, MIDDLE, MIDDLE - 1};
    switch (kind) {
    case FEW: return bits() % 3;
    case EQUAL: return drawn;
    case RISING: return i;
    case FALLING: return n - i;
    case EXTREMES: return i == 0 ? LARGEST : extremes[bits() % 4];
    case ALTERNATING: return i % 2;
    case BLOCKS: return i / 256 % 2;
    case LONG_RUNS: return bits() % 1000 == 0 ? bits() : before;
    default: return bits();
    }
}

static unsigned *keys_of(size_t n, enum kind kind)
{
    unsigned *keys = (unsigned *)i32_array(n), drawn = bits();
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(kind, (unsigned)i, (unsigned)n, drawn, i > 0 ? keys[i - 1] : drawn);
    return keys;
}

static argument in_u32(const char *name, const unsigned *x, size_t n)
{
    return in_i32(name, (const int *)x, n);
}

static argument out_u32(const char *name, unsigned *x, size_t n)
{
    return out_i32(name, (int *)x, n);
}

static void expect_equal(const char *name, const unsigned *got, const unsigned *want, size_t n)
{
    expect_equal_i32((layout){name, 1, n}, (const int *)got, (const int *)want);
}

/* ---- compact: shape: n, kind, low, high ------------------------------------------------------ */

static void compact(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const unsigned low = (unsigned)shape[2], high = (unsigned)shape[3];
    const unsigned *in = keys_of(n, shape[1]);
    unsigned *out = (unsigned *)i32_array(n), *want = (unsigned *)i32_array(n), count, kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (in[i] >= low && in[i] <= high) want[kept++] = in[i];
    }
    call_cuda(function, ARGS(out_u32("out", out, n), out_u32("count", &count, 1),
                             in_u32("in", in, n), u64(n), i32((int)low), i32((int)high), stream()));
    expect(count == kept, "count is %u, should be %u of %zu", count, kept, n);
    expect_equal("out", out, want, kept);
}

static void run_compact(const long *shape)
{
    compact("compact", shape);
}

/* ---- run_lengths: shape: n, kind ------------------------------------------------------------- */

static void run_lengths(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const unsigned *in = keys_of(n, shape[1]);
    unsigned *values = (unsigned *)i32_array(n), *lengths = (unsigned *)i32_array(n), runs;
    unsigned *of = (unsigned *)i32_array(n), *many = (unsigned *)i32_array(n), count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || in[i] != in[i - 1]) of[count++] = in[i];
        many[count - 1]++;
    }
    call_cuda(function, ARGS(out_u32("values", values, n), out_u32("lengths", lengths, n),
                             out_u32("runs", &runs, 1), in_u32("in", in, n), u64(n), stream()));
    expect(runs == count, "runs is %u, should be %u", runs, count);
    expect_equal("values", values, of, count);
    expect_equal("lengths", lengths, many, count);
}

static void run_runs(const long *shape)
{
    run_lengths("run_lengths", shape);
}

/* ---- sort_pairs: shape: n, kind -------------------------------------------------------------- */

/* values[i] = first + i. Pairs that rise strictly, and whose keys are those of their values, are
 * all of the pairs, each once, and sorted as a stable sort does. */
static void expect_sorted(const unsigned *out_keys, const unsigned *out_values,
                          const unsigned *keys, unsigned first, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        const unsigned key = out_keys[j], from = out_values[j] - first;
        expect(from < n && keys[from] == key,
               "out_keys[%zu] is %#x and out_values[%zu] is %#x: no such pair was given", j, key, j,
               out_values[j]);
        if (j == 0) continue;
        expect(out_keys[j - 1] <= key, "out_keys[%zu] is %#x, behind %#x: not sorted", j, key,
               out_keys[j - 1]);
        expect(out_keys[j - 1] < key || out_values[j - 1] - first < from,
               "out_values[%zu] is %#x, behind %#x, and was before it; both have the key %#x: not "
               "stable",
               j, out_values[j], out_values[j - 1], key);
    }
}

static void sort_pairs(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const unsigned *keys = keys_of(n, shape[1]), first = bits();
    unsigned *values = (unsigned *)i32_array(n), *out_keys = (unsigned *)i32_array(n);
    unsigned *out_values = (unsigned *)i32_array(n);
    for (size_t i = 0; i < n; i++) values[i] = first + (unsigned)i;
    call_cuda(function,
              ARGS(out_u32("out_keys", out_keys, n), out_u32("out_values", out_values, n),
                   in_u32("keys", keys, n), in_u32("values", values, n), u64(n), stream()));
    if (strncmp(function, "baseline_", 9) != 0) expect_sorted(out_keys, out_values, keys, first, n);
}

static void run_sort(const long *shape)
{
    sort_pairs("sort_pairs", shape);
}

/* ---- refused --------------------------------------------------------------------------------- */

static const unsigned long long too_many[] = {1ull << 31, 1ull << 32, (1ull << 32) + 5};

static void run_compact_refused(const long *shape)
{
    unsigned *x = keys_of(9, RANDOM), out[9], count;
    for (int i = 0; i < 3; i++)
        call_refused(INVALID_VALUE, "compact",
                     ARGS(out_u32("out", out, 9), out_u32("count", &count, 1), in_u32("in", x, 9),
                          u64(too_many[i]), i32(0), i32(9), stream()));
    run_compact(shape);
}

static void run_runs_refused(const long *shape)
{
    unsigned *x = keys_of(9, RANDOM), values[9], lengths[9], runs;
    for (int i = 0; i < 3; i++)
        call_refused(INVALID_VALUE, "run_lengths",
                     ARGS(out_u32("values", values, 9), out_u32("lengths", lengths, 9),
                          out_u32("runs", &runs, 1), in_u32("in", x, 9), u64(too_many[i]),
                          stream()));
    run_runs(shape);
}

static void run_sort_refused(const long *shape)
{
    unsigned *x = keys_of(9, RANDOM), keys[9], values[9];
    for (int i = 0; i < 3; i++)
        call_refused(INVALID_VALUE, "sort_pairs",
                     ARGS(out_u32("out_keys", keys, 9), out_u32("out_values", values, 9),
                          in_u32("keys", x, 9), in_u32("values", x, 9), u64(too_many[i]),
                          stream()));
    run_sort(shape);
}

#define KEEP(title, ...)                                                                           \
    {                                                                                              \
        .name = "compact " title, .run = run_compact, .shape = { __VA_ARGS__ }                     \
    }
#define RUNS(title, ...)                                                                           \
    {                                                                                              \
        .name = "runs " title, .run = run_runs, .shape = { __VA_ARGS__ }                           \
    }
#define SORT(title, ...)                                                                           \
    {                                                                                              \
        .name = "sort " title, .run = run_sort, .shape = { __VA_ARGS__ }                           \
    }

static const grading_case cases[] = {
    KEEP("n=0", 0, RANDOM, 0, MIDDLE),
    KEEP("n=1, kept", 1, RANDOM, 0, LARGEST),
    KEEP("n=33", 33, RANDOM, 0, MIDDLE),
    KEEP("n=257", 257, FEW, 1, 1),
    KEEP("n=4095, all", 4095, RANDOM, 0, LARGEST),
    KEEP("n=4096, none", 4096, FEW, 3, LARGEST),
    KEEP("n=4097, low > high", 4097, RANDOM, MIDDLE, MIDDLE - 1),
    KEEP("extremes, the upper half", 1000, EXTREMES, MIDDLE, LARGEST),
    KEEP("extremes, all but them", 1000, EXTREMES, 1, LARGEST - 1),
    KEEP("the last alone", 9000, RISING, 8999, 9999),
    {.name = "compact any",
     .run = run_compact,
     .shape = {1, RANDOM, 1 << 30, MIDDLE},
     .most = {60000, RANDOM, 1 << 30, MIDDLE}},
    {.name = "compact what is refused",
     .run = run_compact_refused,
     .shape = {70, RANDOM, 9, MIDDLE}},
    LONG_ROW("compact n=1048577", run_compact, 1048577, RANDOM, 0, MIDDLE),
    GPU_ROW("compact n=67108867", run_compact, 67108867, RANDOM, 0, MIDDLE),
    RUNS("n=0", 0),
    RUNS("n=1", 1, RISING),
    RUNS("n=33", 33, FEW),
    RUNS("of 1, n=257", 257, ALTERNATING),
    RUNS("one, n=4096", 4096, EQUAL),
    RUNS("one, n=4097", 4097, EQUAL),
    RUNS("one, n=9000", 9000, EQUAL),
    RUNS("of 256, n=12288", 12288, BLOCKS),
    RUNS("long, n=30000", 30000, LONG_RUNS),
    RUNS("extremes, n=5000", 5000, EXTREMES),
    {.name = "runs any", .run = run_runs, .shape = {1, FEW}, .most = {60000, FEW}},
    {.name = "runs what is refused", .run = run_runs_refused, .shape = {70, FEW}},
    LONG_ROW("runs n=1048577", run_runs, 1048577, FEW),
    GPU_ROW("runs n=67108867", run_runs, 67108867, FEW),
    SORT("n=0", 0),
    SORT("n=1", 1, RANDOM),
    SORT("n=33", 33, RANDOM),
    SORT("n=255", 255, RANDOM),
    SORT("n=256", 256, RANDOM),
    SORT("n=257", 257, RANDOM),
    SORT("n=4096", 4096, RANDOM),
    SORT("n=4097", 4097, RANDOM),
    SORT("all equal", 9001, EQUAL),
    SORT("few values", 9002, FEW),
    SORT("sorted", 5003, RISING),
    SORT("reversed", 5004, FALLING),
    SORT("extremes", 5005, EXTREMES),
    SORT("blocks of 0 and 1", 5120, BLOCKS),
    {.name = "sort any", .run = run_sort, .shape = {2}, .most = {20000}},
    {.name = "sort what is refused", .run = run_sort_refused, .shape = {70}},
    LONG_ROW("sort n=140001", run_sort, 140001, RANDOM),
    GPU_ROW("sort n=67108864", run_sort, 67108864, RANDOM),
    GPU_ROW("sort n=16777219, few values", run_sort, 16777219, FEW),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "a bitonic sort", .shape = "2^24 pairs"},
     .function = "sort_pairs",
     .baseline = "baseline_bitonic",
     .run = sort_pairs,
     .shape = {1 << 24},
     .where = ON_GPU,
     .threshold = 4.0},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^17 elements, half kept"},
     .function = "compact",
     .run = compact,
     .shape = {1 << 17, RANDOM, 0, MIDDLE},
     .count = moved_bytes,
     .ideal = 6.0 * (1 << 17),
     .bound = AT_MOST,
     .wanted = 3.5},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^17 elements, long runs"},
     .function = "run_lengths",
     .run = run_lengths,
     .shape = {1 << 17, LONG_RUNS},
     .count = moved_bytes,
     .ideal = 4.0 * (1 << 17),
     .bound = AT_MOST,
     .wanted = 8.0},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the pairs", .shape = "2^16 pairs"},
     .function = "sort_pairs",
     .run = sort_pairs,
     .shape = {1 << 16},
     .count = moved_bytes,
     .ideal = 16.0 * (1 << 16),
     .bound = AT_MOST,
     .wanted = 14.0},
    {.metric = {"instructions", .per = "warp", .shape = "2^16 pairs"},
     .function = "sort_pairs",
     .run = sort_pairs,
     .shape = {1 << 16},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 15000},
    {0},
};

EXERCISE(2c) = {
    .id = CHALLENGE(2, 'c'),
    .name = "radix_sort",
    .file = "phase2_cuda_basics/2c_radix_sort/2c_radix_sort.cu",
    .functions = {"compact", "run_lengths", "sort_pairs"},
    .prerequisites = {210},
    .own_prerequisites = true,
    .promises = {{"compact", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM},
                 {"run_lengths", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM},
                 {"sort_pairs", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM}},
    .baseline_file = "grader/exercises/2c_radix_sort/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "compact n=257",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
