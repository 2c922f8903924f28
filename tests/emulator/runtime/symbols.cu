/* symbols.cu: variables that live on the device. */
#include "check.h"

__constant__ float weights[8];
__constant__ int ready[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ float table[16] = {0.5f, 1.5f};
static __device__ double hidden = 2.5;

__global__ void use(float *out)
{
    int t = threadIdx.x;
    out[t] = weights[t % 8] + ready[t % 4];
    atomicAdd(&counter, 1);
}

CASE(constant_memory)
{
    float w[8] = {10, 20, 30, 40, 50, 60, 70, 80};
    float *out = device_array<float>(32);
    OK(cudaMemcpyToSymbol(weights, w, sizeof w));
    use<<<1, 32>>>(out);
    SYNC();
    std::vector<float> got = to_host(out, 32);
    for (int t = 0; t < 32; t++) CHECK(got[t] == w[t % 8] + t % 4 + 1);
}

CASE(device_variable)
{
    int zero = 0, value = -1;
    float w[8] = {};
    OK(cudaMemcpyToSymbol(weights, w, sizeof w));
    OK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    use<<<3, 32>>>(device_array<float>(32));
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    CHECK(value == 96);
}

CASE(initial_values_and_offsets)
{
    float got[2] = {}, patch = 9;
    double h = 0;
    OK(cudaMemcpyFromSymbol(got, table, sizeof got));
    CHECK(got[0] == 0.5f && got[1] == 1.5f);
    OK(cudaMemcpyToSymbol(table, &patch, sizeof patch, sizeof(float)));
    OK(cudaMemcpyFromSymbol(got, table, sizeof(float), sizeof(float)));
    CHECK(got[0] == 9);
    OK(cudaMemcpyFromSymbol(&h, hidden, sizeof h));
    CHECK(h == 2.5);
}

__global__ void negate(float *p)
{
    p[threadIdx.x] = -p[threadIdx.x];
}

CASE(address_and_size)
{
    float *p, first;
    size_t bytes = 0;
    OK(cudaGetSymbolAddress((void **)&p, table));
    OK(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == sizeof table);
    negate<<<1, 16>>>(p);
    SYNC();
    OK(cudaMemcpyFromSymbol(&first, table, sizeof first));
    CHECK(first == -0.5f);
    FAILS(cudaFree(p), cudaErrorInvalidValue); // FINDING address_and_size: bad-free
}

CASE(wrong_symbols)
{
    int host = 0;
    FAILS(cudaMemcpyToSymbol(host, &host, sizeof host), cudaErrorInvalidSymbol);
    FAILS(cudaMemcpyToSymbol(counter, &host, 8), cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(counter, &host, 4, 0, cudaMemcpyDeviceToHost),
          cudaErrorInvalidMemcpyDirection);
}
