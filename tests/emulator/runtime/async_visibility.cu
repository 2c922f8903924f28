/* async_visibility.cu: asynchronous copies from and to pinned memory, as a program finds them that
 * has not waited, and as one does that has. */
#include "check.h"

enum { N = 1000 };

__global__ void set(int *p, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) p[i] = value;
}

__global__ void add_one(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) p[i]++;
}

static int *pinned(int value)
{
    int *p;
    OK(cudaMallocHost(&p, N * sizeof(int)));
    for (int i = 0; i < N; i++) p[i] = value;
    return p;
}

static int *ones(cudaStream_t stream)
{
    int *d = device_array<int>(N);
    set<<<4, 256, 0, stream>>>(d, 1);
    return d;
}

static void bring(int *host, const int *device, cudaStream_t stream)
{
    OK(cudaMemcpyAsync(host, device, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
}

static cudaStream_t new_stream()
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* To record an event is not to wait. A GPU may be quicker, and a program may not rely on that. */
CASE(what_comes_is_late)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event;
    int *host = pinned(7), *device = ones(stream);
    OK(cudaEventCreate(&event));
    bring(host, device, stream);
    OK(cudaEventRecord(event, stream));
    CHECK(host[0] == 7 && host[N - 1] == 7);
    OK(cudaEventSynchronize(event));
    CHECK(host[0] == 1 && host[N - 1] == 1);
    OK(cudaFreeHost(host));
}

CASE(each_way_of_waiting)
{
    cudaStream_t stream = new_stream();
    int *host = pinned(7), *device = ones(stream), *other = ones(stream);
    for (int way = 0; way < 5; way++) {
        host[0] = 7;
        bring(host, device, stream);
        switch (way) {
        case 0: OK(cudaStreamSynchronize(stream)); break;
        case 1: OK(cudaDeviceSynchronize()); break;
        case 2: OK(cudaFree(other)); break;
        case 3:
            while (cudaStreamQuery(stream) == cudaErrorNotReady) continue;
            break;
        default: OK(cudaMemcpy(host + 1, device + 1, 4, cudaMemcpyDeviceToHost));
        }
        CHECK(host[0] == 1);
    }
    OK(cudaFreeHost(host));
}

/* The next work of the stream finds what the copy brought; a copy that is over is no matter. */
CASE(in_the_order_of_the_stream)
{
    cudaStream_t stream = new_stream();
    int *host = pinned(7), *device = ones(stream), *copy = device_array<int>(N), sum = 0;
    bring(host, device, stream);
    add_one<<<4, 256, 0, stream>>>(host);
    add_one<<<4, 256, 0, stream>>>(device);
    OK(cudaMemcpyAsync(copy, host, N * sizeof(int), cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++) sum += host[i];
    CHECK(sum == 2 * N);
    OK(cudaMemcpy(host, copy, N * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(host[N - 1] == 2);
    OK(cudaFreeHost(host));
}

/* To pageable memory the driver brings it before it returns. */
CASE(pageable_memory_is_not_late)
{
    cudaStream_t stream = new_stream();
    std::vector<int> host(N, 7);
    bring(host.data(), ones(stream), stream);
    CHECK(host[0] == 1 && host[N - 1] == 1);
}

// STDERR freed_too_early: freed too early: frees pinned memory while the copy at
// STDERR freed_too_early: nothing has waited for its stream:
CASE(freed_too_early)
{
    cudaStream_t stream = new_stream();
    int *host = pinned(7), *device = device_array<int>(N);
    OK(cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice, stream));
    OK(cudaFreeHost(host)); // FINDING freed_too_early: freed-too-early
}

// STDERR overwritten: stream race: the host writes to pinned memory while a copy of 4 bytes
CASE(overwritten)
{
    cudaStream_t stream = new_stream();
    int *h = pinned(7), *d = device_array<int>(N);
    OK(cudaMemcpyAsync(d, h, 4, cudaMemcpyDefault, stream)); // FINDING overwritten: stream-race
    h[0] = 8;
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeHost(h));
}

static cudaGraphExec_t captured(cudaStream_t stream, void (*launch)(int *, cudaStream_t), int *p)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(p, stream);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    return exec;
}

static void add_to(int *p, cudaStream_t stream)
{
    add_one<<<4, 256, 0, stream>>>(p);
}

static void tell(int *p, cudaStream_t stream)
{
    OK(cudaLaunchHostFunc(stream, [](void *told) { *(int *)told = 1; }, p));
}

/* To launch a graph is not to wait. */
// STDERR overwritten_before_a_graph: stream race: the host writes to pinned memory while a copy of 4
CASE(overwritten_before_a_graph)
{
    cudaStream_t stream = new_stream();
    int *h = pinned(7), *d = ones(stream);
    cudaGraphExec_t exec = captured(stream, add_to, d);
    OK(cudaMemcpyAsync(d, h, 4, cudaMemcpyDefault, stream)); // FINDING overwritten_before_a_graph: stream-race
    h[0] = 8;
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeHost(h));
}

/* A graph's kernels come behind the copies of their stream, from there and to there. */
CASE(written_by_a_graph)
{
    cudaStream_t stream = new_stream();
    int *h = pinned(7), *from = pinned(5), *d = ones(stream);
    cudaGraphExec_t exec = captured(stream, add_to, h);
    OK(cudaMemcpyAsync(d, from, N * sizeof(int), cudaMemcpyDefault, stream));
    bring(h, d, stream);
    OK(cudaMemcpyAsync(d, h, N * sizeof(int), cudaMemcpyDefault, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(h[0] == 6 && h[N - 1] == 6);
    OK(cudaFreeHost(h));
    OK(cudaFreeHost(from));
}

/* A callback that has run says that all before it is done. */
CASE(told_by_a_graph)
{
    cudaStream_t stream = new_stream();
    static int told;
    int *h = pinned(7), *d = ones(stream);
    cudaGraphExec_t exec = captured(stream, tell, &told);
    OK(cudaMemcpyAsync(d, h, 4, cudaMemcpyDefault, stream));
    OK(cudaGraphLaunch(exec, stream));
    while (!*(volatile int *)&told) continue;
    h[0] = 8;
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeHost(h));
}

/* After an event, or by the device in the order of the stream, the source may change. */
CASE(written_in_order)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event;
    int *host = pinned(7), *device = device_array<int>(N);
    OK(cudaEventCreate(&event));
    OK(cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice, stream));
    OK(cudaEventRecord(event, stream));
    OK(cudaEventSynchronize(event));
    host[0] = 8;
    OK(cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice, stream));
    add_one<<<4, 256, 0, stream>>>(host);
    add_one<<<4, 256, 0, stream>>>(device);
    bring(host, device, stream);
    OK(cudaStreamSynchronize(stream));
    CHECK(host[0] == 9 && host[1] == 8);
    OK(cudaFreeHost(host));
}

// STDERR wrong_stream: freed too early
CASE(wrong_stream)
{
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t before;
    int *host = pinned(7), *device = device_array<int>(N);
    OK(cudaEventCreate(&before));
    OK(cudaEventRecord(before, stream));
    OK(cudaMemcpyAsync(device, host + 1, 4, cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(other));
    OK(cudaEventSynchronize(before));
    OK(cudaFreeHost(host)); // FINDING wrong_stream: freed-too-early
}

CASE(an_event_of_another_stream)
{
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t event;
    int *host = pinned(7), *device = device_array<int>(N);
    OK(cudaEventCreate(&event));
    OK(cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice, stream));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(other, event, 0));
    OK(cudaStreamSynchronize(other));
    OK(cudaFreeHost(host));
}

CASE(the_default_stream)
{
    int *host = pinned(7), *device = ones(0);
    bring(host, device, 0);
    OK(cudaStreamSynchronize(0));
    CHECK(host[0] == 1);
    bring(host, device, 0);
    OK(cudaDeviceReset());
}

static void note(void *data)
{
    *(bool *)data = true;
}

/* Who waits for a callback has waited for what was before it. */
CASE(a_callback_tells)
{
    cudaStream_t stream = new_stream();
    static volatile bool told;
    int *host = pinned(7), *device = ones(stream);
    bring(host, device, stream);
    OK(cudaLaunchHostFunc(stream, note, (void *)&told));
    while (!told) continue;
    CHECK(host[0] == 1);
    OK(cudaFreeHost(host));
}

CASE(many_copies)
{
    cudaStream_t stream = new_stream();
    int *host = pinned(7), *device = ones(stream);
    for (int i = 0; i < N; i++)
        OK(cudaMemcpyAsync(host + i, device + i, 4, cudaMemcpyDeviceToHost, stream));
    CHECK(host[0] == 1 && host[N - 2] == 1 && host[N - 1] == 7);
    OK(cudaStreamSynchronize(stream));
    CHECK(host[N - 1] == 1);
    OK(cudaFreeHost(host));
}

CASE(too_many_bytes_are_refused)
{
    cudaStream_t stream = new_stream();
    int *host = pinned(7), *device = device_array<int>(2 * N);
    FAILS(cudaMemcpyAsync(host, device, 2 * N * sizeof(int), cudaMemcpyDeviceToHost, stream),
          cudaErrorInvalidValue);
    OK(cudaFreeHost(host));
}
