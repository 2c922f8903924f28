/* stream_races.cu: copies, fills and kernels of several streams on the same memory, ordered and
 * not. What is not ordered comes out right here all the same. */
#include "check.h"

#include "softgpu.h"

enum { N = 2048, HALF = N / 2, BYTES = N * sizeof(float) };

__global__ static void scale(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2 * // FINDING copy_reads_what_a_kernel_writes: stream-race // FINDING fill_overwrites_what_a_kernel_writes: stream-race // FINDING two_kernels_write: stream-race // FINDING caller_reads_what_a_kernel_writes: stream-race
           x[i]; // FINDING kernel_reads_what_a_copy_brings: stream-race // FINDING kernel_reads_what_a_kernel_writes: stream-race // FINDING copy_overwrites_what_a_kernel_reads: stream-race // FINDING ring_of_buffers: stream-race // FINDING legacy_stream_and_one_that_does_not_block: stream-race // FINDING event_of_before: stream-race // FINDING one_word_of_many: stream-race // FINDING kernel_reads_what_the_caller_writes: stream-race
}

__global__ static void count(int *sum)
{
    atomicAdd(sum, 1);
}

struct setting {
    cudaStream_t a, b;
    cudaEvent_t event;
    float *x, *y, *h;
};

__global__ static void add_one(unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i]++; // FINDING a_byte_of_a_copy: stream-race
}

__device__ static unsigned arrived;

/* Who comes last adds up what all have left, blocks of this launch or of another one. */
__global__ static void add_up(float *sum, float *parts, unsigned part, unsigned count)
{
    parts[part] = 1;
    __threadfence();
    if (atomicAdd(&arrived, 1) < count - 1) return;
    __threadfence();
    *sum = 0;
    for (unsigned i = 0; i < count; i++) *sum += parts[i];
}

__global__ static void fill_and_tell(float *y, int n, volatile int *flag)
{
    for (int i = 0; i < n; i++) y[i] = 1;
    __threadfence_system();
    *flag = 1;
}

static setting open(unsigned flags = cudaStreamNonBlocking)
{
    setting s;
    OK(cudaStreamCreateWithFlags(&s.a, flags));
    OK(cudaStreamCreateWithFlags(&s.b, flags));
    OK(cudaEventCreateWithFlags(&s.event, cudaEventDisableTiming));
    s.x = device_array<float>(N);
    s.y = device_array<float>(N);
    OK(cudaMallocHost(&s.h, BYTES));
    OK(cudaMemset(s.x, 0, BYTES));
    OK(cudaMemset(s.y, 0, BYTES));
    SYNC();
    return s;
}

static void close(setting s)
{
    SYNC();
    OK(cudaStreamDestroy(s.a));
    OK(cudaStreamDestroy(s.b));
    OK(cudaEventDestroy(s.event));
    OK(cudaFree(s.x));
    OK(cudaFree(s.y));
    OK(cudaFreeHost(s.h));
}

static void launch(cudaStream_t stream, float *y, const float *x, int n = N)
{
    scale<<<(n + 255) / 256, 256, 0, stream>>>(y, x, n);
}

static void send(float *to, const float *from, cudaStream_t stream, size_t bytes = BYTES)
{
    OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
}

static void fetch(float *to, const float *from, cudaStream_t stream)
{
    OK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToHost, stream));
}

/* b goes on where a has come to. */
static void join(const setting &s)
{
    OK(cudaEventRecord(s.event, s.a));
    OK(cudaStreamWaitEvent(s.b, s.event, 0));
}

/* ---- not ordered ----------------------------------------------------------------------------- */

CASE(kernel_reads_what_a_copy_brings)
{
    setting s = open();
    send(s.x, s.h, s.a);
    launch(s.b, s.y, s.x);
    close(s);
}

CASE(kernel_reads_what_a_kernel_writes)
{
    setting s = open();
    launch(s.a, s.x, s.y);
    launch(s.b, s.y + HALF, s.x, HALF);
    close(s);
}

/* What a tool says that the program's caller does in a stream. */
// STDERR caller_reads_what_a_kernel_writes: the given stream reads what a kernel writes, in another stream
CASE(caller_reads_what_a_kernel_writes)
{
    setting s = open();
    softgpu_touch(s.a, s.x, BYTES, 1);
    softgpu_touch(s.a, s.y, BYTES, 1);
    launch(s.a, s.y, s.x);
    join(s);
    launch(s.b, s.y, s.x);
    softgpu_touch(s.b, s.y, BYTES, 0);
    softgpu_touch(s.a, s.y, BYTES, 0);
    close(s);
}

CASE(kernel_reads_what_the_caller_writes)
{
    setting s = open();
    softgpu_touch(s.a, s.x, BYTES, 1);
    launch(s.b, s.y, s.x);
    close(s);
}

CASE(two_kernels_write)
{
    setting s = open();
    float *z = device_array<float>(N);
    OK(cudaMemset(z, 1, BYTES));
    SYNC();
    launch(s.a, s.x, s.y);
    launch(s.b, s.x, z);
    close(s);
}

CASE(copy_reads_what_a_kernel_writes)
{
    setting s = open();
    launch(s.a, s.y, s.x);
    fetch(s.h, s.y, s.b);
    close(s);
}

/* Reads are watched from the first works on that nothing orders. */
CASE(copy_overwrites_what_a_kernel_reads)
{
    setting s = open();
    launch(s.a, s.y, s.x, HALF);
    launch(s.b, s.y + HALF, s.x, HALF);
    launch(s.a, s.y, s.x, HALF);
    send(s.x, s.h, s.b);
    close(s);
}

CASE(fill_overwrites_what_a_kernel_writes)
{
    setting s = open();
    launch(s.a, s.y, s.x);
    OK(cudaMemsetAsync(s.y, 0, BYTES, s.b));
    close(s);
}

CASE(two_copies)
{
    setting s = open();
    send(s.x, s.h, s.a);
    OK(cudaMemcpyAsync(s.h, s.x, 4, cudaMemcpyDeviceToHost, s.b)); // FINDING two_copies: stream-race
    OK(cudaMemcpyAsync(s.y, s.x, 4, cudaMemcpyDeviceToDevice, s.b)); // FINDING two_copies: stream-race
    close(s);
}

CASE(one_word_of_many)
{
    setting s = open();
    send(s.x + 777, s.h, s.a, sizeof(float));
    launch(s.b, s.y, s.x);
    close(s);
}

CASE(legacy_stream_and_one_that_does_not_block)
{
    setting s = open();
    send(s.x, s.h, s.a);
    launch(0, s.y, s.x);
    close(s);
}

/* The event says nothing of what came after it. */
CASE(event_of_before)
{
    setting s = open();
    join(s);
    send(s.x, s.h, s.a);
    launch(s.b, s.y, s.x);
    close(s);
}

/* A stream for each stage, and buffers that nobody asks before they are filled again. */
CASE(ring_of_buffers)
{
    setting s = open();
    for (int i = 0; i < 6; i++) {
        float *buffer = s.x + i % 2 * HALF;
        send(buffer, s.h, s.a, BYTES / 2); // MAYBE ring_of_buffers: stream-race
        join(s);
        launch(s.b, s.y, buffer, HALF); // MAYBE ring_of_buffers: stream-race
    }
    close(s);
}

CASE(a_byte_of_a_copy)
{
    setting s = open();
    unsigned char *bytes = (unsigned char *)s.x;
    OK(cudaMemcpyAsync(bytes, s.h, 1001, cudaMemcpyHostToDevice, s.a));
    add_one<<<4, 256, 0, s.b>>>(bytes + 999, 1);
    close(s);
}

/* ---- ordered --------------------------------------------------------------------------------- */

CASE(one_stream)
{
    setting s = open();
    for (int i = 0; i < 3; i++) {
        send(s.x, s.h, s.a);
        launch(s.a, s.y, s.x);
        fetch(s.h, s.y, s.a);
    }
    close(s);
}

CASE(an_event)
{
    setting s = open();
    send(s.x, s.h, s.a);
    join(s);
    launch(s.b, s.y, s.x);
    close(s);
}

/* a, b, and back: the third work knows the first one through the second. */
CASE(events_on_the_way)
{
    setting s = open();
    cudaStream_t c;
    cudaEvent_t second;
    OK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    OK(cudaEventCreate(&second));
    send(s.x, s.h, s.a);
    join(s);
    OK(cudaEventRecord(second, s.b));
    OK(cudaStreamWaitEvent(c, second, 0));
    launch(c, s.y, s.x);
    close(s);
}

CASE(the_host_waits)
{
    setting s = open();
    send(s.x, s.h, s.a);
    OK(cudaStreamSynchronize(s.a));
    launch(s.b, s.y, s.x);
    OK(cudaEventRecord(s.event, s.b));
    OK(cudaEventSynchronize(s.event));
    fetch(s.h, s.y, s.a);
    OK(cudaStreamQuery(s.a));
    send(s.y, s.h, s.b);
    close(s);
}

CASE(streams_that_block)
{
    setting s = open(cudaStreamDefault);
    send(s.x, s.h, s.a);
    launch(0, s.y, s.x);
    fetch(s.h, s.y, s.b);
    close(s);
}

CASE(a_callback_tells_the_host)
{
    setting s = open();
    send(s.x, s.h, s.a);
    OK(cudaLaunchHostFunc(s.a, [](void *) {}, nullptr));
    launch(s.b, s.y, s.x);
    close(s);
}

CASE(memory_apart)
{
    setting s = open();
    for (int i = 0; i < 4; i++) {
        send(s.x, s.h, s.a, BYTES / 2);
        launch(s.a, s.y, s.x, HALF);
        send(s.x + HALF, s.h + HALF, s.b, BYTES / 2);
        launch(s.b, s.y + HALF, s.x + HALF, HALF);
    }
    close(s);
}

CASE(both_only_read)
{
    setting s = open();
    for (int i = 0; i < 3; i++) {
        launch(s.a, s.y, s.x, HALF);
        launch(s.b, s.y + HALF, s.x, HALF);
        fetch(s.h, s.x, s.a);
    }
    close(s);
}

CASE(both_add_with_atomics)
{
    setting s = open();
    int *sum = to_device(std::vector<int>(1, 0));
    OK(cudaDeviceSynchronize()); /* that copy is taken, not there */
    count<<<4, 64, 0, s.a>>>(sum);
    count<<<4, 64, 0, s.b>>>(sum);
    close(s);
    CHECK(to_host(sum, 1)[0] == 512);
}

/* More streams than lanes: some share one, and nothing is made up. */
CASE(many_streams)
{
    setting s = open();
    cudaStream_t streams[50];
    OK(cudaEventRecord(s.event, s.a));
    for (int i = 0; i < 50; i++) {
        OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        OK(cudaStreamWaitEvent(streams[i], s.event, 0));
        launch(streams[i], s.y, s.x);
        OK(cudaEventRecord(s.event, streams[i]));
    }
    for (int i = 0; i < 50; i++) OK(cudaStreamDestroy(streams[i]));
    close(s);
}

CASE(memory_that_was_another)
{
    setting s = open();
    float *first;
    OK(cudaMallocAsync(&first, BYTES, s.a));
    send(first, s.h, s.a);
    OK(cudaFreeAsync(first, s.a));
    for (int i = 0; i < 3; i++) {
        float *next;
        OK(cudaMallocAsync(&next, BYTES, s.b));
        OK(cudaMemsetAsync(next, 0, BYTES, s.b));
        launch(s.b, next, s.x);
        OK(cudaFreeAsync(next, s.b));
    }
    close(s);
}

/* Nodes come one after the other, and after what the stream did. */
CASE(a_graph)
{
    setting s = open();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
    send(s.x, s.h, s.a);
    join(s);
    launch(s.b, s.y, s.x, HALF);
    launch(s.a, s.y + HALF, s.x, HALF);
    OK(cudaEventRecord(s.event, s.b));
    OK(cudaStreamWaitEvent(s.a, s.event, 0));
    OK(cudaStreamEndCapture(s.a, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(exec, s.a));
    fetch(s.h, s.y, s.a);
    close(s);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

static cudaGraphExec_t captured_scale(const setting &s)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
    launch(s.a, s.y, s.x);
    OK(cudaStreamEndCapture(s.a, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    return exec;
}

/* A launch of a graph comes after the one before, and so does what follows it. */
CASE(a_graph_in_two_streams)
{
    setting s = open();
    cudaGraphExec_t exec = captured_scale(s);
    send(s.x, s.h, s.a);
    OK(cudaGraphLaunch(exec, s.a));
    OK(cudaGraphLaunch(exec, s.b));
    fetch(s.h, s.y, s.b);
    send(s.x, s.h, s.b);
    close(s);
    OK(cudaGraphExecDestroy(exec));
}

/* What the node waits for is the event as it is when the graph runs. */
CASE(a_graph_that_waits_for_an_event)
{
    setting s = open();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(s.b, cudaStreamCaptureModeGlobal));
    OK(cudaStreamWaitEvent(s.b, s.event, cudaEventWaitExternal));
    launch(s.b, s.y, s.x);
    OK(cudaStreamEndCapture(s.b, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    send(s.x, s.h, s.a);
    OK(cudaEventRecord(s.event, s.a));
    OK(cudaGraphLaunch(exec, s.b));
    close(s);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

CASE(bytes_of_one_word)
{
    setting s = open();
    unsigned char *bytes = (unsigned char *)s.x;
    add_one<<<4, 256, 0, s.a>>>(bytes, 1001);
    OK(cudaMemcpyAsync(bytes + 1001, s.h, 1001, cudaMemcpyHostToDevice, s.b));
    add_one<<<4, 256, 0, s.a>>>(bytes, 1001);
    OK(cudaMemcpyAsync(s.h, bytes + 1001, 1001, cudaMemcpyDeviceToHost, s.b));
    close(s);
}

CASE(a_ticket_of_two_kernels)
{
    setting s = open();
    add_up<<<1, 1, 0, s.a>>>(s.y, s.x, 0, 2);
    add_up<<<1, 1, 0, s.b>>>(s.y, s.x, 1, 2);
    close(s);
}

/* What was freed in one stream comes back in the other, at the same address. */
CASE(large_memory_again)
{
    setting s = open();
    for (int i = 0; i < 8; i++) {
        cudaStream_t stream = i < 4 ? s.a : s.b;
        float *large;
        OK(cudaMallocAsync(&large, 100 << 20, stream));
        OK(cudaMemsetAsync(large, 0, BYTES, stream));
        launch(stream, large + N, large);
        OK(cudaFreeAsync(large, stream));
    }
    close(s);
}

/* The host sees the kernel's flag, and that is as good as waiting. */
CASE(a_flag_in_host_memory)
{
    setting s = open();
    volatile int *flag = (volatile int *)s.h;
    *flag = 0;
    launch(s.b, s.x, s.x + HALF, 1);
    fill_and_tell<<<1, 1, 0, s.a>>>(s.y, 64, (int *)s.h);
    while (!*flag) continue;
    launch(s.b, s.x, s.y, 64);
    close(s);
}

CASE(who_knows_the_time_has_waited)
{
    setting s = open();
    cudaEvent_t first, second;
    float ms;
    OK(cudaEventCreate(&first));
    OK(cudaEventCreate(&second));
    OK(cudaEventRecord(first, s.a));
    send(s.x, s.h, s.a);
    OK(cudaEventRecord(second, s.a));
    OK(cudaEventElapsedTime(&ms, first, second));
    launch(s.b, s.y, s.x);
    close(s);
}

CASE(a_copy_between_peers_waits_for_all)
{
    setting s = open();
    send(s.x, s.h, s.a);
    OK(cudaMemcpyPeer(s.y, 0, s.x, 0, BYTES));
    launch(s.b, s.x, s.y);
    close(s);
}

/* More works than are known at a time, of far more streams. */
CASE(many_streams_and_works)
{
    setting s = open();
    cudaStream_t streams[100];
    for (auto &stream : streams) OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 3000; i++) launch(streams[i % 100], s.y + i % 100, s.x + 100 + i % 100, 1);
    for (auto &stream : streams) OK(cudaStreamDestroy(stream));
    close(s);
}

CASE(switched_off) // ENV switched_off: SOFTGPU_CHECKS=warn,races=off
{
    setting s = open();
    send(s.x, s.h, s.a);
    launch(s.b, s.y, s.x);
    fetch(s.h, s.x, s.b);
    close(s);
}
