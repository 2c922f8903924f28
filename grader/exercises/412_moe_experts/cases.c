/* 412_moe_experts: experts of every size, empty ones, dropped tokens; sums that are exact in any
 * order, and what gelu and bf16 make of others; launches, tensor instructions and bytes. */
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/matmul_half_cases.h"
#include "exercises/shared/moe_cases.h"

#include <math.h>
#include <string.h>

#define SETS           8  /* of weights, at most: where there are more experts they share them */
#define SAMPLED_TOKENS 16 /* of a large call */

enum { INVALID_VALUE = 1 };        /* of cudaError_t */
enum { NOTHING_KEPT = -1 };        /* a capacity that drops every token */
enum { FIRST_WEIGHTS = 13 };       /* number of the argument */
enum { RANDOM, WHOLE, NANS, FAR }; /* what the numbers are */

/* The sizes of a case, and what the call is made with: inputs in bf16, and as floats. */
typedef struct moe {
    long tokens, experts, top_k, dim, ffn;
    int sets;                            /* of weights */
    void *input16, *weights16[2 * SETS]; /* up of each set, then down of each */
    float *input, *weights[2 * SETS];
    unsigned long long *pointers; /* [2 x experts] numbers of arguments */
    int *permutation, *offsets;
    float *gates, *output;
} moe;

/* So many numbers in bf16; *x: the same as floats. WHOLE: 0 and 1. */
static void *numbers(float **x, size_t count, long kind, float high)
{
    *x = random_f32_between(count, kind == WHOLE ? 0.0f : -high, high);
    for (size_t i = 0; i < count && kind == WHOLE; i++) (*x)[i] = (*x)[i] < high / 2 ? 0.0f : 1.0f;
    return upper_halves(*x, count);
}

/* Gates that sum to 1; of whole numbers, powers of two. */
static float *random_gates(long tokens, long top_k, long kind)
{
    float *gates = random_f32_between((size_t)(tokens * top_k), 0.1f, 1.0f);
    for (long t = 0; t < tokens; t++) {
        float *row = gates + t * top_k, sum = 0.0f;
        for (long j = 0; j < top_k; j++) sum += row[j];
        for (long j = 0; j < top_k; j++)
            row[j] = kind == WHOLE ? ldexpf(1.0f, -(int)(j % 4)) : row[j] / sum;
    }
    return gates;
}

/* shape: tokens, experts, top_k, hidden_dim, ffn_dim, spread, capacity, numbers */
static moe draw(const long *shape)
{
    moe m = {.tokens = shape[0],
             .experts = shape[1],
             .top_k = shape[2],
             .dim = shape[3],
             .ffn = shape[4],
             .sets = shape[1] < SETS ? (int)shape[1] : SETS};
    const long kind = shape[7], entries = m.tokens * m.top_k;
    const size_t size = (size_t)(m.dim * m.ffn);
    m.input16 = numbers(&m.input, (size_t)(m.tokens * m.dim), kind, 2.0f);
    for (int i = 0; i < 2 * m.sets; i++) {
        const float up = kind == FAR ? 60.0f : 2.0f; /* sums of FAR: exp of them overflows */
        const float high = i < m.sets ? up / sqrtf((float)m.dim + 1.0f) : 1.0f;
        m.weights16[i] = numbers(&m.weights[i], size, kind, high);
    }
    m.pointers = (unsigned long long *)f64_array((size_t)(2 * m.experts));
    const int *set = random_i32((size_t)m.experts, 0, m.sets);
    for (long e = 0; e < m.experts; e++) {
        const int number = FIRST_WEIGHTS + (m.experts <= SETS ? (int)e : set[e]);
        m.pointers[e] = (unsigned long long)number;
        m.pointers[m.experts + e] = (unsigned long long)(number + m.sets);
    }
    m.permutation = i32_array((size_t)entries), m.offsets = i32_array((size_t)m.experts + 1);
    const int *ids = moe_choices(m.tokens, m.experts, m.top_k, shape[5]);
    if (shape[6] == NOTHING_KEPT) {
        for (long i = 0; i < entries; i++) m.permutation[i] = -1;
    } else {
        moe_lists(m.permutation, m.offsets, ids, m.tokens, m.experts, m.top_k, shape[6]);
    }
    m.gates = random_gates(m.tokens, m.top_k, kind);
    m.output = f32_array((size_t)(m.tokens * m.dim));
    return m;
}

/* @return how many arguments */
static int arguments_of(const moe *m, argument *a)
{
    const size_t entries = (size_t)(m->tokens * m->top_k), size = (size_t)(m->dim * m->ffn);
    const size_t in = (size_t)(m->tokens * m->dim), hidden = entries * (size_t)m->ffn;
    const argument first[] = {
        out_f32("output", m->output, in),
        shifted(out_of(ELEMENT_BF16, "hidden", array_of(ELEMENT_BF16, hidden), hidden), 16),
        shifted(in_of(ELEMENT_BF16, "input", m->input16, in), 16),
        addresses("expert_weights", m->pointers, (size_t)(2 * m->experts)),
        in_i32("permutation", m->permutation, entries),
        in_i32("offsets", m->offsets, (size_t)m->experts + 1),
        in_f32("gate_scores", m->gates, entries),
        i32((int)m->tokens),
        i32((int)m->experts),
        i32((int)m->top_k),
        i32((int)m->dim),
        i32((int)m->ffn),
        stream()};
    memcpy(a, first, sizeof first);
    for (int i = 0; i < 2 * m->sets; i++) {
        a[FIRST_WEIGHTS + i] = beside(
            shifted(in_of(ELEMENT_BF16, i < m->sets ? "up" : "down", m->weights16[i], size), 16));
    }
    return FIRST_WEIGHTS + 2 * m->sets;
}

static double gelu(double x)
{
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double rounded(double x)
{
    uint16_t bits;
    element_store(ELEMENT_BF16, &bits, 0, x);
    return element_value(ELEMENT_BF16, &bits, 0);
}

/* y[dim] += gate * what the expert of these weights makes of x, and bound[dim] by how far off that
 * may be. Where the value before gelu is a little off, its bf16 may be the next one: then by a part
 * of the root of the squares, for rounding errors do not conspire. */
static void add_expert(double *y, double *bound, const float *x, const float *up, const float *down,
                       double gate, const moe *m, bool exact)
{
    double *hidden = f64_array((size_t)m->ffn);
    for (long f = 0; f < m->ffn; f++) {
        double sum = 0;
        for (long i = 0; i < m->dim; i++) sum += (double)x[i] * up[f * m->dim + i];
        hidden[f] = rounded(gelu(sum));
    }
    for (long i = 0; i < m->dim; i++) {
        double sum = 0, terms = 0, squares = 0;
        for (long f = 0; f < m->ffn; f++) {
            const double term = hidden[f] * down[i * m->ffn + f];
            sum += term, terms += fabs(term), squares += term * term;
        }
        y[i] += gate * sum;
        bound[i] += gate * (FP32_SUM_TOLERANCE * terms + (exact ? 0 : sqrt(squares) / 128));
    }
}

/* The outputs of these tokens. */
static void expect_tokens(const moe *m, const int *tokens, long count, bool exact)
{
    const size_t size = (size_t)(count * m->dim);
    double *want = f64_array(size), *bound = f64_array(size), *ungated = f64_array(size);
    double *of_row = f64_array(size);
    for (long e = 0; e < m->experts; e++) {
        const int set = (int)m->pointers[e] - FIRST_WEIGHTS;
        for (long row = m->offsets[e]; row < m->offsets[e + 1]; row++) {
            const int entry = m->permutation[row];
            for (long t = 0; t < count; t++) {
                if (entry / m->top_k != tokens[t]) continue;
                double *y = f64_array((size_t)m->dim);
                add_expert(y, bound + t * m->dim, m->input + tokens[t] * m->dim, m->weights[set],
                           m->weights[m->sets + set], m->gates[entry], m, exact);
                for (long i = 0; i < m->dim; i++) {
                    want[t * m->dim + i] += y[i];
                    ungated[t * m->dim + i] += y[i] / m->gates[entry];
                    of_row[t * m->dim + i] += y[i] / m->gates[entry] * m->gates[row];
                }
            }
        }
    }
    const layout l = {"output", (size_t)count, (size_t)m->dim};
    const float *got = rows_of(m->output, m->dim, tokens, count);
    if (!is_close(l, got, want, bound, 1.0)) {
        suspect("the gates are left out", ungated);
        suspect("the gate is read at the row, not at the entry permutation[row]", of_row);
    }
    expect_close(l, got, want, bound, 1.0);
}

static void expect_output(const moe *m, bool exact)
{
    const bool small = m->tokens * m->top_k * m->dim * m->ffn < 20000000L && m->tokens < 2000;
    const long count = small ? m->tokens : SAMPLED_TOKENS;
    int *tokens = small ? i32_array((size_t)count) : sampled_rows(count, m->tokens);
    for (long t = 0; t < count && small; t++) tokens[t] = (int)t;
    expect_tokens(m, tokens, count, exact);
}

static void call_and_check(const char *function, const long *shape)
{
    const moe m = draw(shape);
    argument a[FIRST_WEIGHTS + 2 * SETS];
    call_cuda(function, a, arguments_of(&m, a));
    if (strncmp(function, "baseline_", 9) != 0) expect_output(&m, shape[7] == WHOLE);
}

static void run(const long *shape)
{
    call_and_check("moe_experts_compute", shape);
}

/* A token with a NaN, and a set of weights with one: what has to do with neither is as ever. */
static void run_nan(const long *shape)
{
    const uint16_t nan = 0x7fc0;
    moe m = draw(shape);
    ((uint16_t *)m.input16)[3 * m.dim + 1] = nan, m.input[3 * m.dim + 1] = NAN;
    ((uint16_t *)m.weights16[1])[m.dim + 2] = nan, m.weights[1][m.dim + 2] = NAN;
    argument a[FIRST_WEIGHTS + 2 * SETS];
    call_cuda("moe_experts_compute", a, arguments_of(&m, a));
    expect_output(&m, false);
}

static void run_refused(const long *shape)
{
    static const int wrong[][4] = {{0, 1, 16, 16},  {2, 0, 16, 16},  {2, 1, 12, 16},
                                   {-1, 1, 16, 16}, {2, -1, 16, 16}, {2, 1, 16, 4}};
    enum { TOKENS = 7, EXPERTS, TOP_K, DIM, FFN };
    const moe m = draw(shape);
    for (int i = 0; i < 12; i++) { /* without tokens, too */
        argument a[FIRST_WEIGHTS + 2 * SETS];
        const int count = arguments_of(&m, a);
        a[EXPERTS] = i32(wrong[i % 6][0]), a[TOP_K] = i32(wrong[i % 6][1]);
        a[DIM] = i32(wrong[i % 6][2]), a[FFN] = i32(wrong[i % 6][3]);
        if (i >= 6) a[TOKENS] = i32(0);
        call_refused(INVALID_VALUE, "moe_experts_compute", a, count);
    }
    run(shape);
}

#define CASE(title, ...)                                                                           \
    {                                                                                              \
        .name = title, .run = run, .shape = { __VA_ARGS__ }                                        \
    }

static const grading_case cases[] = {
    CASE("1 token, 1 expert, 8 -> 8", 1, 1, 1, 8, 8),
    CASE("5 tokens, 3 experts, top 1, 16 -> 24", 5, 3, 1, 16, 24),
    CASE("40 tokens, 8 experts, top 2, 64 -> 136", 40, 8, 2, 64, 136),
    CASE("300 tokens, 1 expert, 40 -> 72", 300, 1, 1, 40, 72),
    CASE("9 tokens, 4 experts, top 4, 136 -> 200", 9, 4, 4, 136, 200),
    {.name = "any", .run = run, .shape = {1, 4, 1, 24, 40}, .most = {150, 14, 4}},
    CASE("skewed, 260 tokens, 7 experts, top 2", 260, 7, 2, 24, 32, SKEWED),
    CASE("tiles of wgmma, 300 tokens, 5 experts, top 2, 136 -> 520", 300, 5, 2, 136, 520),
    CASE("one expert gets all, 150 tokens", 150, 6, 1, 32, 16, TO_ONE),
    CASE("empty experts, 50 tokens", 50, 9, 2, 24, 40, EVEN_ONLY),
    CASE("capacity 10, 90 tokens", 90, 5, 1, 24, 16, SKEWED, 10),
    CASE("all are dropped", 12, 5, 2, 16, 16, UNIFORM, NOTHING_KEPT),
    CASE("whole numbers, 70 tokens", 70, 3, 2, 64, 48, UNIFORM, 0, WHOLE),
    CASE("whole numbers, long sums", 12, 1, 1, 400, 456, UNIFORM, 0, WHOLE),
    {.name = "nan", .run = run_nan, .shape = {30, 5, 1, 24, 24, UNIFORM, 0, NANS}},
    CASE("sums far from 0, 40 tokens", 40, 3, 2, 24, 40, UNIFORM, 0, FAR),
    CASE("0 tokens", 0, 3, 2, 16, 16),
    CASE("0 -> 16", 5, 3, 2, 0, 16),
    CASE("16 -> 0", 5, 3, 2, 16, 0),
    {.name = "what is refused", .run = run_refused, .shape = {6, 2, 1, 16, 16}},
    LONG_ROW("70001 tokens", run, 70001, 2, 1, 8, 8),
    LONG_ROW("1100 experts, top 1030", run, 1, 1100, 1030, 8, 8),
    LONG_ROW("66056 -> 8", run, 1, 1, 1, 66056, 8),
    LONG_ROW("8 -> 66056", run, 1, 1, 1, 8, 66056),
    GPU_ROW("16384 tokens, 64 experts, top 2, 1024 -> 2048", run, 16384, 64, 2, 1024, 2048),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "two launches per expert",
                .shape = "64 experts of 16 tokens, 256 → 512"},
     .function = "moe_experts_compute",
     .baseline = "baseline_moe_experts",
     .run = call_and_check,
     .shape = {512, 64, 2, 256, 512},
     .where = ON_GPU,
     .threshold = 3.0,
     .flop = 4.0 * 512 * 2 * 256 * 512,
     .precision = IN_HALF,
     .peer_share = 0.0011},
    {.metric = {"speedup", .over = "two launches per expert",
                .shape = "16384 tokens, 64 experts, 1024 → 2048"},
     .function = "moe_experts_compute",
     .baseline = "baseline_moe_experts",
     .run = call_and_check,
     .shape = {16384, 64, 2, 1024, 2048},
     .where = ON_GPU,
     .threshold = 3.0,
     .flop = 4.0 * 16384 * 2 * 1024 * 2048,
     .precision = IN_HALF,
     .peer_share = 0.09},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"kernel launches", .shape = "12 experts"},
     .function = "moe_experts_compute",
     .run = call_and_check,
     .shape = {40, 12, 2, 16, 16},
     .count = kernel_launches,
     .by_any_compiler = true,
     .bound = AT_MOST,
     .wanted = 2.0},
    {.metric = {"tensor instructions", .per = "16 × 16 × 16 product",
                .shape = "128 tokens, 64 → 128"},
     .function = "moe_experts_compute",
     .run = call_and_check,
     .shape = {128, 1, 1, 64, 128},
     .count = tensor_instructions,
     .by_any_compiler = true,
     .ideal = 2.0 * 8 * 4 * 8,
     .bound = AT_LEAST,
     .multiplications = 2.0 * 128 * 64 * 128,
     .wanted = 1.0},
    {.metric = {"DRAM bytes", .relative_to = "bytes of the expert weights",
                .shape = "32 tokens, 4 experts, 64 → 128"},
     .function = "moe_experts_compute",
     .run = call_and_check,
     .shape = {32, 4, 1, 64, 128, BALANCED},
     .count = moved_bytes,
     .by_any_compiler = true,
     .ideal = 2.0 * 4 * 2 * 64 * 128,
     .bound = AT_MOST,
     .wanted = 4.0,
     .begin = 4.797},
    {0},
};

EXERCISE(412) = {
    .id = 412,
    .name = "moe_experts",
    .file = "phase4_optimization/412_moe_experts/412_moe_experts.cu",
    .parts = {"phase4_optimization/412_moe_experts/412_hopper.cuh"},
    .sm_90a = true,
    .softgpu_90 = true,
    .functions = {"moe_experts_compute"},
    .promises = {{"moe_experts_compute", WAITS_FOR_NOTHING, .launches = 2}},
    .baseline_file = "grader/exercises/412_moe_experts/baseline.cu",
    .exponentials = true,
    .points = 20,
    .speed_points = 10,
    .see = "5 tokens, 3 experts, top 1, 16 -> 24",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
