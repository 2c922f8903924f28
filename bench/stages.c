/*
 * stages.c: one task in every stage of the course: an epoch of 501's network on handwritten digits,
 * and a product of n x n x n. From loops of Python to one kernel per epoch, next to NumPy and
 * PyTorch.
 *
 *   bench_stages [IMAGES [N]]     TSV on stdout; 60000 images and n = 1024
 *
 * All trainings begin with the same parameters and take the images in the same order, in batches of
 * 128. The results are checked: the mean loss of the first 1,000 images, with the parameters of the
 * stage, is compared with that of 112's parameters after as many steps; 256 elements of a product
 * are compared with sums in double. A wrong stage is called WRONG and has no time.
 *
 * A time is the median of up to 5 runs, after one to warm up. Python computes a part, and its time
 * is scaled to the whole: the column "measured" says so. Softgpu computes a part as well, to be
 * checked: it has no times.
 */
#define _GNU_SOURCE
#include "stages.h"

#include "cpu.h"
#include "mnist.h"
#include "random.h"
#include "table.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPEATS    5      /* at most */
#define ENOUGH     2000.0 /* milliseconds, of all runs of a stage */
#define PART_STEPS 2      /* of an epoch: Python's, softgpu's */
#define PART_ROWS  16     /* of a product: Python's */
#define SOFTGPU_N  128    /* a larger product takes softgpu minutes */
#define CHECKED    1000   /* images */
#define SAMPLES    256
#define LOSS_ERROR 1e-6 /* of the loss, for each step: rounding errors grow */
/* Of the first ten, the one on whose way no ReLU comes nearer to its kink than 8e-7. Where one
 * does, rounding decides on which side it is, and the loss after an epoch moves by up to 2e-3. */
#define PARAMS_SEED   8
#define PRODUCT_ERROR 2e-6 /* of the sum of |a b| */

static int shared;     /* the file of the task, for children */
static int on_softgpu; /* or nowhere */

static int all_steps(const task *t)
{
    return (t->images - 1) / BATCH + 1;
}

/* ---- the CPU's stages ------------------------------------------------------------------------ */

static double train_c(const task *t, int steps)
{
    mlp_cpu *net = mlp_create_cpu(t->start);
    if (net == NULL) return -1.0;
    const double began = seconds_now();
    for (int i = 0; i < steps; i++)
        mlp_train_batch_cpu(net, t->x + (size_t)i * BATCH * MLP_INPUTS, t->labels + i * BATCH,
                            rows_of(t, i), LEARNING_RATE);
    const double ms = 1e3 * (seconds_now() - began);
    mlp_get_params_cpu(net, t->params);
    mlp_free_cpu(net);
    return ms;
}

static double multiply_c(const task *t)
{
    const double began = seconds_now();
    matmul_cpu(t->c, t->a, t->b, t->n, t->n, t->n);
    return 1e3 * (seconds_now() - began);
}

static double multiply_threads(const task *t)
{
    const double began = seconds_now();
    matmul_cpu_threads(t->c, t->a, t->b, t->n, t->n, t->n, t->cores);
    return 1e3 * (seconds_now() - began);
}

/* out[cols x rows] */
static void turn(float *out, const float *in, int rows, int cols)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) out[j * rows + i] = in[i * cols + j];
}

/* Adam's part of a step, and what the parameters are: w1, bias1, w2, bias2. */
typedef struct learner {
    float p[MLP_PARAMS], grad[MLP_PARAMS], m[MLP_PARAMS], v[MLP_PARAMS];
} learner;

static void adam(learner *l, int step)
{
    const float correct1 = (float)(1.0 - pow(0.9, step)),
                correct2 = (float)(1.0 - pow(0.999, step));
    for (int i = 0; i < MLP_PARAMS; i++) {
        l->m[i] = 0.9f * l->m[i] + 0.1f * l->grad[i];
        l->v[i] = 0.999f * l->v[i] + 0.001f * l->grad[i] * l->grad[i];
        l->p[i] -= LEARNING_RATE * (l->m[i] / correct1) / (sqrtf(l->v[i] / correct2) + 1e-8f);
    }
}

/* Whole batches: both large products, with w1, are by threads. */
static void step_by_threads(learner *l, const float *x, const int *labels, int rows, int cores)
{
    static float turned[MLP_HIDDEN * MLP_INPUTS], hidden[BATCH * MLP_HIDDEN];
    static float grad_hidden[BATCH * MLP_HIDDEN], logits[BATCH * MLP_CLASSES];
    static float grad_logits[BATCH * MLP_CLASSES];
    float *bias1 = l->p + MLP_HIDDEN * MLP_INPUTS, *w2 = bias1 + MLP_HIDDEN;
    float *bias2 = w2 + MLP_CLASSES * MLP_HIDDEN, *grad_bias1 = l->grad + (bias1 - l->p);
    turn(turned, l->p, MLP_HIDDEN, MLP_INPUTS);
    matmul_cpu_threads(hidden, x, turned, rows, MLP_HIDDEN, MLP_INPUTS, cores);
    for (int i = 0; i < rows * MLP_HIDDEN; i++)
        hidden[i] = fmaxf(0.0f, hidden[i] + bias1[i % MLP_HIDDEN]);
    turn(turned, w2, MLP_CLASSES, MLP_HIDDEN);
    matmul_cpu_ikj(logits, hidden, turned, rows, MLP_CLASSES, MLP_HIDDEN);
    for (int i = 0; i < rows * MLP_CLASSES; i++) logits[i] += bias2[i % MLP_CLASSES];
    softmax_cross_entropy_cpu(grad_logits, logits, labels, rows, MLP_CLASSES);
    linear_backward_cpu(grad_hidden, l->grad + (w2 - l->p), l->grad + (bias2 - l->p), grad_logits,
                        hidden, w2, rows, MLP_HIDDEN, MLP_CLASSES);
    memset(grad_bias1, 0, MLP_HIDDEN * sizeof *grad_bias1);
    for (int i = 0; i < rows * MLP_HIDDEN; i++) {
        if (hidden[i] == 0.0f) grad_hidden[i] = 0.0f;
        grad_bias1[i % MLP_HIDDEN] += grad_hidden[i];
    }
    turn(turned, grad_hidden, rows, MLP_HIDDEN);
    matmul_cpu_threads(l->grad, turned, x, MLP_HIDDEN, MLP_INPUTS, rows, cores);
}

static double train_threads(const task *t, int steps)
{
    static learner l;
    memset(&l, 0, sizeof l);
    memcpy(l.p, t->start, sizeof l.p);
    const double began = seconds_now();
    for (int i = 0; i < steps; i++) {
        step_by_threads(&l, t->x + (size_t)i * BATCH * MLP_INPUTS, t->labels + i * BATCH,
                        rows_of(t, i), t->cores);
        adam(&l, i + 1);
    }
    const double ms = 1e3 * (seconds_now() - began);
    memcpy(t->params, l.p, sizeof l.p);
    return ms;
}

static const stage cpu_stages[] = {
    {"Python", {"", ""}, "python", NULL, NULL, 0},
    {"NumPy", {"", ""}, "numpy", NULL, NULL, 0},
    {"C", {"103", "112"}, NULL, train_c, multiply_c, 0},
    {"C with threads", {"107", "107 111"}, NULL, train_threads, multiply_threads, 0},
};
static const stage peers[] = {
    {"503, batches sent", {"", "503"}, "cuda_nn", NULL, NULL, 1},
    {"PyTorch eager", {"", ""}, "eager", NULL, NULL, 1},
    {"PyTorch graph", {"", ""}, "graph", NULL, NULL, 1},
};

#define STAGES_MAX 32
static stage stages[STAGES_MAX];
static int stage_count;

static void add_stages(const stage *some, int count)
{
    for (int i = 0; i < count; i++) stages[stage_count++] = some[i];
}

static void list_stages(void)
{
    int count;
    const stage *of_gpu = gpu_stages(&count);
    add_stages(cpu_stages, sizeof cpu_stages / sizeof *cpu_stages);
    add_stages(of_gpu, count);
    add_stages(peers, sizeof peers / sizeof *peers);
}

/* ---- the check ------------------------------------------------------------------------------- */

static double loss_of(const task *t, const float *params)
{
    static float logits[CHECKED * MLP_CLASSES], grad[CHECKED * MLP_CLASSES];
    const int rows = t->images < CHECKED ? t->images : CHECKED;
    mlp_cpu *net = mlp_create_cpu(params);
    if (net == NULL) return NAN;
    mlp_predict_cpu(net, logits, t->x, rows);
    mlp_free_cpu(net);
    return softmax_cross_entropy_cpu(grad, logits, t->labels, rows, MLP_CLASSES);
}

/* By parameters of 112. It trains into t->params. */
static double right_loss(const task *t, int steps)
{
    train_c(t, steps);
    return loss_of(t, t->params);
}

/* The largest error among the first rows, as a part of the sum of |a b|. */
static double product_error(const task *t, int rows)
{
    random_state rng = random_seed(1);
    double worst = 0.0;
    for (int s = 0; s < SAMPLES; s++) {
        const int i = s == 0 ? rows - 1 : (int)random_below(&rng, (uint64_t)rows);
        const int j = s == 0 ? t->n - 1 : (int)random_below(&rng, (uint64_t)t->n);
        double sum = 0.0, all = 0.0;
        for (int k = 0; k < t->n; k++) {
            const double term = (double)t->a[(size_t)i * t->n + k] * t->b[(size_t)k * t->n + j];
            sum += term, all += fabs(term);
        }
        const double error = fabs(t->c[(size_t)i * t->n + j] - sum) / all;
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

/* ---- one stage ------------------------------------------------------------------------------- */

typedef struct outcome {
    int part, whole;  /* steps or rows that were computed, of so many */
    double ms, error; /* ms: of the whole; 0: none */
    const char *verdict;
} outcome;

/* Milliseconds; 0 where it is not here, below 0 where it failed. A python3 may lack what another
 * one has. */
static double by_child(const stage *s, const task *t, int training, int part)
{
    char command[512];
    double ms = 0.0;
    snprintf(command, sizeof command,
             "for python in ${PYTHON:-python3 /usr/bin/python3}; do PYTHONPATH=\"$COURSE_BUILD\" "
             "\"$python\" bench/stages.py %s %s %d %d %d %g %d %d; s=$?; [ $s = 3 ] || exit $s; "
             "done; exit 3",
             s->child, training ? "training" : "product", shared, t->images, BATCH, LEARNING_RATE,
             t->n, part);
    FILE *out = popen(command, "r");
    if (out == NULL) return -1.0;
    if (fscanf(out, "%lf", &ms) != 1) ms = -1.0;
    const int status = pclose(out);
    return status == 0 ? ms : WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 0.0 : -1.0;
}

static double median_of(const stage *s, const task *t, int training, int part)
{
    double times[REPEATS + 1], total = 0.0;
    int count = 0;
    while (count <= REPEATS && total < ENOUGH) {
        times[count] = training ? s->train(t, part) : s->multiply(t);
        if (times[count] < 0) return -1.0;
        total += times[count++];
        if (on_softgpu && s->on_gpu) return total;
    }
    const int first = count > 1; /* the others were warm */
    qsort(times + first, (size_t)(count - first), sizeof *times, by_value);
    return times[first + (count - first) / 2];
}

static int part_of(const stage *s, const task *t, int training)
{
    const int whole = training ? all_steps(t) : t->n;
    int part = whole;
    if (strcmp(s->name, "Python") == 0) part = training ? PART_STEPS : PART_ROWS;
    if (s->on_gpu && on_softgpu && training) part = PART_STEPS;
    return part < whole ? part : whole;
}

static outcome measure(const stage *s, const task *t, int training)
{
    outcome o = {part_of(s, t, training), training ? all_steps(t) : t->n, 0, 0, "right"};
    if (s->on_gpu && strcmp(gpu_name(), "no GPU") == 0) return (outcome){.verdict = "needs a GPU"};
    if (s->on_gpu && !s->child && on_softgpu && !training && t->n > SOFTGPU_N)
        return (outcome){.verdict = "softgpu has no times"};
    const double want = training ? right_loss(t, o.part) : 0.0;
    memset(training ? t->params : t->c, 0xff, /* NaN */
           sizeof(float) * (training ? MLP_PARAMS : (size_t)t->n * t->n));
    const double ms =
        s->child ? by_child(s, t, training, o.part) : median_of(s, t, training, o.part);
    if (!(ms > 0)) return (outcome){.verdict = ms < 0 ? "failed" : "not here"};
    o.error = training ? fabs(loss_of(t, t->params) / want - 1) : product_error(t, o.part);
    if (!(o.error <= (training ? LOSS_ERROR * o.part : PRODUCT_ERROR)))
        o.verdict = "WRONG";
    else if (s->on_gpu && on_softgpu)
        o.verdict = "right, softgpu has no times";
    else
        o.ms = ms * o.whole / o.part;
    return o;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_row(const stage *s, const outcome *o, const task *t, int training, double python)
{
    printf("%s\t%s\t%s", training ? "training" : "product", s->name, s->by[training]);
    print_number("%.4g", o->ms);
    print_number("%.4g", training && o->ms > 0 ? 1e3 * t->images / o->ms : 0.0);
    print_number("%.3g", o->ms > 0 ? python / o->ms : 0.0);
    if (o->part < o->whole)
        printf("\t%d of %d %s%s", o->part, o->whole, training ? "steps" : "rows",
               o->ms > 0 ? ", scaled" : "");
    else
        printf("\t%s", o->part > 0 ? "all" : "");
    putchar('\t');
    if (o->part > 0) printf("%.1e", o->error);
    printf("\t%s\n", o->verdict);
}

static double ms_of(const outcome *outcomes, const char *name)
{
    for (int i = 0; i < stage_count; i++)
        if (strcmp(stages[i].name, name) == 0) return outcomes[i].ms;
    return 0.0;
}

static void print_table(const task *t, outcome outcomes[2][STAGES_MAX], const char *source)
{
    const double loop = ms_of(outcomes[1], "C loop, batches sent");
    const double python = ms_of(outcomes[1], "503, batches sent");
    printf("# device %s; CPU %s, %d cores; commit %s\n", gpu_name(), variable("COURSE_CPU"),
           t->cores, variable("COURSE_COMMIT"));
    printf("# training: an epoch of %d images of %s, 784-128-10, Adam, batches of %d; product: "
           "%d x %d x %d\n",
           t->images, source, BATCH, t->n, t->n, t->n);
    if (loop > 0 && python > 0)
        printf("# 503 takes %.0f %% more time than its loop in C\n", 100 * (python / loop - 1));
    printf("what\tstage\tby\tmilliseconds\timages per second\ttimes Python\tmeasured\terror\t"
           "verdict\n");
    for (int training = 1; training >= 0; training--)
        for (int i = 0; i < stage_count; i++)
            if (outcomes[training][i].verdict)
                print_row(&stages[i], &outcomes[training][i], t, training,
                          ms_of(outcomes[training], "Python"));
}

/* ---- the task -------------------------------------------------------------------------------- */

static void initial_params(float params[MLP_PARAMS])
{
    random_state rng = random_seed(PARAMS_SEED);
    const int w1 = MLP_HIDDEN * MLP_INPUTS, w2 = MLP_CLASSES * MLP_HIDDEN;
    memset(params, 0, MLP_PARAMS * sizeof *params); /* biases */
    random_fill_normal(&rng, params, (size_t)w1, sqrtf(2.0f / MLP_INPUTS));
    random_fill_normal(&rng, params + w1 + MLP_HIDDEN, (size_t)w2, sqrtf(1.0f / MLP_HIDDEN));
}

/* In a file that only this process and its children see. @return 0 without memory */
static int make_task(task *t, const mnist_set *set, int n)
{
    const size_t images = (size_t)t->images, square = (size_t)n * n;
    const size_t bytes = sizeof(float) * (2 * MLP_PARAMS + images * (MLP_INPUTS + 1) + 3 * square);
    random_state rng = random_seed(2);
    shared = memfd_create("task", 0);
    if (shared < 0 || ftruncate(shared, (off_t)bytes) != 0) return 0;
    float *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (all == MAP_FAILED) return 0;
    t->n = n, t->start = all, t->params = all + MLP_PARAMS, t->x = t->params + MLP_PARAMS;
    t->labels = (int *)(t->x + images * MLP_INPUTS), t->c = (float *)(t->labels + images);
    t->a = t->c + square, t->b = t->a + square;
    initial_params(t->start);
    memcpy(t->x, set->images, images * MLP_INPUTS * sizeof *t->x);
    memcpy(t->labels, set->labels, images * sizeof *t->labels);
    random_fill_uniform(&rng, t->a, 2 * square, -1.0f, 1.0f);
    return 1;
}

static int has(const stage *s, int training)
{
    if (s->child) return training || strcmp(s->child, "cuda_nn") != 0;
    return training ? s->train != NULL : s->multiply != NULL;
}

int main(int argc, char **argv)
{
    static outcome outcomes[2][STAGES_MAX];
    const int images = argc > 1 ? atoi(argv[1]) : 60000, n = argc > 2 ? atoi(argv[2]) : 1024;
    task t = {.cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    mnist data;
    char error[512];
    if (images < 1 || n < 1 || n > 8192 || argc > 3) {
        fprintf(stderr, "usage: %s [IMAGES [N]]\n", argv[0]);
        return 2;
    }
    if (mnist_load(&data, error, sizeof error) != 0) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    t.images = images < data.train.count ? images : data.train.count;
    on_softgpu = strcmp(gpu_name(), "softgpu") == 0;
    list_stages();
    if (!make_task(&t, &data.train, n) || (strcmp(gpu_name(), "no GPU") != 0 && !gpu_begin(&t))) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return 2;
    }
    for (int training = 1; training >= 0; training--)
        for (int i = 0; i < stage_count; i++)
            if (has(&stages[i], training))
                outcomes[training][i] = measure(&stages[i], &t, training);
    print_table(&t, outcomes, data.source);
    gpu_end();
    mnist_free(&data);
    return 0;
}
