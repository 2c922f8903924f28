/* timeline.cu: how many steps the work of several streams takes. */
#include "check.h"

#include "softgpu.h"

#include <cstdlib>

enum { CHUNKS = 8, CHUNK = 256, N = CHUNKS * CHUNK, BYTES = CHUNK * sizeof(float) };

__global__ static void add_one(float *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

struct pipeline {
    float *h, *d;
    cudaStream_t stream[CHUNKS];
    int streams;
};

static void open(pipeline *p, int streams, unsigned flags, bool pinned)
{
    p->streams = streams;
    p->d = device_array<float>(N);
    if (pinned)
        OK(cudaMallocHost(&p->h, N * sizeof(float)));
    else
        p->h = (float *)malloc(N * sizeof(float));
    for (int i = 0; i < N; i++) p->h[i] = 0;
    for (int i = 0; i < streams; i++) OK(cudaStreamCreateWithFlags(&p->stream[i], flags));
    softgpu_count_start();
}

/* @return the steps that it took */
static uint64_t close(pipeline *p, bool pinned)
{
    device_counts counts;
    OK(cudaDeviceSynchronize());
    softgpu_count_stop(&counts);
    for (int i = 0; i < p->streams; i++) OK(cudaStreamDestroy(p->stream[i]));
    for (int i = 0; i < N; i++) CHECK(p->h[i] == 1);
    if (pinned)
        OK(cudaFreeHost(p->h));
    else
        free(p->h);
    return counts.span;
}

static void submit(const pipeline *p, int chunk, cudaStream_t in, cudaStream_t work,
                   cudaStream_t out)
{
    float *h = p->h + chunk * CHUNK, *d = p->d + chunk * CHUNK;
    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, in));
    add_one<<<CHUNK / 64, 64, 0, work>>>(d);
    OK(cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, out));
}

/* Chunk i in stream i % streams; with `wait`, each is waited for. */
static uint64_t steps_of(int streams, unsigned flags, bool pinned, bool wait)
{
    pipeline p;
    open(&p, streams, flags, pinned);
    for (int i = 0; i < CHUNKS; i++) {
        cudaStream_t s = p.stream[i % streams];
        submit(&p, i, s, s, s);
        if (wait) OK(cudaStreamSynchronize(s));
    }
    return close(&p, pinned);
}

CASE(one_stream_does_one_thing_at_a_time)
{
    CHECK(steps_of(1, cudaStreamDefault, true, false) == 3 * CHUNKS);
    CHECK(steps_of(1, cudaStreamNonBlocking, true, false) == 3 * CHUNKS);
}

CASE(three_streams_fill_three_engines)
{
    CHECK(steps_of(2, cudaStreamDefault, true, false) == 3 * CHUNKS / 2 + 1);
    CHECK(steps_of(3, cudaStreamDefault, true, false) == CHUNKS + 2);
    CHECK(steps_of(CHUNKS, cudaStreamNonBlocking, true, false) == CHUNKS + 2);
}

CASE(pageable_copies_hold_up_the_host)
{
    CHECK(steps_of(3, cudaStreamDefault, false, false) == 3 * CHUNKS);
}

CASE(waiting_in_the_loop_is_one_stream)
{
    CHECK(steps_of(3, cudaStreamDefault, true, true) == 3 * CHUNKS);
}

/* A stream a stage; the events say what comes after what. */
CASE(events_order_three_stages)
{
    pipeline p;
    cudaEvent_t copied, done;
    open(&p, 3, cudaStreamNonBlocking, true);
    OK(cudaEventCreate(&copied));
    OK(cudaEventCreate(&done));
    for (int i = 0; i < CHUNKS; i++) {
        float *h = p.h + i * CHUNK, *d = p.d + i * CHUNK;
        OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, p.stream[0]));
        OK(cudaEventRecord(copied, p.stream[0]));
        OK(cudaStreamWaitEvent(p.stream[1], copied, 0));
        add_one<<<CHUNK / 64, 64, 0, p.stream[1]>>>(d);
        OK(cudaEventRecord(done, p.stream[1]));
        OK(cudaStreamWaitEvent(p.stream[2], done, 0));
        OK(cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, p.stream[2]));
    }
    OK(cudaEventDestroy(copied));
    OK(cudaEventDestroy(done));
    CHECK(close(&p, true) == CHUNKS + 2);
}

/* Blocking streams wait for the legacy stream, and it for them. */
CASE(legacy_stream_separates)
{
    pipeline p;
    open(&p, 2, cudaStreamDefault, true);
    for (int i = 0; i < CHUNKS; i++)
        submit(&p, i, p.stream[0], i % 2 ? (cudaStream_t)0 : p.stream[0], p.stream[0]);
    CHECK(close(&p, true) == 3 * CHUNKS);
    open(&p, 3, cudaStreamDefault, true);
    for (int i = 0; i < CHUNKS; i++) submit(&p, i, p.stream[i % 3], 0, p.stream[i % 3]);
    CHECK(close(&p, true) == 2 * CHUNKS + 1);
}

CASE(memory_is_counted)
{
    device_counts counts;
    float *a, *b;
    softgpu_count_start();
    OK(cudaMalloc(&a, 1000));
    OK(cudaMalloc(&b, 24));
    OK(cudaFree(a));
    OK(cudaMalloc(&a, 500));
    OK(cudaFree(a));
    softgpu_count_stop(&counts);
    OK(cudaFree(b));
    CHECK(counts.peak == 1024); /* not what came after something went */
    CHECK(counts.allocated.count == 3 && counts.allocated.bytes == 1524);
    CHECK(counts.freed.count == 2 && counts.freed.bytes == 1500);
    CHECK(counts.span == 0);
}
