/*
 * matmul.cu: the ladder of matrix products: uncoalesced, naive (206), tiled (211), cuBLAS.
 *
 *   matmul [SIZE ...]     TSV on stdout; sizes are n of n x n x n
 *
 * Each figure is the median of up to 15 calls between two events, after two calls to warm up. Lines
 * that begin with # name the machine. Built without WITH_CUBLAS (for softgpu) the last rung is left
 * out; there the figure says how fast the emulator is, and nothing of the kernel.
 */
#include "basics.h"
#include "cuda_check.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif

#define REPEATS 15

typedef cudaError_t matmul(float *c, const float *a, const float *b, int m, int n, int k,
                           cudaStream_t stream);

extern "C" matmul baseline_matmul_uncoalesced;

#ifdef WITH_CUBLAS
/* Row-major c = a b is column-major c^T = b^T a^T: exchange the operands. */
static cudaError_t matmul_cublas(float *c, const float *a, const float *b, int m, int n, int k,
                                 cudaStream_t stream)
{
    static cublasHandle_t handle;
    const float one = 1.0f, zero = 0.0f;
    if (!handle && cublasCreate(&handle)) return cudaErrorUnknown;
    cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH); /* fp32, no TF32 */
    cublasSetStream(handle, stream);
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n)
               ? cudaErrorUnknown
               : cudaSuccess;
}
#endif

#ifdef WITH_CUBLAS
#define RUNGS 4
#else
#define RUNGS 3
#endif

static const struct {
    const char *name;
    matmul *run;
} rungs[RUNGS] = {
    {"uncoalesced", baseline_matmul_uncoalesced},
    {"naive", matmul_naive},
    {"tiled", matmul_tiled},
#ifdef WITH_CUBLAS
    {"cuBLAS", matmul_cublas},
#endif
};

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static cudaError_t time_rung(matmul *run, float *c, const float *a, const float *b, int n,
                             int repeats, float *milliseconds)
{
    float times[REPEATS];
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    for (int i = -2; i < repeats; i++) {
        CUDA_CHECK(cudaEventRecord(start, 0));
        CUDA_CHECK(run(c, a, b, n, n, n, 0));
        CUDA_CHECK(cudaEventRecord(stop, 0));
        CUDA_CHECK(cudaEventSynchronize(stop));
        if (i >= 0) CUDA_CHECK(cudaEventElapsedTime(&times[i], start, stop));
    }
    qsort(times, (size_t)repeats, sizeof *times, by_value);
    *milliseconds = times[repeats / 2];
    CUDA_CHECK(cudaEventDestroy(start));
    return cudaEventDestroy(stop);
}

static cudaError_t random_matrix(float **d_x, random_state *rng, size_t count)
{
    float *h_x = (float *)malloc(count * sizeof *h_x);
    if (!h_x) return cudaErrorMemoryAllocation;
    random_fill_uniform(rng, h_x, count, -1.0f, 1.0f);
    CUDA_CHECK(cudaMalloc((void **)d_x, count * sizeof *h_x));
    CUDA_CHECK(cudaMemcpy(*d_x, h_x, count * sizeof *h_x, cudaMemcpyHostToDevice));
    free(h_x);
    return cudaSuccess;
}

static cudaError_t bench_size(int n, int repeats)
{
    float *a, *b, *c, milliseconds[RUNGS];
    random_state rng = random_seed((unsigned)n);
    CUDA_CHECK(random_matrix(&a, &rng, (size_t)n * n));
    CUDA_CHECK(random_matrix(&b, &rng, (size_t)n * n));
    CUDA_CHECK(cudaMalloc((void **)&c, (size_t)n * n * sizeof *c));
    for (int i = 0; i < RUNGS; i++) {
        CUDA_CHECK(time_rung(rungs[i].run, c, a, b, n, repeats, &milliseconds[i]));
    }
    for (int i = 0; i < RUNGS; i++) {
        const double gflops = 2e-6 * n * n * n / milliseconds[i];
        printf("%d\t%s\t%.4f\t%.1f\t%.1f\n", n, rungs[i].name, milliseconds[i], gflops,
               100.0 * milliseconds[RUNGS - 1] / milliseconds[i]);
    }
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    return cudaFree(c);
}

static cudaError_t describe_machine(int *emulated)
{
    cudaDeviceProp p;
    int driver = 0, runtime = 0;
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    const char *commit = getenv("COURSE_COMMIT");
    printf("# device %s, driver for CUDA %d.%d, runtime %d.%d, commit %s\n", p.name, driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, commit ? commit : "unknown");
    printf("n\tkernel\tmilliseconds\tGFLOP/s\tpercent of the last rung\n");
    *emulated = p.name[0] == 's';
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    int emulated = 0;
    if (describe_machine(&emulated) != cudaSuccess) return 1;
    if (argc < 2) {
        fprintf(stderr, "usage: matmul SIZE ...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (bench_size(atoi(argv[i]), emulated ? 1 : REPEATS) != cudaSuccess) return 1;
    }
    return 0;
}
