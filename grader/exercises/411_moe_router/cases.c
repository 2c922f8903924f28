/* 411_moe_router: the router's probabilities, choices and gates, with exact ties, overflow and
 * NaN; lists of entries for crowds, empty experts and every capacity; bytes and launches. */
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/moe_cases.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define SEGMENTS     128 /* MOE_SEGMENTS */
#define SAMPLED_ROWS 64  /* tokens of a large call */

enum { INVALID_VALUE = 1 }; /* of cudaError_t */

/* ---- the router ------------------------------------------------------------------------------ */

typedef struct routing {
    long tokens, experts, top_k, cols;
    const float *input, *weights;
    int *ids;
    float *gates, *probs;
    bool exact; /* the logits are whole numbers: equal ones are equal in any order of the sums */
} routing;

static routing call_router(const char *function, const long *shape, const float *input,
                           const float *weights, bool exact)
{
    routing r = {shape[0], shape[1], shape[2], shape[3], input, weights, NULL, NULL, NULL, exact};
    const size_t entries = (size_t)(r.tokens * r.top_k), logits = (size_t)(r.tokens * r.experts);
    r.ids = i32_array(entries), r.gates = f32_array(entries), r.probs = f32_array(logits);
    call_cuda(
        function,
        ARGS(out_i32("expert_ids", r.ids, entries), out_f32("gate_scores", r.gates, entries),
             out_f32("probs", r.probs, logits), in_f32("input", input, (size_t)(r.tokens * r.cols)),
             in_f32("gate_weights", weights, (size_t)(r.experts * r.cols)), i32((int)r.tokens),
             i32((int)r.experts), i32((int)r.top_k), i32((int)r.cols), stream()));
    return r;
}

/* Of a large call some tokens. */
static routing sampled(routing r)
{
    const int *some = sampled_rows(SAMPLED_ROWS, r.tokens);
    int *ids = i32_array((size_t)(SAMPLED_ROWS * r.top_k));
    for (long i = 0; i < SAMPLED_ROWS * r.top_k; i++)
        ids[i] = r.ids[some[i / r.top_k] * r.top_k + i % r.top_k];
    r.ids = ids, r.input = rows_of(r.input, r.cols, some, SAMPLED_ROWS);
    r.gates = rows_of(r.gates, r.top_k, some, SAMPLED_ROWS);
    r.probs = rows_of(r.probs, r.experts, some, SAMPLED_ROWS), r.tokens = SAMPLED_ROWS;
    return r;
}

/* What belongs before expert b in a token's order. */
static bool comes_before(const double *logits, long a, long b)
{
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
}

/* The place of an expert in the order of a token. */
static long rank_of(const double *logits, long experts, long expert)
{
    long rank = 0;
    for (long e = 0; e < experts; e++) rank += comes_before(logits, e, expert);
    return rank;
}

static void expect_different_ids(const int *ids, long token, long top_k, long experts)
{
    bool *taken = (bool *)i32_array((size_t)experts);
    for (long j = 0; j < top_k; j++) {
        expect(ids[j] >= 0 && ids[j] < experts,
               "expert_ids[%ld][%ld] is %d, but there are %ld experts", token, j, ids[j], experts);
        expect(!taken[ids[j]], "expert_ids[%ld][%ld] is %d, which this token has chosen before",
               token, j, ids[j]);
        taken[ids[j]] = true;
    }
}

/* @param slack by how much logits may be mistaken for each other; 0: not at all */
static void expect_choices(const int *ids, const double *logits, long token, long top_k,
                           long experts, double slack)
{
    for (long j = 0; j < top_k; j++) {
        const long got = ids[j];
        if (rank_of(logits, experts, got) == j) continue;
        long want = 0;
        while (rank_of(logits, experts, want) != j) want++;
        if (slack > 0 && fabs(logits[got] - logits[want]) <= slack) continue;
        fail("expert_ids[%ld][%ld] is %ld, should be %ld%s", token, j, got, want,
             logits[got] == logits[want] ? ": of equal logits the lower expert comes first" : "");
    }
}

/* The largest finite sum of absolute terms among a token's logits. */
static double largest_terms(const double *terms, long experts)
{
    double most = 0;
    for (long e = 0; e < experts; e++) most = fmax(most, isfinite(terms[e]) ? terms[e] : 0);
    return most;
}

/* @return [tokens x experts] how far off a probability may be, in units of FP32_NORM_TOLERANCE */
static double *scale_of(const routing *r, const double *probs, const double *logits,
                        const double *terms)
{
    double *scale = f64_array((size_t)(r->tokens * r->experts));
    for (long t = 0; t < r->tokens; t++) {
        double top = -INFINITY;
        for (long i = t * r->experts; i < (t + 1) * r->experts; i++) top = fmax(top, logits[i]);
        const double most = largest_terms(terms + t * r->experts, r->experts);
        const double drift = 2 * FP32_SUM_TOLERANCE * most / FP32_NORM_TOLERANCE;
        for (long i = t * r->experts; i < (t + 1) * r->experts; i++) {
            const double depth = probs[i] > 0 ? top - logits[i] : 0;
            scale[i] = probs[i] * (1 + depth + sqrt((double)r->experts) / 64 + drift) + 1e-32;
        }
    }
    return scale;
}

static void suspect_gates(const routing *r, const double *probs)
{
    double *plain = f64_array((size_t)(r->tokens * r->top_k));
    for (long i = 0; i < r->tokens * r->top_k; i++)
        plain[i] = probs[i / r->top_k * r->experts + r->ids[i]];
    suspect("the gates are not divided by their sum", plain);
}

static void expect_gates(const routing *r, const double *probs, const double *scale)
{
    const size_t entries = (size_t)(r->tokens * r->top_k);
    double *want = f64_array(entries), *bound = f64_array(entries);
    for (long t = 0; t < r->tokens; t++) {
        double sum = 0;
        for (long i = t * r->top_k; i < (t + 1) * r->top_k; i++)
            sum += probs[t * r->experts + r->ids[i]];
        for (long i = t * r->top_k; i < (t + 1) * r->top_k; i++) {
            const long at = t * r->experts + r->ids[i];
            want[i] = probs[at] / sum, bound[i] = 2 * scale[at] / sum;
        }
    }
    const layout l = {"gate_scores", (size_t)r->tokens, (size_t)r->top_k};
    if (!is_close(l, r->gates, want, bound, FP32_NORM_TOLERANCE)) suspect_gates(r, probs);
    expect_close(l, r->gates, want, bound, FP32_NORM_TOLERANCE);
}

static void expect_routing(routing r)
{
    if (r.tokens * r.experts * r.cols > 100000000L) r = sampled(r);
    const size_t size = (size_t)(r.tokens * r.experts);
    double *logits = f64_array(size), *terms = f64_array(size), *probs = f64_array(size);
    float *rounded = f32_array(size);
    const float *across = transposed(r.weights, r.experts, r.cols);
    reference_matmul(logits, terms, r.input, across, r.tokens, r.experts, r.cols);
    for (long t = 0; t < r.tokens; t++) {
        double *logit = logits + t * r.experts, top = -INFINITY, sum = 0;
        for (long e = 0; e < r.experts; e++) top = fmax(top, logit[e]);
        for (long e = 0; e < r.experts; e++) sum += exp(logit[e] - top);
        for (long e = 0; e < r.experts; e++) probs[t * r.experts + e] = exp(logit[e] - top) / sum;
        const int *ids = r.ids + t * r.top_k;
        expect_different_ids(ids, t, r.top_k, r.experts);
        if (isnan(sum)) continue;
        expect_choices(
            ids, logit, t, r.top_k, r.experts,
            r.exact ? 0 : 2 * FP32_SUM_TOLERANCE * largest_terms(terms + t * r.experts, r.experts));
    }
    const double *scale = scale_of(&r, probs, logits, terms);
    const layout l = {"probs", (size_t)r.tokens, (size_t)r.experts};
    if (!is_close(l, r.probs, probs, scale, FP32_NORM_TOLERANCE)) {
        for (size_t i = 0; i < size; i++) rounded[i] = (float)logits[i];
        suspect_softmax(probs, rounded, r.tokens, r.experts);
    }
    expect_close(l, r.probs, probs, scale, FP32_NORM_TOLERANCE);
    expect_gates(&r, probs, scale);
}

/* shape of the router's cases: num_tokens, num_experts, top_k, hidden_dim, highest weight (0: 1) */
static void run_random(const long *shape)
{
    const float high = shape[4] ? (float)shape[4] : 1.0f;
    const float *input = random_f32((size_t)(shape[0] * shape[3]));
    const float *weights = random_f32_between((size_t)(shape[1] * shape[3]), -high, high);
    expect_routing(call_router("moe_router", shape, input, weights, false));
}

static float *whole_numbers(size_t count, int low, int high)
{
    const int *whole = random_i32(count, low, high + 1);
    float *x = f32_array(count);
    for (size_t i = 0; i < count; i++) x[i] = (float)whole[i];
    return x;
}

/* Few different logits, so that most choices are between equal ones. */
static void run_ties(const long *shape)
{
    const float *input = whole_numbers((size_t)(shape[0] * shape[3]), 0, 1);
    const float *weights = whole_numbers((size_t)(shape[1] * shape[3]), -1, 1);
    expect_routing(call_router("moe_router", shape, input, weights, true));
}

static void run_all_equal(const long *shape)
{
    const float *input = random_f32((size_t)(shape[0] * shape[3]));
    expect_routing(
        call_router("moe_router", shape, input, f32_array((size_t)(shape[1] * shape[3])), true));
}

static void run_all_negative(const long *shape)
{
    const float *input = whole_numbers((size_t)(shape[0] * shape[3]), 20, 30);
    const float *weights = whole_numbers((size_t)(shape[1] * shape[3]), -9, -3);
    expect_routing(call_router("moe_router", shape, input, weights, true));
}

/* One token has a NaN, another an infinity; then an expert has one. */
static void run_special(const long *shape)
{
    float *input = random_f32((size_t)(shape[0] * shape[3]));
    input[3 * shape[3] + shape[3] / 2] = NAN;
    input[5 * shape[3]] = INFINITY;
    float *weights = random_f32((size_t)(shape[1] * shape[3]));
    expect_routing(call_router("moe_router", shape, input, weights, false));
    const long first_alone[] = {shape[0], shape[1], 1, shape[3]};
    weights[7 * shape[3]] = NAN; /* an expert's: every token has it among its logits */
    expect_routing(call_router("moe_router", first_alone, random_f32((size_t)(shape[0] * shape[3])),
                               weights, false));
}

/* An expert whose weights are -infinity is never worth anything. */
static void run_closed(const long *shape)
{
    float *weights = random_f32((size_t)(shape[1] * shape[3]));
    for (long i = 0; i < shape[3]; i++) weights[2 * shape[3] + i] = -INFINITY;
    const float *input = random_f32_between((size_t)(shape[0] * shape[3]), 0.5f, 1.0f);
    expect_routing(call_router("moe_router", shape, input, weights, false));
}

static argument *router_arguments(int tokens, int experts, int top_k)
{
    enum { TOKENS = 3, COLS = 4, MOST = 8 };
    static argument a[10];
    const argument all[] = {out_i32("expert_ids", i32_array(TOKENS * MOST), TOKENS * MOST),
                            out_f32("gate_scores", f32_array(TOKENS * MOST), TOKENS * MOST),
                            out_f32("probs", f32_array(TOKENS * MOST), TOKENS * MOST),
                            in_f32("input", random_f32(TOKENS * COLS), TOKENS * COLS),
                            in_f32("gate_weights", random_f32(MOST * COLS), MOST * COLS),
                            i32(tokens),
                            i32(experts),
                            i32(top_k),
                            i32(COLS),
                            stream()};
    memcpy(a, all, sizeof all);
    return a;
}

static void run_router_refused(const long *shape)
{
    static const int wrong[][2] = {{0, 1}, {-1, 1}, {4, 0}, {4, -1}, {4, 5}};
    for (int i = 0; i < 10; i++) /* without tokens, too */
        call_refused(INVALID_VALUE, "moe_router",
                     router_arguments(i < 5 ? 3 : 0, wrong[i % 5][0], wrong[i % 5][1]), 10);
    run_random(shape);
}

/* ---- the lists ------------------------------------------------------------------------------- */

static float *random_probs(long tokens, long experts, bool balanced)
{
    float *probs = random_f32_between((size_t)(tokens * experts), 0.0f, 1.0f);
    for (long t = 0; t < tokens; t++) {
        float *row = probs + t * experts, sum = 0.0f;
        for (long e = 0; e < experts; e++) sum += row[e];
        for (long e = 0; e < experts; e++) row[e] = balanced ? 1.0f / (float)experts : row[e] / sum;
    }
    return probs;
}

typedef struct lists {
    long tokens, experts, top_k, capacity;
    const int *ids;
    const float *probs;
    int *permutation, *offsets;
    float *utilization, loss;
    int dropped;
} lists;

/* metrics is an address and 8 bytes; what these hold before the call is an address, too. */
static lists call_permute(const long *shape, const int *ids, const float *probs)
{
    lists l = {shape[0], shape[1], shape[2], shape[3], ids, probs, NULL, NULL, NULL, 0, 0};
    const size_t entries = (size_t)(l.tokens * l.top_k), experts = (size_t)l.experts;
    enum { UTILIZATION = 11 }; /* its number */
    unsigned long long metrics[2] = {UTILIZATION, 0};
    l.permutation = i32_array(entries), l.offsets = i32_array(experts + 1);
    l.utilization = f32_array(experts);
    int *scratch = i32_array(2 * SEGMENTS * experts);
    call_cuda("moe_permute",
              ARGS(out_i32("permutation", l.permutation, entries),
                   out_i32("offsets", l.offsets, experts + 1),
                   inout_of(ELEMENT_ADDRESS, "metrics", metrics, 2),
                   out_i32("scratch", scratch, 2 * SEGMENTS * experts),
                   in_i32("expert_ids", ids, entries),
                   in_f32("probs", probs, (size_t)(l.tokens * l.experts)), i32((int)l.tokens),
                   i32((int)l.experts), i32((int)l.top_k), i32((int)l.capacity), stream(),
                   beside(out_f32("expert_utilization", l.utilization, experts))));
    expect(metrics[0] != 0, "metrics->expert_utilization is NULL afterwards: it is the caller's");
    memcpy(&l.loss, &metrics[1], sizeof l.loss);
    memcpy(&l.dropped, (char *)&metrics[1] + sizeof l.loss, sizeof l.dropped);
    return l;
}

static void expect_metrics(const lists *l, int dropped)
{
    const double entries = (double)l->tokens * (double)l->top_k;
    double *utilization = f64_array((size_t)l->experts), loss = 0;
    double *of_kept = f64_array((size_t)l->experts);
    for (long i = 0; i < l->tokens * l->top_k; i++) utilization[l->ids[i]] += 1 / entries;
    for (long e = 0; e < l->experts; e++)
        of_kept[e] = fmin(utilization[e], l->capacity > 0 ? (double)l->capacity / entries : 1);
    for (long e = 0; e < l->experts && l->tokens > 0; e++) {
        double mean = 0;
        for (long t = 0; t < l->tokens; t++) mean += l->probs[t * l->experts + e];
        loss += utilization[e] * mean / (double)l->tokens;
    }
    const double drift = 1 + sqrt((double)l->tokens) / 64; /* of a sum over the tokens */
    if (dropped > 0) suspect("dropped entries are not counted: they should be", of_kept);
    expect_close((layout){"expert_utilization", 1, (size_t)l->experts}, l->utilization, utilization,
                 utilization, FP32_NORM_TOLERANCE);
    const double terms = loss * (double)l->experts;
    const layout of_loss = {"load_balance_loss", 1, 1};
    if (l->experts > 1 && l->tokens > 0)
        suspect("the loss is not multiplied by num_experts", &loss);
    expect_close(of_loss, &l->loss, &terms, &terms, drift * FP32_NORM_TOLERANCE);
    expect(l->dropped == dropped, "dropped_tokens is %d, should be %d", l->dropped, dropped);
}

/* shape of the lists' cases: num_tokens, num_experts, top_k, capacity, spread, a NaN in probs */
static void run_lists(const long *shape)
{
    float *probs = random_probs(shape[0], shape[1], shape[4] == BALANCED);
    if (shape[5]) sprinkle_f32(probs, (size_t)(shape[0] * shape[1]), NAN, 1);
    const int *ids = moe_choices(shape[0], shape[1], shape[2], shape[4]);
    const lists l = call_permute(shape, ids, probs);
    const size_t entries = (size_t)(l.tokens * l.top_k), experts = (size_t)l.experts;
    int *permutation = i32_array(entries), *offsets = i32_array(experts + 1);
    moe_lists(permutation, offsets, l.ids, l.tokens, l.experts, l.top_k, l.capacity);
    expect_equal_i32((layout){"offsets", 1, experts + 1}, l.offsets, offsets);
    expect_equal_i32((layout){"permutation", 1, entries}, l.permutation, permutation);
    expect_metrics(&l, (int)entries - offsets[experts]);
    if (shape[4] == BALANCED) expect_near("load_balance_loss at balance", l.loss, 1.0, 1e-5);
}

static void run_lists_refused(const long *shape)
{
    static const int wrong[][3] = {{0, 1, 0}, {4, 0, 0}, {4, 5, 0}, {4, 1, -1}};
    const int *ids = i32_array(24);
    const float *probs = random_probs(3, 8, true);
    for (int i = 0; i < 8; i++) /* without tokens, too */
        call_refused(
            INVALID_VALUE, "moe_permute",
            ARGS(out_i32("permutation", i32_array(24), 24), out_i32("offsets", i32_array(9), 9),
                 inout_of(ELEMENT_ADDRESS, "metrics", ((unsigned long long[2]){11, 0}), 2),
                 out_i32("scratch", i32_array(16 * SEGMENTS), 16 * SEGMENTS),
                 in_i32("expert_ids", ids, 24), in_f32("probs", probs, 24), i32(i < 4 ? 3 : 0),
                 i32(wrong[i % 4][0]), i32(wrong[i % 4][1]), i32(wrong[i % 4][2]), stream(),
                 beside(out_f32("expert_utilization", f32_array(8), 8))));
    run_lists(shape);
}

/* What the router says is what the lists are made of. */
static void run_both(const long *shape)
{
    const float *input = random_f32((size_t)(shape[0] * shape[3]));
    const float *weights = random_f32((size_t)(shape[1] * shape[3]));
    const routing r = call_router("moe_router", shape, input, weights, false);
    expect_routing(r);
    const lists l = call_permute((long[]){shape[0], shape[1], shape[2], shape[4]}, r.ids, r.probs);
    int *permutation = i32_array((size_t)(l.tokens * l.top_k));
    int *offsets = i32_array((size_t)l.experts + 1);
    moe_lists(permutation, offsets, l.ids, l.tokens, l.experts, l.top_k, l.capacity);
    expect_equal_i32((layout){"permutation", 1, (size_t)(l.tokens * l.top_k)}, l.permutation,
                     permutation);
    expect_metrics(&l, (int)(l.tokens * l.top_k) - offsets[l.experts]);
}

#define ROUTE(title, runner, ...)                                                                  \
    {                                                                                              \
        .name = title, .run = runner, .shape = { __VA_ARGS__ }                                     \
    }
#define LISTS(title, ...)                                                                          \
    {                                                                                              \
        .name = title, .run = run_lists, .shape = { __VA_ARGS__ }                                  \
    }

static const grading_case cases[] = {
    ROUTE("route 1 token, 1 expert", run_random, 1, 1, 1, 1),
    ROUTE("route 5 tokens, 3 experts, top 1, d 2", run_random, 5, 3, 1, 2),
    ROUTE("route 70 tokens, 10 experts, top 2, d 33", run_random, 70, 10, 2, 33),
    ROUTE("route 65 tokens, 64 experts, top 2, d 64", run_random, 65, 64, 2, 64),
    ROUTE("route 9 tokens, 100 experts, top 8, d 36", run_random, 9, 100, 8, 36),
    ROUTE("route 7 tokens, 33 experts, top 33, d 12", run_random, 7, 33, 33, 12),
    ROUTE("route 0 tokens", run_random, 0, 8, 2, 16),
    ROUTE("route d 0", run_all_equal, 5, 6, 3, 0),
    {.name = "route any", .run = run_random, .shape = {1, 2, 1, 1}, .most = {150, 80, 2, 70}},
    ROUTE("route ties, 37 tokens, 50 experts, top 5", run_ties, 37, 50, 5, 4),
    ROUTE("route all equal", run_all_equal, 6, 40, 4, 8),
    ROUTE("route all negative", run_all_negative, 9, 12, 3, 40),
    ROUTE("route large logits", run_random, 11, 130, 3, 40, 1000),
    ROUTE("route nan and infinity", run_special, 10, 20, 4, 24),
    ROUTE("route an expert at -infinity", run_closed, 6, 5, 5, 8),
    ROUTE("route what is refused", run_router_refused, 4, 5, 2, 6),
    LONG_ROW("route 70001 tokens", run_random, 70001, 2, 1, 1),
    LONG_ROW("route 1100 experts, top 1050", run_ties, 2, 1100, 1050, 4),
    LONG_ROW("route d 70001", run_random, 1, 2, 1, 70001),
    {.name = "lists 1 token, 1 expert",
     .run = run_lists,
     .shape = {1, 1, 1},
     .part = "moe_permute"},
    LISTS("lists 100 tokens, 7 experts, top 2", 100, 7, 2),
    LISTS("lists 1000 tokens, 64 experts, top 2", 1000, 64, 2, 0, SKEWED),
    LISTS("lists 129 tokens, 33 experts, top 33", 129, 33, 33),
    {.name = "lists any", .run = run_lists, .shape = {1, 4, 2}, .most = {700, 90, 4, 30}},
    LISTS("lists one expert gets all", 300, 5, 1, 0, TO_ONE),
    LISTS("lists one expert gets all, capacity 100", 300, 5, 1, 100, TO_ONE),
    LISTS("lists empty experts", 200, 9, 3, 0, EVEN_ONLY),
    LISTS("lists capacity 1, a nan", 150, 6, 2, 1, SKEWED, true),
    LISTS("lists capacity 40, skewed", 500, 10, 2, 40, SKEWED),
    LISTS("lists balanced", 160, 40, 2, 0, BALANCED),
    LISTS("lists 0 tokens", 0, 5, 2, 3),
    {.name = "lists what is refused", .run = run_lists_refused, .shape = {20, 5, 2, 4}},
    {.name = "route and lists", .run = run_both, .shape = {90, 12, 2, 20, 10}},
    LONG_ROW("lists 70001 tokens, one expert gets all", run_lists, 70001, 3, 1, 66000, TO_ONE),
    LONG_ROW("lists 1100 experts, top 1030", run_lists, 3, 1100, 1030, 1100),
    LONG_ROW("lists capacity 2^31 - 1", run_lists, 5, 3, 2, INT_MAX),
    {.name = "route 16384 tokens, 64 experts, top 2, d 1024",
     .run = run_random,
     .shape = {16384, 64, 2, 1024},
     .where = ON_GPU,
     .once = true,
     .part = "moe_router"},
    {.name = "lists 262144 tokens, 128 experts, top 4",
     .run = run_lists,
     .shape = {262144, 128, 4, 9000, SKEWED},
     .where = ON_GPU,
     .once = true,
     .part = "moe_permute"},
    {0},
};

/* A timed or counted call. */
static void run_timed(const char *function, const long *shape)
{
    const float *input = random_f32((size_t)(shape[0] * shape[3]));
    const float *weights = random_f32_between((size_t)(shape[1] * shape[3]), -0.1f, 0.1f);
    const routing r = call_router(function, shape, input, weights, false);
    if (strncmp(function, "baseline_", 9) != 0) expect_routing(r);
}

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one warp per token",
                .shape = "16384 tokens, 64 experts, top 2, d 1024"},
     .function = "moe_router",
     .baseline = "baseline_moe_router",
     .run = run_timed,
     .shape = {16384, 64, 2, 1024},
     .where = ON_GPU,
     .threshold = 3.0,
     .flop = 2.0 * 16384 * 64 * 1024,
     .peer_share = 0.04,
     .bytes = 4.0 * 16384 * (1024 + 64 + 4)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = "bytes of input, weights and results",
                .shape = "192 tokens, 64 experts, d 256"},
     .function = "moe_router",
     .run = run_timed,
     .shape = {192, 64, 2, 256},
     .count = moved_bytes,
     .ideal = 4.0 * (192 * 256 + 64 * 256 + 192 * (64 + 4)),
     .bound = AT_MOST,
     .wanted = 4.0,
     .begin = 322.319},
    {.metric = {"kernel launches", .shape = "192 tokens, 64 experts, d 256"},
     .function = "moe_router",
     .run = run_timed,
     .shape = {192, 64, 2, 256},
     .count = kernel_launches,
     .bound = AT_MOST,
     .wanted = 1.0},
    {.metric = {"instructions", .per = "warp", .shape = "8192 tokens, 64 experts, d 64"},
     .function = "moe_router",
     .run = run_timed,
     .shape = {8192, 64, 2, 64},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 30000},
    {0},
};

EXERCISE(411) = {
    .id = 411,
    .name = "moe_router",
    .file = "phase4_optimization/411_moe_router/411_moe_router.cu",
    .functions = {"moe_router", "moe_permute"},
    .baseline_file = "grader/exercises/411_moe_router/baseline.cu",
    .exponentials = true,
    .points = 20,
    .speed_points = 5,
    .see = "route 5 tokens, 3 experts, top 1, d 2",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
