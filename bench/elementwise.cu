/*
 * elementwise.cu: 204's four functions, and 301's relu_backward, beside a plain loop on one core of
 * the CPU.
 *
 *   bench_elementwise     TSV on stdout
 *
 * A time is the median of REPEATS calls, each from an idle device until it is idle again; arrays
 * are too large for any cache, and lie where they are used. GB/s are of inputs read once and
 * results written once. The loop is compiled for this CPU, and its results are the GPU's. softgpu
 * has no times: there arrays are small.
 */
#include "204_elementwise/elementwise.h"
#include "301_activations/activations.h"
#include "cuda_check.h"
#include "random.h"
#include "table.h"
#include "timer.h"

#include <math.h>

#define REPEATS       15
#define BLOCK         256
#define ALLOWED       1e-6 /* of a result, at most 1 */

#define RELU_BACKWARD -1 /* not one of 204's */

static const struct {
    const char *name;
    int op, inputs;
} functions[] = {{"204: add", ELEMENTWISE_ADD, 2},
                 {"204: mul", ELEMENTWISE_MUL, 2},
                 {"204: relu", ELEMENTWISE_RELU, 1},
                 {"204: sigmoid", ELEMENTWISE_SIGMOID, 1},
                 {"301: relu_backward", RELU_BACKWARD, 2}};

static bool on_softgpu;

static void on_cpu(int op, float *y, const float *a, const float *b, size_t n)
{
    if (op == ELEMENTWISE_ADD)
        for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i];
    else if (op == ELEMENTWISE_MUL)
        for (size_t i = 0; i < n; i++) y[i] = a[i] * b[i];
    else if (op == ELEMENTWISE_RELU)
        for (size_t i = 0; i < n; i++) y[i] = a[i] < 0.0f ? 0.0f : a[i];
    else if (op == RELU_BACKWARD)
        for (size_t i = 0; i < n; i++) y[i] = b[i] > 0.0f ? a[i] : 0.0f;
    else
        for (size_t i = 0; i < n; i++) y[i] = 1.0f / (1.0f + expf(-a[i]));
}

static cudaError_t on_gpu(int op, float *y, const float *a, const float *b, size_t n, int grid)
{
    if (op == RELU_BACKWARD) return relu_backward(y, a, b, n, 0);
    return elementwise(op, y, a, b, n, grid, BLOCK, 0);
}

/* @param ms [2] of the GPU and of the CPU. @param x, d_x [3 x n]: y, a, b */
static cudaError_t time_both(double ms[2], int op, float *x, float *d_x, size_t n, int grid)
{
    double times[2][REPEATS];
    const int repeats = on_softgpu ? 1 : REPEATS;
    for (int i = on_softgpu ? 0 : -1; i < repeats; i++) {
        const double began = seconds_now();
        CUDA_CHECK(on_gpu(op, d_x, d_x + n, d_x + 2 * n, n, grid));
        CUDA_CHECK(cudaDeviceSynchronize());
        const double between = seconds_now();
        on_cpu(op, x, x + n, x + 2 * n, n);
        if (i < 0) continue;
        times[0][i] = 1e3 * (between - began), times[1][i] = 1e3 * (seconds_now() - between);
    }
    for (int k = 0; k < 2; k++) {
        qsort(times[k], repeats, sizeof *times[k], by_value);
        ms[k] = times[k][repeats / 2];
    }
    return cudaSuccess;
}

static cudaError_t row(int f, float *x, float *got, float *d_x, size_t n, int grid)
{
    double ms[2], apart = 0.0;
    CUDA_CHECK(cudaMemset(d_x, 0xff, n * sizeof *d_x)); /* NaN: what is not written shows */
    CUDA_CHECK(time_both(ms, functions[f].op, x, d_x, n, grid));
    CUDA_CHECK(cudaMemcpy(got, d_x, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - x[i]) <= apart)) apart = fabsf(got[i] - x[i]);
    const bool right = apart <= ALLOWED, timed = right && !on_softgpu;
    printf("%s\t%zu", functions[f].name, n);
    print_number("%.4f", timed ? ms[0] : 0);
    print_number("%.0f", timed ? 4e-6 * (functions[f].inputs + 1) * n / ms[0] : 0);
    print_number("%.3f", timed ? ms[1] : 0);
    print_number("%.1f", timed ? ms[1] / ms[0] : 0);
    printf("\t%s\n", right ? on_softgpu ? "right, softgpu has no times" : "right" : "WRONG");
    fflush(stdout);
    return cudaSuccess;
}

static cudaError_t bench(const cudaDeviceProp *p)
{
    const size_t n = on_softgpu ? 5000 : 1 << 26;
    const int grid = 16 * p->multiProcessorCount;
    float *x = (float *)malloc(4 * n * sizeof *x), *d_x; /* y, a, b; what the GPU makes of it */
    random_state rng = random_seed(204);
    if (x == NULL) return cudaErrorMemoryAllocation;
    random_fill_uniform(&rng, x + n, 2 * n, -1.0f, 1.0f);
    CUDA_CHECK(cudaMalloc((void **)&d_x, 3 * n * sizeof *d_x));
    CUDA_CHECK(cudaMemcpy(d_x, x, 3 * n * sizeof *d_x, cudaMemcpyHostToDevice));
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        CUDA_CHECK(row((int)f, x, x + 3 * n, d_x, n, grid));
    free(x);
    return cudaFree(d_x);
}

int main(void)
{
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0)) return 1;
    on_softgpu = strstr(p.name, "softgpu") != NULL;
    printf("# device %s, CPU %s, commit %s\n", p.name, variable("COURSE_CPU"),
           variable("COURSE_COMMIT"));
    printf("what\tn\tms\tGB/s\tCPU ms\ttimes the CPU\tverdict\n");
    return bench(&p) != cudaSuccess;
}
