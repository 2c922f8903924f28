/*
 * gpt2_layers.c: the linear layer of bench/gpt2_layers.cu against double, with fp32's tolerance:
 * sizes that 4g takes, and sizes that it hands on. The last line counts.
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

static void check(int array, const char *name, int rows, int cols, sizes s)
{
    double worst = 0.0;
    cudaMemcpy(host[array], device[array], MOST * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < rows * cols; i++) {
        const double off = fabs(host[array][i] - expected(array, i / cols, i % cols, s));
        if (!(off <= worst)) worst = off;
    }
    const int right = worst <= 1e-5;
    passed += right;
    failures += !right;
    if (!right)
        printf("FAILED %s of %d x %d -> %d: off by %g\n", name, s.batch, s.in, s.out, worst);
}

static cudaError_t check_sizes(sizes s)
{
    random_state rng = random_seed(3);
    for (int i = 0; i < ARRAYS; i++) {
        random_fill_normal(&rng, host[i], MOST, 1.0f);
        cudaMemcpy(device[i], host[i], MOST * sizeof(float), cudaMemcpyHostToDevice);
    }
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

int main(void)
{
    static const sizes all[] = {{8, 16, 12}, {72, 100, 64}, {5, 7, 3}};
    for (int i = 0; i < ARRAYS; i++) cudaMalloc((void **)&device[i], MOST * sizeof(float));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) failures += check_sizes(all[i]) != 0;
    printf("%d passed, %d failed\n", passed, failures);
    return failures != 0;
}
