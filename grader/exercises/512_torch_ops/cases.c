/* 512_torch_ops: cases of the operations for PyTorch: every order in memory, empty tensors, the
 * stream, what is refused, what CUDA refuses. worker.py beside this is what they do in Python, with
 * a stand-in for torch's tensors; torch itself is asked where it is. */
#include "exercises/shared/attention_cases.h"
#include "exercises/shared/matmul_half_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

enum { TRANSPOSED = 1, EACH_SECOND, SAME_ROW, FROM_ELEMENT_1, WORDS = 512 };

#define GRADIENT_TOLERANCE 1e-4 /* of the norm: 311 and 313 are held to less */
#define BF16_TOLERANCE     1e-2

/* What is of one row in memory: all rows are the first. */
static float *numbers(size_t count, size_t row, long order)
{
    float *x = random_f32_between(count, -2.0f, 2.0f);
    for (size_t i = row; order == SAME_ROW && i < count; i++) x[i] = x[i % row];
    return x;
}

static argument in(const char *name, const float *x, size_t count)
{
    return host(in_f32(name, x, count));
}

static argument out(const char *name, float *x, size_t count)
{
    return host(out_f32(name, x, count));
}

static void expect_gradient(const char *name, const float *got, const double *want, size_t count)
{
    expect_norm_close((layout){name, 1, count}, got, want, NULL, 0, GRADIENT_TOLERANCE);
}

/* shape: m, n, k, order */
static void run_matmul(const long *shape)
{
    const size_t m = (size_t)shape[0], n = (size_t)shape[1], k = (size_t)shape[2];
    float *c = f32_array(m * n), *a = numbers(m * k, k, shape[3]), *b = numbers(k * n, n, shape[3]);
    call_counted("op_matmul", ARGS(out("c", c, m * n), in("a", a, m * k), in("b", b, k * n),
                                   i32((int)m), i32((int)n), i32((int)k), i32((int)shape[3])));
    expect_operations("op_matmul", 2.0 * (double)(m * n * k));
    expect_matmul(c, a, b, shape[0], shape[1], shape[2]);
}

typedef struct norm {
    float *x, *gamma, *beta, *grad_y, *y, *grad_x, *grad_gamma, *grad_beta;
    long rows, cols;
} norm;

static void expect_norm_gradients(const norm *n)
{
    const long rows = n->rows, cols = n->cols;
    double *grad_x = f64_array((size_t)(rows * cols));
    double *grad_gamma = f64_array((size_t)cols), *grad_beta = f64_array((size_t)cols);
    for (long r = 0; r < rows; r++) {
        const float *x = n->x + r * cols, *grad_y = n->grad_y + r * cols;
        double mean, var, sum = 0, product = 0;
        row_moments(x, cols, &mean, &var);
        const double rstd = 1 / sqrt(var + norm_eps);
        for (long c = 0; c < cols; c++) {
            const double xhat = (x[c] - mean) * rstd, grad = (double)grad_y[c] * n->gamma[c];
            sum += grad, product += grad * xhat;
            grad_gamma[c] += grad_y[c] * xhat, grad_beta[c] += grad_y[c];
        }
        for (long c = 0; c < cols; c++)
            grad_x[r * cols + c] = rstd * ((double)grad_y[c] * n->gamma[c] - sum / (double)cols -
                                           (x[c] - mean) * rstd * product / (double)cols);
    }
    expect_gradient("grad_x", n->grad_x, grad_x, (size_t)(rows * cols));
    expect_gradient("grad_gamma", n->grad_gamma, grad_gamma, (size_t)cols);
    expect_gradient("grad_beta", n->grad_beta, grad_beta, (size_t)cols);
}

/* shape: rows, cols, order, eps in percent, 0: left out. An even number of rows comes in two
 * dimensions. */
static void run_layernorm(const long *shape)
{
    const size_t cols = (size_t)shape[1], size = (size_t)(shape[0] * shape[1]);
    const norm n = {numbers(size, size, 0),
                    numbers(cols, cols, 0),
                    numbers(cols, cols, 0),
                    numbers(size, size, 0),
                    f32_array(size),
                    f32_array(size),
                    f32_array(cols),
                    f32_array(cols),
                    shape[0],
                    shape[1]};
    norm_eps = shape[3] ? (float)shape[3] / 100 : 1e-5f; /* else that of torch */
    call_counted("op_layernorm",
                 ARGS(out("y", n.y, size), out("grad_x", n.grad_x, size),
                      out("grad_gamma", n.grad_gamma, cols), out("grad_beta", n.grad_beta, cols),
                      in("x", n.x, size), in("gamma", n.gamma, cols), in("beta", n.beta, cols),
                      in("grad_y", n.grad_y, size), i32((int)n.rows), i32((int)n.cols),
                      i32((int)shape[2]), f32(norm_eps)));
    expect_operations("op_layernorm", 8.0 * (double)size);
    expect_layernorm("y", n.y, n.x, n.gamma, n.beta, n.rows, n.cols);
    expect_norm_gradients(&n);
}

/* The part of one query in the three gradients. dot [seq] is room. */
static void add_gradients(double *grads[3], const attention *a, const float *grad_out, size_t row,
                          const attention_row *r, double *dot)
{
    const size_t dim = (size_t)a->dim, first = row / (size_t)a->seq * (size_t)a->seq;
    double mean = 0;
    for (size_t u = 0; u < (size_t)a->seq; u++) {
        dot[u] = 0;
        for (size_t i = 0; i < dim; i++)
            dot[u] += (double)grad_out[row * dim + i] * a->v[(first + u) * dim + i];
        mean += r->p[u] * dot[u];
    }
    for (size_t u = 0; u < (size_t)a->seq; u++) {
        const double score = a->scale * r->p[u] * (dot[u] - mean);
        for (size_t i = 0; i < dim; i++) {
            grads[0][row * dim + i] += score * a->k[(first + u) * dim + i];
            grads[1][(first + u) * dim + i] += score * a->q[row * dim + i];
            grads[2][(first + u) * dim + i] += r->p[u] * grad_out[row * dim + i];
        }
    }
}

/* shape: batch, heads, seq, dim, causal, order, scale in per cent, below 0: of 0, 0: not given */
static void run_attention(const long *shape)
{
    static const char *const names[] = {"grad_q", "grad_k", "grad_v"};
    attention a = random_attention(shape);
    if (shape[6]) a.scale = shape[6] > 0 ? 0.01f * (float)shape[6] : 0.0f;
    float *y = f32_array(a.size), *grad_out = random_f32(a.size), *got[3];
    double *want[3], *dot = f64_array((size_t)a.seq);
    for (int i = 0; i < 3; i++) got[i] = f32_array(a.size), want[i] = f64_array(a.size);
    call_counted("op_attention",
                 ARGS(out("out", y, a.size), out(names[0], got[0], a.size),
                      out(names[1], got[1], a.size), out(names[2], got[2], a.size),
                      in("q", a.q, a.size), in("k", a.k, a.size), in("v", a.v, a.size),
                      in("grad_out", grad_out, a.size), i32((int)a.batch), i32((int)a.heads),
                      i32((int)a.seq), i32((int)a.dim), i32((int)a.causal), i32((int)shape[5]),
                      i32((int)shape[6])));
    expect_operations("op_attention", (a.causal ? 2.0 : 4.0) * (double)a.size * (double)a.seq);
    expect_attention(y, NULL, &a);
    attention_row r = new_attention_row(&a);
    for (size_t row = 0; row < a.rows; row++) {
        reference_attention_row(&r, &a, row);
        add_gradients(want, &a, grad_out, row, &r, dot);
    }
    for (int i = 0; i < 3; i++) expect_gradient(names[i], got[i], want[i], a.size);
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

typedef struct mixture {
    long tokens, experts, top_k, width, inner;
    const float *x, *router, *up, *down;
} mixture;

/* y[width] += gate * what this expert makes of the token */
static void add_expert(double *y, const mixture *m, const float *token, long expert, double gate)
{
    const float *up = m->up + expert * m->inner * m->width;
    const float *down = m->down + expert * m->inner * m->width;
    for (long f = 0; f < m->inner; f++) {
        double sum = 0;
        for (long i = 0; i < m->width; i++) sum += (double)token[i] * up[f * m->width + i];
        for (long i = 0; i < m->width; i++) y[i] += gate * gelu(sum) * down[i * m->inner + f];
    }
}

/* The experts of a token, one after the other; a chosen one has the logit -infinity. */
static void reference_token(double *y, const mixture *m, long t, double *logits)
{
    double sum = 0, top = -INFINITY;
    double *exponentials = f64_array((size_t)m->top_k);
    int *chosen = i32_array((size_t)m->top_k);
    for (long j = 0; j < m->top_k; j++) {
        for (long e = 0; e < m->experts; e++)
            if (logits[e] > logits[chosen[j]]) chosen[j] = (int)e;
        top = fmax(top, logits[chosen[j]]);
        exponentials[j] = exp(logits[chosen[j]] - top), sum += exponentials[j];
        logits[chosen[j]] = -INFINITY;
    }
    for (long j = 0; j < m->top_k; j++)
        add_expert(y, m, m->x + t * m->width, chosen[j], exponentials[j] / sum);
}

/* shape: tokens, experts, top_k, width, inner, order */
static void run_moe(const long *shape)
{
    mixture m = {shape[0], shape[1], shape[2], shape[3], shape[4], NULL, NULL, NULL, NULL};
    const size_t in_x = (size_t)(m.tokens * m.width), routes = (size_t)(m.experts * m.width);
    const size_t of_weights = routes * (size_t)m.inner;
    float *x = random_f32(in_x), *up = random_f32(of_weights), *down = random_f32(of_weights);
    float *y = f32_array(in_x);
    double *want = f64_array(in_x), *logits = f64_array((size_t)m.experts);
    upper_halves(up, of_weights), upper_halves(down, of_weights);
    m.x = x, m.router = random_f32(routes), m.up = up, m.down = down;
    call_counted("op_moe",
                 ARGS(out("out", y, in_x), in("x", x, in_x), in("router", m.router, routes),
                      in("up", up, of_weights), in("down", down, of_weights), i32((int)m.tokens),
                      i32((int)m.experts), i32((int)m.top_k), i32((int)m.width), i32((int)m.inner),
                      i32((int)shape[5])));
    expect_operations("op_moe", 4.0 * (double)(m.tokens * m.top_k * m.width * m.inner));
    for (long t = 0; t < m.tokens; t++) {
        for (long e = 0; e < m.experts; e++) {
            logits[e] = 0;
            for (long i = 0; i < m.width; i++)
                logits[e] += (double)x[t * m.width + i] * m.router[e * m.width + i];
        }
        reference_token(want + t * m.width, &m, t, logits);
    }
    expect_norm_close((layout){"out", (size_t)m.tokens, (size_t)m.width}, y, want, NULL, 0,
                      BF16_TOLERANCE);
}

static void expect_nothing(const char *function)
{
    unsigned char told[WORDS] = UNTOLD;
    call_void(function, ARGS(host(inout_of(ELEMENT_BYTE, "told", told, WORDS))));
    expect(!told[0], "%s", (const char *)told);
}

static void run_stream(const long *shape)
{
    (void)shape;
    expect_nothing("on_a_stream");
}

static void run_error(const long *shape)
{
    (void)shape;
    expect_nothing("each_call_refused");
}

static void run_refused(const long *shape)
{
    (void)shape;
    expect_nothing("ops_refused");
}

static void run_torch(const long *shape)
{
    (void)shape;
    unsigned char told[WORDS] = UNTOLD;
    call_void("with_torch",
              ARGS(host(inout_of(ELEMENT_BYTE, "told", told, WORDS)), i32(case_place() == ON_GPU)));
    const bool without = strcmp((const char *)told, "-") == 0;
    expect(without || !told[0], "%s", (const char *)told);
    if (without)
        note("torch.ops was tried on a stand-in for torch: the whole needs python3 with torch, and "
             "a GPU");
}

static const grading_case cases[] = {
    {.name = "matmul 17x33x65", .run = run_matmul, .shape = {17, 33, 65}},
    {.name = "matmul, transposed", .run = run_matmul, .shape = {33, 18, 70, TRANSPOSED}},
    {.name = "matmul, each second", .run = run_matmul, .shape = {20, 31, 12, EACH_SECOND}},
    {.name = "matmul, one row", .run = run_matmul, .shape = {9, 8, 7, SAME_ROW}},
    {.name = "matmul, from element 1", .run = run_matmul, .shape = {8, 8, 8, FROM_ELEMENT_1}},
    {.name = "matmul, any shape", .run = run_matmul, .shape = {1, 1, 1}, .most = {70, 70, 70}},
    {.name = "matmul 0x5x3", .run = run_matmul, .shape = {0, 5, 3}},
    {.name = "matmul 5x0x3", .run = run_matmul, .shape = {5, 0, 3}},
    {.name = "matmul, k=0", .run = run_matmul, .shape = {5, 6, 0}},
    LONG_ROW("matmul 70001x1x2", run_matmul, 70001, 1, 2),
    LONG_ROW("matmul 2x70001x1", run_matmul, 2, 70001, 1),
    LONG_ROW("matmul 3x2x5003", run_matmul, 3, 2, 5003),
    {.name = "layernorm 6x33", .run = run_layernorm, .shape = {6, 33}, .part = "layernorm"},
    {.name = "layernorm 5x768, another eps", .run = run_layernorm, .shape = {5, 768, 0, 25}},
    {.name = "layernorm, transposed", .run = run_layernorm, .shape = {8, 12, TRANSPOSED}},
    {.name = "layernorm, each second", .run = run_layernorm, .shape = {7, 20, EACH_SECOND}},
    {.name = "layernorm 0x8", .run = run_layernorm, .shape = {0, 8}},
    LONG_ROW("layernorm 70001x3", run_layernorm, 70001, 3),
    LONG_ROW("layernorm 3x5003", run_layernorm, 3, 5003),
    {.name = "attention 2x3x17x8",
     .run = run_attention,
     .shape = {2, 3, 17, 8},
     .part = "flash_attention"},
    {.name = "attention, causal", .run = run_attention, .shape = {1, 2, 33, 64, 1}},
    {.name = "attention, transposed", .run = run_attention, .shape = {2, 2, 9, 12, 1, TRANSPOSED}},
    {.name = "attention, each second", .run = run_attention, .shape = {1, 2, 5, 8, 0, EACH_SECOND}},
    {.name = "attention, another scale", .run = run_attention, .shape = {1, 2, 9, 8, 1, 0, 25}},
    {.name = "attention, a scale of 0", .run = run_attention, .shape = {1, 2, 9, 8, 0, 0, -1}},
    {.name = "attention 2x3x0x8", .run = run_attention, .shape = {2, 3, 0, 8}},
    LONG_ROW("attention of 300 heads", run_attention, 1, 300, 2, 8),
    LONG_ROW("attention, a batch of 300", run_attention, 300, 1, 2, 8),
    LONG_ROW("attention of 1,100", run_attention, 1, 1, 1100, 1),
    LONG_ROW("attention of 128", run_attention, 1, 1, 3, 128),
    {.name = "moe 20x4x2", .run = run_moe, .shape = {20, 4, 2, 24, 40}, .part = "moe"},
    {.name = "moe, one expert", .run = run_moe, .shape = {9, 1, 1, 8, 16}},
    {.name = "moe, transposed", .run = run_moe, .shape = {12, 3, 2, 16, 24, TRANSPOSED}},
    {.name = "moe, from element 1", .run = run_moe, .shape = {12, 5, 3, 16, 8, FROM_ELEMENT_1}},
    {.name = "moe without tokens", .run = run_moe, .shape = {0, 4, 2, 8, 8}},
    LONG_ROW("moe of 1,100 tokens", run_moe, 1100, 2, 1, 8, 8),
    LONG_ROW("moe of 300 experts", run_moe, 5, 300, 2, 8, 8),
    {.name = "stream", .run = run_stream, .once = true, .part = "register_ops"},
    {.name = "error", .run = run_error, .once = true},
    {.name = "refused", .run = run_refused, .once = true},
    {.name = "torch", .run = run_torch, .once = true, .seconds = 100},
    {0},
};

EXERCISE(512) = {
    .id = 512,
    .name = "torch_ops",
    .file = "phase5_full_network/512_torch_ops/512_torch_ops.py",
    .functions = {"matmul", "layernorm", "layernorm_backward", "flash_attention",
                  "flash_attention_backward", "moe", "register_ops"},
    .prerequisites = {401, 311, 313, 409, 411, 412},
    .own_prerequisites = true,
    .exponentials = true,
    .points = 15,
    .cases = cases,
};
