/* streams.cu: streams, events, callbacks, pools of memory. */
#include "check.h"

#include <thread>

__global__ void scale(float *p, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= by;
}

CASE(events)
{
    cudaEvent_t start, stop, untimed;
    cudaStream_t other;
    float ms = -1;
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    FAILS(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(start));
    scale<<<1, 32>>>(device_array<float>(0), 1, 0);
    OK(cudaEventRecord(stop, other));
    OK(cudaStreamWaitEvent(other, start, 0));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventQuery(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(ms >= 0 && ms < 10000);
    OK(cudaEventRecord(untimed));
    FAILS(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(start));
    FAILS(cudaEventRecord(start), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

static void note(void *data)
{
    *(int *)data += 1;
}

static void CUDART_CB note_status(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data += status == cudaSuccess ? 10 : 100;
}

CASE(callbacks)
{
    int calls = 0;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, note, &calls));
    OK(cudaStreamAddCallback(stream, note_status, &calls, 0));
    OK(cudaStreamSynchronize(stream));
    CHECK(calls == 11);
}

CASE(memory_pools)
{
    cudaMemPool_t pool;
    uint64_t threshold = 1 << 20, got = 0;
    void *p;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    CHECK(got == threshold);
    OK(cudaMallocFromPoolAsync(&p, 100, pool, 0));
    OK(cudaFree(p));
    OK(cudaMemPoolTrimTo(pool, 0));
}

CASE(priorities_and_flags)
{
    int least, greatest, priority;
    unsigned flags;
    cudaStream_t stream;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest < least);
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(stream, &priority));
    OK(cudaStreamGetFlags(stream, &flags));
    CHECK(priority == greatest && flags == cudaStreamNonBlocking);
    OK(cudaStreamDestroy(stream));
    FAILS(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
}

static void work_alone(float *sum, cudaError_t *last)
{
    cudaStream_t stream;
    float *p, host[64];
    cudaStreamCreate(&stream);
    cudaMalloc(&p, sizeof host);
    for (int i = 0; i < 64; i++) host[i] = 1;
    cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyHostToDevice, stream);
    for (int i = 0; i < 4; i++) scale<<<1, 64, 0, stream>>>(p, 2, 64);
    cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    *sum = host[0] + host[63];
    *last = cudaGetLastError();
}

/* Each host thread has a last error of its own. */
CASE(host_threads)
{
    float sum[4];
    cudaError_t last[4];
    std::vector<std::thread> threads;
    cudaSetDevice(99);
    for (int i = 0; i < 4; i++) threads.emplace_back(work_alone, &sum[i], &last[i]);
    for (std::thread &thread : threads) thread.join();
    for (int i = 0; i < 4; i++) CHECK(sum[i] == 32 && last[i] == cudaSuccess);
    FAILS(cudaGetLastError(), cudaErrorInvalidDevice);
}
