/* 407_graphs: a step of small kernels, launched and replayed as a graph with other pointers each
 * time; what a launch costs, by the grader's own clock; a persistent linear layer. Speed against
 * plain launches. shape of a step: n, rounds; of a layer: batch, in, out */
#include "correctness/case.h"
#include "exercises/shared/layer_cases.h"

#include <math.h>
#include <string.h>

#define ROUND_TOLERANCE 3e-7  /* of one round, whose factors add up to 1, or to 1 - 4 rate */
#define SAMPLED_ROWS    60    /* of a large layer */
#define CALL_COSTS      200.0 /* times what a single launch costs is what a call may, by launch */
#define SHIFTS          64    /* places at which a buffer may begin */

enum { GRAPH, SECOND_GRAPH }; /* handles */

/* ---- a step ---------------------------------------------------------------------------------- */

typedef struct step {
    int n, rounds;
    float rate, *x, *y; /* [n] */
} step;

static step random_step(const long *shape)
{
    step s = {.n = (int)shape[0], .rounds = (int)shape[1]};
    s.rate = random_uniform(case_random(), s.rounds > 3 ? 0.1f : -0.4f, 0.4f);
    s.x = random_f32((size_t)s.n);
    s.y = f32_array((size_t)s.n);
    return s;
}

static void smooth(double *to, const double *from, int n, double rate)
{
    for (int i = 0; i < n; i++) {
        const double left = from[i > 0 ? i - 1 : i], right = from[i + 1 < n ? i + 1 : i];
        to[i] = from[i] + rate * (left - 2.0 * from[i] + right);
    }
}

/* @return [n], of so many rounds */
static double *smoothed(const step *s, int rounds)
{
    double *from = f64_array((size_t)s->n), *to = f64_array((size_t)s->n);
    for (int i = 0; i < s->n; i++) from[i] = s->x[i];
    for (int round = 0; round < rounds; round++) {
        double *const other = from;
        smooth(to, from, s->n, s->rate);
        from = to;
        to = other;
    }
    return from;
}

static void expect_step(const step *s)
{
    const layout y = {"y", 1, (size_t)s->n};
    const double growth = s->rate < 0 ? pow(1 - 4 * s->rate, s->rounds) : 1;
    const double *want = smoothed(s, s->rounds);
    const double tolerance = ROUND_TOLERANCE * (1 + s->rounds) * growth;
    if (s->rounds > 0 && !is_close(y, s->y, want, NULL, tolerance))
        suspect("a round is missing", smoothed(s, s->rounds - 1));
    expect_close(y, s->y, want, NULL, tolerance);
}

static argument y_of(const step *s)
{
    return out_f32("y", s->y, (size_t)s->n);
}

static argument x_of(const step *s)
{
    return in_f32("x", s->x, (size_t)s->n);
}

static void launch(const char *function, const step *s)
{
    float *scratch = f32_array(2 * (size_t)s->n);
    call_cuda(function, ARGS(y_of(s), x_of(s), out_f32("scratch", scratch, 2 * (size_t)s->n),
                             i32(s->n), i32(s->rounds), f32(s->rate), stream()));
}

static void create(int handle, const step *s)
{
    call_aside("step_graph_create",
               ARGS(handle_out(handle), i32(s->n), i32(s->rounds), f32(s->rate)));
}

/* At an address that the run before did not have. */
static void replay_by(void (*call)(const char *, argument *, int), int number, const step *s)
{
    static unsigned turn;
    const unsigned at = 4 * (turn++ % SHIFTS);
    call("step_graph_run",
         ARGS(handle(number), shifted(y_of(s), at), shifted(x_of(s), 4 * SHIFTS - at), stream()));
}

static void replay(int number, const step *s)
{
    replay_by(call_cuda, number, s);
}

static void destroy(int number)
{
    call_aside("step_graph_free", ARGS(handle(number)));
}

/* shape[2]: NaN, which spread by one element a round */
static void run_launched(const long *shape)
{
    const step s = random_step(shape);
    sprinkle_f32(s.x, (size_t)s.n, NAN, (int)shape[2]);
    launch("step_launch", &s);
    expect_step(&s);
}

/* Each run takes what the run before gave. shape[2]: runs */
static void run_replayed(const long *shape)
{
    step s = random_step(shape);
    create(GRAPH, &s);
    for (long run = 0; run < shape[2]; run++) {
        replay(GRAPH, &s);
        expect_step(&s);
        float *const given = s.x;
        s.x = s.y;
        s.y = given;
    }
    destroy(GRAPH);
}

/* Of x and y only one lies elsewhere than in the run before. */
static void run_one_is_new(const long *shape)
{
    const unsigned at[][2] = {{0, 0}, {0, 4}, {4, 4}, {4, 0}, {0, 0}};
    const step s = random_step(shape);
    create(GRAPH, &s);
    for (size_t run = 0; run < sizeof at / sizeof *at; run++) {
        step now = random_step(shape);
        now.rate = s.rate;
        call_cuda("step_graph_run", ARGS(handle(GRAPH), shifted(y_of(&now), at[run][0]),
                                         shifted(x_of(&now), at[run][1]), stream()));
        expect_step(&now);
    }
    destroy(GRAPH);
}

/* Two of them live side by side, and take turns. shape[2], [3]: of the second */
static void run_two_graphs(const long *shape)
{
    const step one = random_step(shape), two = random_step(shape + 2);
    create(GRAPH, &one);
    create(SECOND_GRAPH, &two);
    for (int run = 0; run < 2; run++) {
        replay(GRAPH, &one);
        expect_step(&one);
        replay(SECOND_GRAPH, &two);
        expect_step(&two);
    }
    destroy(GRAPH);
    replay(SECOND_GRAPH, &two);
    expect_step(&two);
    destroy(SECOND_GRAPH);
}

static void run_free_null(const long *shape)
{
    (void)shape;
    call_cuda("step_graph_free", ARGS(null_pointer()));
}

/* ---- what is held ---------------------------------------------------------------------------- */

#define MUCH 1000.0 /* bytes: no honest run keeps anything; a graph of 40 nodes has some 10,000 */

static void expect_no_growth(void (*use)(const void *), const step *s, long times, const char *what)
{
    const double each = kept_by(use, s, 20, times, MUCH);
    expect(each <= MUCH, "each %s keeps %.0f bytes of memory: it must free what it makes", what,
           each);
}

static void replay_again(const void *s)
{
    replay(GRAPH, s);
}

static void run_many_runs(const long *shape)
{
    const step s = random_step(shape);
    create(GRAPH, &s);
    expect_no_growth(replay_again, &s, shape[2], "step_graph_run");
    destroy(GRAPH);
}

static void come_and_go(const void *s)
{
    create(GRAPH, s);
    replay(GRAPH, s);
    destroy(GRAPH);
}

static void run_many_graphs(const long *shape)
{
    const step s = random_step(shape);
    expect_no_growth(come_and_go, &s, shape[2], "pair of step_graph_create and step_graph_free");
}

/* ---- what a launch costs --------------------------------------------------------------------- */

typedef struct cost {
    float submit, launch, node; /* nanoseconds */
} cost;

static cost measure_cost_by(void (*call)(const char *, argument *, int), int launches)
{
    cost c;
    call("launch_overhead_ns",
         ARGS(host(out_f32("h_submit_ns", &c.submit, 1)),
              host(out_f32("h_launch_ns", &c.launch, 1)), host(out_f32("h_node_ns", &c.node, 1)),
              i32(launches), stream()));
    return c;
}

static cost measure_cost(int launches)
{
    return measure_cost_by(call_cuda, launches);
}

static void expect_positive(const char *name, float ns)
{
    expect(isfinite(ns) && ns > 0.0f, "%s is %g, should be some nanoseconds", name, ns);
}

/* The grader's clock saw all of the call. What it says it measured must fit in, and be a good part
 * of it: warming up, launches, a graph and its making. @return the most that a launch may take */
static double most_of(int launches)
{
    return 1e9 * call_wall_seconds() / launches;
}

static void expect_plausible(const char *name, float ns, double most)
{
    expect(ns <= 1.05 * most, "%s is %.0f, but the whole call took only %.0f ns per launch", name,
           ns, most);
    expect(ns >= most / CALL_COSTS, "%s is %.1f, but the call took only %.0f ns per launch", name,
           ns, most);
}

/* What another program takes away lies between the measurements: then it is measured again. */
static cost measure_undisturbed(int launches)
{
    cost c = measure_cost(launches);
    for (int i = 0; i < 5 && fminf(c.launch, c.node) < most_of(launches) / CALL_COSTS; i++)
        c = measure_cost(launches);
    return c;
}

/* What the host did not launch, graphs did: each launch of one brings `launches` kernels. */
static void expect_nodes(int launches)
{
    measure_cost_by(call_counted, launches);
    const device_counts *c = call_counts();
    const long kernels = c ? (long)kernel_launches(c) : 0, by_host = c ? (long)host_launches(c) : 0;
    expect(!c || (kernels > by_host && (kernels - by_host) % (launches - 1) == 0),
           "%ld kernels ran, by %ld launches: a graph should have %d nodes", kernels, by_host,
           launches);
}

static void run_cost(const long *shape)
{
    const int launches = (int)shape[0];
    measure_cost(1); /* loads what is loaded but once */
    const cost c = measure_undisturbed(launches);
    expect_positive("h_submit_ns", c.submit);
    expect_positive("h_launch_ns", c.launch);
    expect_positive("h_node_ns", c.node);
    expect_plausible("h_launch_ns", c.launch, most_of(launches));
    expect_plausible("h_node_ns", c.node, most_of(launches));
    expect(c.submit <= 2.0f * c.launch,
           "h_submit_ns is %.0f and h_launch_ns %.0f, which includes the submission", c.submit,
           c.launch);
    expect_nodes(40);
    if (case_place() == ON_GPU) {
        note("a launch: %.0f ns of the host, %.0f ns in all, %.0f ns as a node", c.submit, c.launch,
             c.node);
    }
}

/* ---- the persistent layer -------------------------------------------------------------------- */

typedef struct layer {
    long batch, in, out;
    float *x, *w, *bias, *y; /* [batch x in] [out x in] [out] or NULL, [batch x out] */
} layer;

static layer random_layer(const long *shape)
{
    layer l = {.batch = shape[0], .in = shape[1], .out = shape[2]};
    l.x = random_f32((size_t)(l.batch * l.in));
    l.w = random_f32((size_t)(l.out * l.in));
    l.bias = random_f32_between((size_t)l.out, -2.0f, 2.0f);
    l.y = f32_array((size_t)(l.batch * l.out));
    return l;
}

static void forward_by(void (*call)(const char *, argument *, int), const char *function,
                       const layer *l, unsigned shift)
{
    argument bias = l->bias ? in_f32("bias", l->bias, (size_t)l->out) : null_pointer();
    call(function, ARGS(shifted(out_f32("y", l->y, (size_t)(l->batch * l->out)), shift),
                        shifted(in_f32("x", l->x, (size_t)(l->batch * l->in)), shift),
                        shifted(in_f32("w", l->w, (size_t)(l->out * l->in)), 3 * shift), bias,
                        i32((int)l->batch), i32((int)l->in), i32((int)l->out), stream()));
}

static void forward(const char *function, const layer *l, unsigned shift)
{
    forward_by(call_cuda, function, l, shift);
}

/* All of a small layer, some rows of a large one. */
static void expect_layer(const layer *l)
{
    if (l->batch * l->in * l->out <= 20000000L) {
        expect_linear("y", l->y, l->x, l->w, l->bias, l->batch, l->in, l->out);
        return;
    }
    const int *some = sampled_rows(SAMPLED_ROWS, l->batch);
    expect_linear("y", rows_of(l->y, l->out, some, SAMPLED_ROWS),
                  rows_of(l->x, l->in, some, SAMPLED_ROWS), l->w, l->bias, SAMPLED_ROWS, l->in,
                  l->out);
}

static void run_persistent(const long *shape)
{
    const layer l = random_layer(shape);
    forward("linear_forward_persistent", &l, 0);
    expect_layer(&l);
}

/* A block without a tile would cost its start alone, and one without room waits for others.
 * shape[3]: times the operations of the product that it may have */
static void run_grid(const long *shape)
{
    const layer l = random_layer(shape);
    forward_by(call_counted, "linear_forward_persistent", &l, 0);
    expect_layer(&l);
    const device_counts *c = call_counts();
    if (!c) return;
    expect(c->blocks <= c->resident && c->blocks <= (uint64_t)(l.batch * l.out),
           "%llu blocks for %ld x %ld outputs: the device holds %llu at once, and each should have "
           "a tile",
           (unsigned long long)c->blocks, l.batch, l.out, (unsigned long long)c->resident);
    const double flop = 2.0 * (double)(l.batch * l.in * l.out);
    expect(shape[3] == 0 || operations(c) <= (double)shape[3] * flop,
           "%.0f operations for %.0f: several blocks make the same tile", operations(c), flop);
}

static void run_no_bias(const long *shape)
{
    layer l = random_layer(shape);
    l.bias = NULL;
    forward("linear_forward_persistent", &l, 0);
    expect_layer(&l);
}

static void run_misaligned(const long *shape)
{
    const layer l = random_layer(shape);
    forward("linear_forward_persistent", &l, 4);
    expect_layer(&l);
}

/* A NaN in x reaches its row of y and no other: not by what a block keeps from tile to tile. */
static void run_nan(const long *shape)
{
    const layer l = random_layer(shape);
    const long row = (long)random_below(case_random(), (uint64_t)l.batch);
    l.x[row * l.in + l.in - 1] = NAN;
    forward("linear_forward_persistent", &l, 0);
    for (long i = 0; i < l.batch * l.out; i++) {
        const long r = i / l.out, c = i % l.out;
        if (r == row)
            expect(isnan(l.y[i]), "a NaN in x[%ld] is lost in y[%ld][%ld]", row, r, c);
        else
            expect(isfinite(l.y[i]), "y[%ld][%ld] is %g, its row and weights are finite", r, c,
                   l.y[i]);
    }
}

/* ---- timed and counted ----------------------------------------------------------------------- */

/* The second run of a graph, which has other pointers than the first. */
static void run_timed(const char *function, const long *shape)
{
    const step first = random_step(shape);
    step s = random_step(shape);
    s.rate = first.rate;
    if (strcmp(function, "step_graph_run") != 0) {
        launch(function, &s);
    } else {
        create(GRAPH, &s);
        replay_by(call_aside, GRAPH, &first);
        replay_by(call_cuda, GRAPH, &s);
        destroy(GRAPH);
    }
    expect_step(&s);
}

static void run_counted_layer(const char *function, const long *shape)
{
    const layer l = random_layer(shape);
    forward(function, &l, 0);
    expect_layer(&l);
}

#define PERSISTENT(size, ...)                                                                      \
    {                                                                                              \
        .name = "persistent_" size, .run = run_persistent, .shape = { __VA_ARGS__ }                \
    }

static const grading_case cases[] = {
    {.name = "launch_1_by_1", .run = run_launched, .shape = {1, 1}},
    {.name = "launch_2_by_2", .run = run_launched, .shape = {2, 2}},
    {.name = "launch_257_by_3", .run = run_launched, .shape = {257, 3}},
    {.name = "launch_1000_by_40", .run = run_launched, .shape = {1000, 40}},
    {.name = "launch_70001_by_2", .run = run_launched, .shape = {70001, 2}},
    {.name = "launch_any", .run = run_launched, .shape = {1, 1}, .most = {3000, 40}},
    {.name = "launch_3_by_1100", .run = run_launched, .shape = {3, 1100}},
    LONG_ROW("launch_1048583_by_3", run_launched, 1048583, 3),
    {.name = "launch_nan", .run = run_launched, .shape = {1000, 3, 2}},
    {.name = "launch_no_rounds", .run = run_launched, .shape = {100, 0}},
    {.name = "launch_empty", .run = run_launched, .shape = {0, 5}},
    {.name = "graph_1_by_1", .run = run_replayed, .shape = {1, 1, 3}, .part = "step_graph_run"},
    {.name = "graph_5_by_2", .run = run_replayed, .shape = {5, 2, 3}},
    {.name = "graph_257_by_3", .run = run_replayed, .shape = {257, 3, 4}},
    {.name = "graph_1000_by_40", .run = run_replayed, .shape = {1000, 40, 3}},
    {.name = "graph_33_by_200", .run = run_replayed, .shape = {33, 200, 2}},
    {.name = "graph_70001_by_2", .run = run_replayed, .shape = {70001, 2, 1}},
    {.name = "graph_any", .run = run_replayed, .shape = {1, 1, 1}, .most = {3000, 40, 4}},
    LONG_ROW("graph_3_by_1100", run_replayed, 3, 1100, 2),
    {.name = "graph_no_rounds", .run = run_replayed, .shape = {100, 0, 2}},
    {.name = "graph_empty", .run = run_replayed, .shape = {0, 5, 2}},
    {.name = "graph_free_null", .run = run_free_null},
    {.name = "graph_one_array_is_new", .run = run_one_is_new, .shape = {70, 3}},
    {.name = "graph_of_one_round_one_is_new", .run = run_one_is_new, .shape = {70, 1}},
    {.name = "graphs_side_by_side", .run = run_two_graphs, .shape = {300, 7, 45, 10}},
    {.name = "graph_1000_replays", .run = run_replayed, .shape = {100, 5, 1000}, .once = true},
    {.name = "graph_keeps_nothing",
     .run = run_many_runs,
     .shape = {1000, 40, 200},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "graph_is_freed",
     .run = run_many_graphs,
     .shape = {1000, 40, 100},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "cost_of_500_launches", .run = run_cost, .shape = {500}, .part = "launch_overhead_ns"},
    {.name = "cost_of_1000_launches", .run = run_cost, .shape = {1000}},
    {.name = "persistent_1x1x1",
     .run = run_persistent,
     .shape = {1, 1, 1},
     .part = "linear_forward_persistent"},
    PERSISTENT("17x33x65", 17, 33, 65),
    PERSISTENT("129x10x65", 129, 10, 65),
    PERSISTENT("300x20x290", 300, 20, 290),
    PERSISTENT("2000x3x150", 2000, 3, 150),
    PERSISTENT("1x100x2000", 1, 100, 2000),
    PERSISTENT("70001x2x3", 70001, 2, 3),
    PERSISTENT("2x5003x3", 2, 5003, 3),
    PERSISTENT("2x3x70001", 2, 3, 70001),
    {.name = "persistent_any", .run = run_persistent, .shape = {1, 1, 1}, .most = {300, 90, 200}},
    PERSISTENT("empty_batch", 0, 5, 3),
    PERSISTENT("no_inputs", 40, 0, 50),
    PERSISTENT("no_outputs", 40, 5, 0),
    {.name = "persistent_grid_of_3x5x7", .run = run_grid, .shape = {3, 5, 7}, .where = ON_SOFTGPU},
    {.name = "persistent_grid_of_300x64x290",
     .run = run_grid,
     .shape = {300, 64, 290, 4},
     .where = ON_SOFTGPU},
    {.name = "persistent_no_bias", .run = run_no_bias, .shape = {150, 17, 170}},
    {.name = "persistent_misaligned", .run = run_misaligned, .shape = {135, 45, 155}},
    {.name = "persistent_nan", .run = run_nan, .shape = {237, 29, 241}},
    {.name = "persistent_1000x1001x1002",
     .run = run_persistent,
     .shape = {1000, 1001, 1002},
     .where = ON_GPU},
    {.name = "persistent_70000x9x50",
     .run = run_persistent,
     .shape = {70000, 9, 50},
     .where = ON_GPU},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "plain launches", .shape = "40 rounds of 1000 floats"},
     .function = "step_graph_run",
     .baseline = "baseline_step_launch",
     .run = run_timed,
     .shape = {1000, 40},
     .varied = 1,
     .from_idle = true,
     .where = ON_GPU,
     .threshold = 2.0,
     .flop = 4.0 * 1000 * 40,
     .peer_share = 1.3e-5}, /* 40 launches of 4.6 us */
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"host launches", .shape = "40 rounds of 1000 floats"},
     .function = "step_graph_run",
     .run = run_timed,
     .shape = {1000, 40},
     .count = host_launches,
     .bound = AT_MOST,
     .wanted = 3,
     .begin = 40},
    {.metric = {"kernel launches", .relative_to = MINIMUM, .shape = "40 rounds of 1000 floats"},
     .function = "step_graph_run",
     .run = run_timed,
     .shape = {1000, 40},
     .count = kernel_launches,
     .ideal = 40,
     .bound = AT_LEAST,
     .wanted = 1},
    {.metric = {"bytes touched", .relative_to = "those of 40 rounds",
                .shape = "40 rounds of 1000 floats"},
     .function = "step_graph_run",
     .run = run_timed,
     .shape = {1000, 40},
     .count = footprint_bytes, /* of launches that do nothing: none */
     .ideal = 40 * 2 * 4.0 * 1000,
     .bound = AT_LEAST,
     .wanted = 1},
    {.metric = {"waves of blocks", .shape = "batch 520, 24 → 520"},
     .function = "linear_forward_persistent",
     .run = run_counted_layer,
     .shape = {520, 24, 520},
     .count = waves,
     .bound = EXACTLY,
     .wanted = 1},
    {.metric = {"instructions", .per = "warp", .shape = "batch 520, 24 → 520"},
     .function = "linear_forward_persistent",
     .run = run_counted_layer,
     .shape = {520, 24, 520},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 120000},
    {0},
};

EXERCISE(407) = {
    .id = 407,
    .name = "graphs",
    .file = "phase4_optimization/407_graphs/407_graphs.cu",
    .includes = {"phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"},
    .functions = {"step_launch", "step_graph_create", "step_graph_run", "step_graph_free",
                  "launch_overhead_ns", "linear_forward_persistent"},
    .promises = {{"step_launch", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"step_graph_run", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"launch_overhead_ns", HAS_WAITED | MAY_KEEP}},
    .prerequisites = {212},
    .own_prerequisites = true,
    .baseline_file = "grader/exercises/407_graphs/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "launch_257_by_3",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
