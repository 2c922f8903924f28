/* 312_embedding: the embedding and its gradient for crowds of equal tokens; sums; dropout held to
 * Philox's specification, word by word. */
#include "exercises/shared/embedding_cases.h"

#include <math.h>
#include <string.h>

/* ---- embedding ------------------------------------------------------------------------------- */

/* Position r of `positions` is added to row r of y: the mistake, where the batch is beyond 1.
 * @return the rows of the table alone */
static double *suspect_positions(const embedding *e, const float *table, const float *positions,
                                 size_t place_count)
{
    double *none = f64_array(e->rows * e->dim), *by_row = f64_array(e->rows * e->dim);
    for (size_t i = 0; i < e->rows * e->dim; i++) {
        const size_t row = i / e->dim, col = i % e->dim;
        none[i] = table[(size_t)e->tokens[row] * e->dim + col];
        if (row < place_count) by_row[i] = none[i] + positions[row * e->dim + col];
    }
    suspect("the positions are not added", none);
    if (place_count >= e->rows)
        suspect("the position is that of the row in the batch, not in its sequence", by_row);
    return none;
}

static bool is_near(const float *y, const double *none, const float *position, size_t dim)
{
    size_t i = 0;
    while (i < dim && fabs(y[i] - none[i] - position[i]) <= 1e-5) i++;
    return i == dim;
}

/* Of each row of y that some row of positions explains: that sum. Else 0, which explains nothing.
 */
static void suspect_places(const embedding *e, const float *y, const double *none,
                           const float *positions, size_t place_count)
{
    double *other = f64_array(e->rows * e->dim);
    for (size_t row = 0; row < e->rows; row++) {
        const size_t at = row * e->dim;
        size_t p = 0;
        while (p < place_count && !is_near(y + at, none + at, positions + p * e->dim, e->dim)) p++;
        for (size_t i = 0; i < e->dim && p < place_count; i++)
            other[at + i] = none[at + i] + positions[p * e->dim + i];
    }
    suspect("rows of positions that belong elsewhere are added", other);
}

/* @param places so many rows of positions; 0: NULL */
static void embed(const embedding *e, size_t places, int specials, unsigned shift)
{
    const size_t size = e->rows * e->dim, table_size = e->vocab * e->dim;
    float *table = random_f32(table_size), *positions = random_f32(places * e->dim);
    float *y = f32_array(size);
    double *want = f64_array(size);
    sprinkle_special_f32(table, table_size, specials);
    for (size_t i = 0; i < size; i++) {
        const size_t row = i / e->dim, col = i % e->dim;
        want[i] = table[(size_t)e->tokens[row] * e->dim + col];
        if (places > 0) want[i] += positions[row % e->seq * e->dim + col];
    }
    call_cuda("embedding_forward",
              ARGS(shifted(out_f32("y", y, size), shift), in_i32("tokens", e->tokens, e->rows),
                   shifted(in_f32("table", table, table_size), shift),
                   places > 0 ? in_f32("positions", positions, places * e->dim) : null_pointer(),
                   i32((int)e->batch), i32((int)e->seq), i32((int)e->dim), stream()));
    const layout l = {"y", e->rows, e->dim};
    if (places > 0 && !is_close(l, y, want, NULL, 1e-6)) {
        const double *none = suspect_positions(e, table, positions, places);
        if (size < 20000) suspect_places(e, y, none, positions, places);
    }
    expect_close(l, y, want, NULL, 1e-6);
}

static void run_forward(const long *shape)
{
    const embedding e = embedding_of(shape);
    embed(&e, e.seq, 0, 0);
}

/* A table of positions for longer sequences: who takes the wrong one finds numbers there. */
static void run_forward_long_table(const long *shape)
{
    const embedding e = embedding_of(shape);
    embed(&e, e.rows, 0, 0);
}

static void run_forward_without_positions(const long *shape)
{
    const embedding e = embedding_of(shape);
    embed(&e, 0, 0, 0);
}

static void run_forward_special(const long *shape)
{
    const embedding e = embedding_of(shape);
    embed(&e, e.seq, 3, 0);
}

static void run_forward_misaligned(const long *shape)
{
    const embedding e = embedding_of(shape);
    embed(&e, e.seq, 0, 4);
}

static void run_counted_forward(const char *function, const long *shape)
{
    (void)function;
    run_forward(shape);
}

static void run_backward(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter("embedding_backward", &e, true, 0, 0);
}

static void run_backward_without_positions(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter("embedding_backward", &e, false, 0, 0);
}

static void run_backward_special(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter("embedding_backward", &e, true, 2, 0);
}

static void run_backward_misaligned(const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter("embedding_backward", &e, true, 0, 4);
}

static void run_timed_backward(const char *function, const long *shape)
{
    const embedding e = embedding_of(shape);
    embedding_scatter(function, &e, false, 0, 0);
}

/* ---- residual -------------------------------------------------------------------------------- */

/** Where y lies. */
typedef enum destination { APART, ON_A, ON_B, ALL_ONE } destination;

/* shape: n, destination, how many NaN and infinities, shift */
static void run_residual(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const destination where = (destination)shape[1];
    float *a = random_f32(n), *b = where == ALL_ONE ? a : random_f32(n), *y = f32_array(n);
    double *want = f64_array(n);
    sprinkle_special_f32(a, n, (int)shape[2]);
    for (size_t i = 0; i < n; i++) want[i] = (double)a[i] + b[i];
    const unsigned shift = (unsigned)shape[3];
    argument out = shifted(out_f32("y", y, n), shift);
    argument in_a = shifted(in_f32("a", a, n), shift), in_b = shifted(in_f32("b", b, n), shift);
    if (where != APART) {
        memcpy(y, where == ON_B ? b : a, n * sizeof *y);
        out = inout_f32("y", y, n);
        if (where != ON_B) in_a = same_as(0);
        if (where != ON_A) in_b = same_as(0);
    }
    call_cuda("residual_forward", ARGS(out, in_a, in_b, u64(n), stream()));
    expect_close((layout){"y", 1, n}, y, want, NULL, 1e-6);
}

/* ---- dropout --------------------------------------------------------------------------------- */

typedef struct words {
    uint32_t w[4];
} words;

/** Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3". */
static words philox(words c, uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
        const uint64_t a = 0xD2511F53ull * c.w[0], b = 0xCD9E8D57ull * c.w[2];
        c = (words){{(uint32_t)(b >> 32) ^ c.w[1] ^ key0, (uint32_t)b,
                     (uint32_t)(a >> 32) ^ c.w[3] ^ key1, (uint32_t)a}};
    }
    return c;
}

static uint32_t word_of(uint64_t i, uint64_t seed)
{
    const words counter = {{(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), 0, 0}};
    return philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32)).w[i % 4];
}

/** Element i is kept by this rule; each rule but the first is a mistake. */
static bool is_kept(int rule, uint64_t i, float p, uint64_t seed)
{
    switch (rule) {
    case 1: return word_of(i, seed) * 0x1p-32 < p;
    case 2: return word_of(4 * i, seed) * 0x1p-32 >= p;
    case 3: return word_of(i, (uint32_t)seed) * 0x1p-32 >= p;
    default: return word_of(i, seed) * 0x1p-32 >= p;
    }
}

typedef struct dropping {
    int rule;
    const float *x;
    double *y, scale;
    float p;
    uint64_t seed;
} dropping;

static void drop_part(size_t begin, size_t end, void *context)
{
    const dropping *d = context;
    for (size_t i = begin; i < end; i++)
        d->y[i] = is_kept(d->rule, i, d->p, d->seed) ? d->x[i] * d->scale : 0.0;
}

static double *dropped(int rule, const float *x, size_t n, float p, uint64_t seed, double scale)
{
    dropping d = {rule, x, f64_array(n), scale, p, seed};
    parallel(n, 20, drop_part, &d);
    return d.y;
}

static void suspect_mask(const float *x, size_t n, float p, uint64_t seed)
{
    const double scale = 1.0 / (1.0 - p);
    suspect("kept elements are not divided by 1 - p", dropped(0, x, n, p, seed, 1.0));
    suspect("p is used as the share that is kept: it is the share that is dropped",
            dropped(1, x, n, p, seed, scale));
    suspect("each element uses word 0 of counter i: it should use word i % 4 of counter i / 4",
            dropped(2, x, n, p, seed, scale));
    suspect("the upper half of the seed is not used", dropped(3, x, n, p, seed, scale));
}

/* One call and what it should give. Serves both directions, which do the same. */
static void drop(const char *function, const float *x, size_t n, float p, uint64_t seed,
                 bool in_place, unsigned shift)
{
    const bool forward = strcmp(function, "dropout_backward") != 0;
    float *y = f32_array(n);
    argument in = shifted(in_f32(forward ? "x" : "grad_y", x, n), shift);
    argument out = shifted(out_f32(forward ? "y" : "grad_x", y, n), shift);
    if (in_place) {
        memcpy(y, x, n * sizeof *y);
        in = same_as(0);
        out = inout_f32(forward ? "y" : "grad_x", y, n);
    }
    call_cuda(function, ARGS(out, in, u64(n), f32(p), u64(seed), stream()));
    if (strcmp(function, "baseline_copy") == 0) return;
    const double scale = p < 1.0f ? 1.0 / (1.0 - p) : 0.0;
    const double *want = dropped(0, x, n, p, seed, scale);
    const layout l = {forward ? "y" : "grad_x", 1, n};
    if (p < 1.0f && !is_close(l, y, want, NULL, 1e-6)) suspect_mask(x, n, p, seed);
    expect_close(l, y, want, NULL, 1e-6);
}

/* shape: n, p in thousandths, seed or 0: a drawn one, in place, shift */
static void dropout_with(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const uint64_t seed = shape[2] ? (uint64_t)shape[2] : random_u64(case_random());
    drop(function, random_f32(n), n, (float)shape[1] / 1000.0f, seed, shape[3] != 0,
         (unsigned)shape[4]);
}

/* With the seed 4696, word 376 is 0xffffff8c, which is 2^32 in fp32. */
static void run_dropout(const long *shape)
{
    dropout_with("dropout_forward", shape);
}

static void run_dropout_backward(const long *shape)
{
    dropout_with("dropout_backward", shape);
}

/* A NaN that is dropped is gone; one that is kept stays. */
static void run_dropout_special(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n);
    sprinkle_special_f32(x, n, (int)n / 8);
    drop("dropout_forward", x, n, (float)shape[1] / 1000.0f, random_u64(case_random()), false, 0);
}

/* The vectors of the specification. Of the first, each word is surrounded: with p just below its
 * number the element is kept, with p just above it is not. */
static void run_known_answers(const long *shape)
{
    (void)shape;
    static const struct {
        words counter;
        uint32_t key[2];
        words answer;
    } vectors[] = {
        {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{~0u, ~0u, ~0u, ~0u}}, {~0u, ~0u}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         {0xa4093822, 0x299f31d0},
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (int v = 0; v < 3; v++) {
        const words w = philox(vectors[v].counter, vectors[v].key[0], vectors[v].key[1]);
        expect(memcmp(&w, &vectors[v].answer, sizeof w) == 0, "the grader's own Philox is wrong");
    }
    const float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    for (int i = 0; i < 4; i++) {
        const float u = (float)(vectors[0].answer.w[i] * 0x1p-32);
        drop("dropout_forward", x, 4, nextafterf(u, 0.0f), 0, false, 0);
        drop("dropout_forward", x, 4, nextafterf(u, 1.0f), 0, false, 0);
    }
}

/* Where u equals p the element is kept. */
static void run_boundary(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const uint64_t seed = random_u64(case_random());
    size_t i = 0;
    while (i < n - 1 && (word_of(i, seed) % 256 != 0 || word_of(i, seed) == 0)) i++;
    drop("dropout_forward", random_f32(n), n, (float)(word_of(i, seed) * 0x1p-32), seed, false, 0);
}

static void run_timed_dropout(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    drop(function, random_f32(n), n, 0.1f, random_u64(case_random()), false, 0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define FORWARD  .run = run_forward
#define BACKWARD .run = run_backward

static const grading_case cases[] = {
    {.name = "embedding forward 0x5x7", FORWARD, .shape = {0, 5, 7, 3}},
    {.name = "embedding forward 5x0x7", FORWARD, .shape = {5, 0, 7, 3}},
    {.name = "embedding forward 5x7x0", FORWARD, .shape = {5, 7, 0, 3}},
    {.name = "embedding forward 1x1x1", FORWARD, .shape = {1, 1, 1, 1}},
    {.name = "embedding forward 2x5x33", FORWARD, .shape = {2, 5, 33, 11}},
    {.name = "embedding forward 3x17x130", FORWARD, .shape = {3, 17, 130, 50}},
    {.name = "embedding forward, more positions than places",
     .run = run_forward_long_table,
     .shape = {3, 17, 20, 50}},
    {.name = "embedding forward without positions",
     .run = run_forward_without_positions,
     .shape = {3, 9, 40, 50}},
    {.name = "embedding forward with NaN", .run = run_forward_special, .shape = {3, 17, 33, 20}},
    {.name = "embedding forward, misaligned",
     .run = run_forward_misaligned,
     .shape = {2, 9, 64, 9}},
    {.name = "embedding forward any", FORWARD, .shape = {1, 1, 1, 1}, .most = {9, 40, 150, 300}},
    LONG_ROW("embedding forward 70000x1x1", run_forward, 70000, 1, 1, 3),
    LONG_ROW("embedding forward 1x70000x1", run_forward, 1, 70000, 1, 3),
    LONG_ROW("embedding forward 1x2x70000", run_forward, 1, 2, 70000, 2),
    LONG_ROW("embedding forward of 70000 tokens", run_forward, 2, 50, 3, 70000),
    {.name = "embedding backward 0x5x7",
     BACKWARD,
     .shape = {0, 5, 7, 3},
     .part = "embedding_backward"},
    {.name = "embedding backward 5x0x7", BACKWARD, .shape = {5, 0, 7, 3}},
    {.name = "embedding backward 5x7x0", BACKWARD, .shape = {5, 7, 0, 3}},
    {.name = "embedding backward 1x1x1", BACKWARD, .shape = {1, 1, 1, 1}},
    {.name = "embedding backward 2x5x33", BACKWARD, .shape = {2, 5, 33, 4}},
    {.name = "embedding backward 3x117x130", BACKWARD, .shape = {3, 117, 130, 50}},
    {.name = "embedding backward, all tokens equal",
     BACKWARD,
     .shape = {5, 401, 40, 30, ONE_TOKEN}},
    {.name = "embedding backward, eight tokens", BACKWARD, .shape = {4, 257, 33, 30, EIGHT_TOKENS}},
    {.name = "embedding backward, no two tokens equal",
     BACKWARD,
     .shape = {2, 150, 33, 301, IN_TURN}},
    {.name = "embedding backward without positions",
     .run = run_backward_without_positions,
     .shape = {3, 50, 40, 20}},
    {.name = "embedding backward with NaN", .run = run_backward_special, .shape = {3, 50, 33, 20}},
    {.name = "embedding backward, misaligned",
     .run = run_backward_misaligned,
     .shape = {2, 90, 64, 20}},
    {.name = "embedding backward any", BACKWARD, .shape = {1, 1, 1, 1}, .most = {9, 90, 150, 90}},
    LONG_ROW("embedding backward 70000x1x1", run_backward, 70000, 1, 1, 3),
    LONG_ROW("embedding backward 1x70000x1", run_backward, 1, 70000, 1, 3),
    LONG_ROW("embedding backward 1x2x70000", run_backward, 1, 2, 70000, 2),
    LONG_ROW("embedding backward of 70000 tokens", run_backward, 2, 50, 3, 70000),
    {.name = "embedding backward 32x1024x768",
     BACKWARD,
     .shape = {32, 1024, 768, 50257},
     .where = ON_GPU,
     .once = true},
    {.name = "residual n=0", .run = run_residual, .shape = {0}, .part = "residual_forward"},
    {.name = "residual n=1", .run = run_residual, .shape = {1}},
    {.name = "residual n=513", .run = run_residual, .shape = {513}},
    {.name = "residual n=70001", .run = run_residual, .shape = {70001}},
    {.name = "residual, y is a", .run = run_residual, .shape = {1025, ON_A}},
    {.name = "residual, y is b", .run = run_residual, .shape = {1025, ON_B}},
    {.name = "residual, y is a and b", .run = run_residual, .shape = {1025, ALL_ONE}},
    {.name = "residual with NaN", .run = run_residual, .shape = {515, APART, 3}},
    {.name = "residual, misaligned", .run = run_residual, .shape = {515, APART, 0, 4}},
    {.name = "residual any", .run = run_residual, .shape = {2}, .most = {9000}},
    {.name = "dropout forward, known answers", .run = run_known_answers, .part = "dropout_forward"},
    {.name = "dropout forward n=0", .run = run_dropout, .shape = {0, 100}},
    {.name = "dropout forward n=1", .run = run_dropout, .shape = {1, 500}},
    {.name = "dropout forward n=131", .run = run_dropout, .shape = {131, 500}},
    {.name = "dropout forward n=1021", .run = run_dropout, .shape = {1021, 100}},
    {.name = "dropout forward any", .run = run_dropout, .shape = {2, 1}, .most = {9000, 999}},
    {.name = "dropout forward n=70001", .run = run_dropout, .shape = {70001, 900}},
    {.name = "dropout forward p=0", .run = run_dropout, .shape = {1021, 0}},
    {.name = "dropout forward p=1", .run = run_dropout, .shape = {1021, 1000}},
    {.name = "dropout forward p=1, u nearly 1", .run = run_dropout, .shape = {1021, 1000, 4696}},
    {.name = "dropout forward, u is p", .run = run_boundary, .shape = {4096}},
    {.name = "dropout forward with NaN", .run = run_dropout_special, .shape = {515, 500}},
    {.name = "dropout forward in place", .run = run_dropout, .shape = {1021, 300, 0, 1}},
    {.name = "dropout forward, misaligned", .run = run_dropout, .shape = {1021, 300, 0, 0, 4}},
    {.name = "dropout forward, seed 1", .run = run_dropout, .shape = {131, 500, 1}},
    {.name = "dropout forward, seed 2^32", .run = run_dropout, .shape = {131, 500, 1L << 32}},
    {.name = "dropout backward n=0",
     .run = run_dropout_backward,
     .shape = {0, 100},
     .part = "dropout_backward"},
    {.name = "dropout backward n=1021", .run = run_dropout_backward, .shape = {1021, 100}},
    {.name = "dropout backward n=70001", .run = run_dropout_backward, .shape = {70001, 500}},
    {.name = "dropout backward p=1", .run = run_dropout_backward, .shape = {131, 1000}},
    {.name = "dropout backward in place", .run = run_dropout_backward, .shape = {1021, 300, 0, 1}},
    {.name = "dropout forward n=67108867",
     .run = run_dropout,
     .shape = {67108867, 100},
     .where = ON_GPU,
     .once = true,
     .part = "dropout_forward"},
    {0},
};

/* Of a table: 4,096 rows, so that the reference does not take longer than the call. */
static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one atomic per element",
                .shape = "all tokens equal, 32 × 1024 × 768"},
     .function = "embedding_backward",
     .baseline = "baseline_embedding_backward",
     .run = run_timed_backward,
     .shape = {32, 1024, 768, 4096, ONE_TOKEN},
     .where = ON_GPU,
     .threshold = 4.0},
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "2^24 floats"},
     .function = "dropout_forward",
     .baseline = "baseline_copy",
     .run = run_timed_dropout,
     .shape = {1L << 24},
     .where = ON_GPU,
     .threshold = 0.80,
     .work = 8,
     .baseline_work = 8,
     .bytes = 8.0 * (1L << 24),
     .peer_share = 0.87,
     .peer_bytes = 8.0 * (1L << 24)},
    {0},
};

#define TEXT_ROWS 512 /* tokens of a counted call, of TEXT_DIM columns */
#define TEXT_DIM  128

/* One more than there are, of both sides: who needs none is not divided by 0. */
static double atomics_and_one(const device_counts *c)
{
    return atomics(c) + 1;
}

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "512 × 128"},
     .function = "embedding_forward",
     .run = run_counted_forward,
     .shape = {1, TEXT_ROWS, TEXT_DIM, 64},
     .count = moved_bytes,
     .ideal = 4.0 * TEXT_ROWS * (3 * TEXT_DIM + 1),
     .bound = AT_MOST,
     .wanted = 1.5,
     .begin = 7.745},
    {.metric = {"reduction in atomics", .over = "one per element",
                .shape = "all tokens equal, 512 × 128"},
     .function = "embedding_backward",
     .baseline = "baseline_embedding_backward",
     .run = run_timed_backward,
     .shape = {1, TEXT_ROWS, TEXT_DIM, 64, ONE_TOKEN},
     .varied = 2,
     .count = atomics_and_one,
     .bound = AT_LEAST,
     .wanted = 16.0},
    {.metric = {"reduction in atomics", .over = "one per element",
                .shape = "eight tokens, 512 × 128"},
     .function = "embedding_backward",
     .baseline = "baseline_embedding_backward",
     .run = run_timed_backward,
     .shape = {1, TEXT_ROWS, TEXT_DIM, 64, EIGHT_TOKENS},
     .varied = 2,
     .count = atomics_and_one,
     .bound = AT_LEAST,
     .wanted = 3.0},
    {.metric = {"reduction in instructions", .over = "one Philox call per element",
                .shape = "2^14 floats"},
     .function = "dropout_forward",
     .baseline = "baseline_dropout",
     .run = run_timed_dropout,
     .shape = {1L << 14},
     .count = warp_instructions,
     .bound = AT_LEAST,
     .wanted = 1.5},
    {0},
};

EXERCISE(312) = {
    .id = 312,
    .core = true,
    .name = "embedding",
    .file = "phase3_layers/312_embedding/312_embedding.cu",
    .functions = {"embedding_forward", "embedding_backward", "residual_forward", "dropout_forward",
                  "dropout_backward"},
    .baseline_file = "grader/exercises/312_embedding/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "embedding backward 2x5x33",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
