/*
 * gpt2_layers.c: the layers of bench/gpt2_layers.cu and bench/gpt2_attention.cu against double,
 * with fp32's tolerance: linear ones of sizes that 4g takes and that it hands on; attention of a
 * tile, of several, and of more sequences than are worked on at a time. The last line counts.
 */
#include "layers.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 10000 /* floats of an array */

enum { X, W, BIAS, GRAD_Y, Y, GRAD_X, GRAD_W, GRAD_BIAS, ARRAYS };

static int passed, failures;
static float host[ARRAYS][MOST], *device[ARRAYS];

typedef struct sizes {
    int batch, in, out;
} sizes;

/* One element, as the sum of products it is. Strides are from a term to the next. */
static double dot(const float *a, int a_stride, const float *b, int b_stride, int terms)
{
    double sum = 0.0;
    for (int i = 0; i < terms; i++) sum += (double)a[i * a_stride] * b[i * b_stride];
    return sum;
}

/* @param row, col of the result; a NULL counts as ones */
static double expected(int array, int row, int col, sizes s)
{
    static const float one = 1.0f;
    const float *x = host[X], *w = host[W], *grad = host[GRAD_Y];
    if (array == Y) return dot(x + row * s.in, 1, w + col * s.in, 1, s.in) + host[BIAS][col];
    if (array == GRAD_X) return dot(grad + row * s.out, 1, w + col, s.in, s.out);
    if (array == GRAD_W) return dot(grad + row, s.out, x + col, s.in, s.batch);
    return dot(grad + col, s.out, &one, 0, s.batch);
}

/* @param worst the largest difference */
static void judge(const char *name, const char *of, double worst)
{
    const int right = worst <= 1e-5;
    passed += right;
    failures += !right;
    if (!right) printf("FAILED %s of %s: off by %g\n", name, of, worst);
}

static void check(int array, const char *name, int rows, int cols, sizes s)
{
    double worst = 0.0;
    char of[64];
    cudaMemcpy(host[array], device[array], MOST * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < rows * cols; i++) {
        const double off = fabs(host[array][i] - expected(array, i / cols, i % cols, s));
        if (!(off <= worst)) worst = off;
    }
    snprintf(of, sizeof of, "%d x %d -> %d", s.batch, s.in, s.out);
    judge(name, of, worst);
}

static void fill(void)
{
    random_state rng = random_seed(3);
    for (int i = 0; i < ARRAYS; i++) {
        random_fill_normal(&rng, host[i], MOST, 1.0f);
        cudaMemcpy(device[i], host[i], MOST * sizeof(float), cudaMemcpyHostToDevice);
    }
}

static cudaError_t check_sizes(sizes s)
{
    fill();
    cudaError_t error =
        linear_forward(device[Y], device[X], device[W], device[BIAS], s.batch, s.in, s.out, NULL);
    if (!error)
        error = linear_backward(device[GRAD_X], device[GRAD_W], device[GRAD_BIAS], device[GRAD_Y],
                                device[X], device[W], s.batch, s.in, s.out, NULL);
    if (error) return error;
    check(Y, "y", s.batch, s.out, s);
    check(GRAD_X, "grad_x", s.batch, s.in, s);
    check(GRAD_W, "grad_w", s.out, s.in, s);
    check(GRAD_BIAS, "grad_bias", 1, s.out, s);
    return cudaSuccess;
}

/* ---- attention ------------------------------------------------------------------------------- */

enum { Q, K, V, GRAD_OUT, OUT, GRAD_Q, GRAD_K, GRAD_V };

#define SEQ 140

typedef struct shape {
    int batch, heads, seq, dim;
} shape;

static double want[ARRAYS][MOST]; /* OUT to GRAD_V */

/* Query t of a head, which begins at `at`: its output, and its part in all gradients. */
static void attend(size_t at, int t, shape s, double scale)
{
    const int dim = s.dim;
    const float *q = host[Q] + at + t * dim, *k = host[K] + at, *v = host[V] + at;
    const float *grad_out = host[GRAD_OUT] + at + t * dim;
    double p[SEQ], grad_p[SEQ], sum = 0.0, mean = 0.0;
    for (int u = 0; u <= t; u++) sum += p[u] = exp(scale * dot(q, 1, k + u * dim, 1, dim));
    for (int u = 0; u <= t; u++) {
        p[u] /= sum;
        grad_p[u] = dot(grad_out, 1, v + u * dim, 1, dim);
        mean += p[u] * grad_p[u];
    }
    for (int u = 0; u <= t; u++) {
        const double grad_s = scale * p[u] * (grad_p[u] - mean);
        for (int d = 0; d < dim; d++) {
            want[OUT][at + t * dim + d] += p[u] * v[u * dim + d];
            want[GRAD_V][at + u * dim + d] += p[u] * grad_out[d];
            want[GRAD_Q][at + t * dim + d] += grad_s * k[u * dim + d];
            want[GRAD_K][at + u * dim + d] += grad_s * q[d];
        }
    }
}

static void check_attention_array(int array, const char *name, shape s)
{
    double worst = 0.0;
    char of[64];
    cudaMemcpy(host[array], device[array], MOST * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < s.batch * s.heads * s.seq * s.dim; i++) {
        const double off = fabs(host[array][i] - want[array][i]);
        if (!(off <= worst)) worst = off;
    }
    snprintf(of, sizeof of, "%d x %d x %d x %d", s.batch, s.heads, s.seq, s.dim);
    judge(name, of, worst);
}

static cudaError_t check_attention(shape s)
{
    const float scale = 0.3f;
    fill();
    memset(want, 0, sizeof want);
    for (int head = 0; head < s.batch * s.heads; head++) {
        const size_t at = (size_t)head * s.seq * s.dim;
        for (int t = 0; t < s.seq; t++) attend(at, t, s, scale);
    }
    cudaError_t error = attention_naive(device[OUT], device[Q], device[K], device[V], s.batch,
                                        s.heads, s.seq, s.dim, 1, scale, NULL);
    if (!error)
        error = attention_naive_backward(device[GRAD_Q], device[GRAD_K], device[GRAD_V],
                                         device[GRAD_OUT], device[Q], device[K], device[V], s.batch,
                                         s.heads, s.seq, s.dim, 1, scale, NULL);
    if (error) return error;
    check_attention_array(OUT, "out", s);
    check_attention_array(GRAD_Q, "grad_q", s);
    check_attention_array(GRAD_K, "grad_k", s);
    check_attention_array(GRAD_V, "grad_v", s);
    return cudaSuccess;
}

int main(void)
{
    static const sizes all[] = {{8, 16, 12}, {72, 100, 64}, {5, 7, 3}};
    static const shape shapes[] = {{1, 1, 16, 64}, {1, 1, 140, 64}, {5, 2, 70, 12}, {1, 3, 1, 2}};
    for (int i = 0; i < ARRAYS; i++) cudaMalloc((void **)&device[i], MOST * sizeof(float));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) failures += check_sizes(all[i]) != 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        failures += check_attention(shapes[i]) != 0;
    printf("%d passed, %d failed\n", passed, failures);
    return failures != 0;
}
