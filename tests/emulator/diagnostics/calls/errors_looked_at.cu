// nothing
// FLAGS:
// FLAGS: -O2
/* Calls that fail, and every way to see it. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__constant__ float weights[4];
static cudaError_t kept;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));                       \
    } while (0)

static void report(cudaError_t error, int line)
{
    if (error != cudaSuccess) printf("line %d: %s\n", line, cudaGetErrorName(error));
}

static cudaError_t hand_on(float *p)
{
    return cudaMemset(p, 0, 65 * sizeof *p);
}

static bool works(float *p)
{
    return cudaMemset(p, 0, 65 * sizeof *p) == cudaSuccess;
}

int main()
{
    float host[128] = {}, *p, *large;
    CHECK(cudaMalloc(&p, 64 * sizeof *p));
    CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    report(cudaMemcpyToSymbol(weights, host, 5 * sizeof *host), __LINE__);
    report(hand_on(p), __LINE__);
    if (works(p)) return 1;
    if (cudaMalloc(&large, (size_t)1 << 50) && cudaMalloc(&large, 64)) return 1;
    kept = cudaMemset(p, 0, 66 * sizeof *p);
    cudaMemset(p, 0, 67 * sizeof *p);
    CHECK(cudaGetLastError());
    const cudaError_t errors[2] = {cudaMemset(p, 0, 68), cudaMemset(p, 0, 680)};
    for (int i = 0; i < 2; i++) CHECK(errors[i]);
    return cudaFree(p) == cudaSuccess && kept && cudaMemcpy(host, p, 4, cudaMemcpyDefault) ? 0 : 1;
}
