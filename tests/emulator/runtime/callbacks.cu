/* callbacks.cu: functions of the program's that a stream calls. */
#include "softgpu.h"
#include "check.h"

#include <atomic>
#include <thread>
#include <unistd.h>

__global__ void set(int *p, int value)
{
    *p = value;
}

static std::vector<int> order;

static void note(void *number)
{
    order.push_back((int)(intptr_t)number);
}

static void CUDART_CB note_status(cudaStream_t stream, cudaError_t status, void *number)
{
    order.push_back((int)(intptr_t)number + (status == cudaSuccess ? 0 : 100) +
                    (stream ? 0 : 1000));
}

CASE(in_order)
{
    cudaStream_t stream;
    int host = 0, *p = device_array<int>(1);
    OK(cudaStreamCreate(&stream));
    OK(cudaLaunchHostFunc(stream, note, (void *)1));
    set<<<1, 1, 0, stream>>>(p, 7);
    OK(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamAddCallback(stream, note_status, (void *)2, 0));
    OK(cudaLaunchHostFunc(stream, note, (void *)3));
    OK(cudaStreamSynchronize(stream));
    CHECK(host == 7 && order == std::vector<int>({1, 2, 3}));
    FAILS(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
    FAILS(cudaStreamAddCallback(stream, note_status, nullptr, 1), cudaErrorInvalidValue);
    cudaGetLastError();
}

static cudaError_t inside[4];

static void use_cuda(void *)
{
    void *p;
    inside[0] = cudaMalloc(&p, 16);
    inside[1] = cudaDeviceSynchronize();
    inside[2] = cudaStreamSynchronize(0);
    set<<<1, 1>>>(nullptr, 1);
    inside[3] = cudaGetLastError();
}

/* CUDA forbids a callback its own calls: an error, no deadlock. */
CASE(no_cuda_inside)
{
    OK(cudaLaunchHostFunc(0, use_cuda, nullptr));
    for (cudaError_t error : inside) CHECK(error == cudaErrorNotPermitted);
    OK(cudaDeviceSynchronize());
}

static std::atomic<bool> finished;

static void wait_for_thread(void *)
{
    for (int i = 0; i < 1000 && !finished; i++) usleep(10000);
}

/* While a callback waits, other threads use the device. */
CASE(other_threads_go_on)
{
    int *p = device_array<int>(1);
    std::thread other([&] {
        usleep(20000);
        set<<<1, 1>>>(p, 3);
        OK(cudaDeviceSynchronize());
        finished = true;
    });
    OK(cudaLaunchHostFunc(0, wait_for_thread, nullptr));
    CHECK(finished);
    other.join();
    CHECK(to_host(p, 1)[0] == 3);
}

static cudaGraphExec_t exec;

static void *end_it(void *)
{
    OK(cudaGraphExecDestroy(exec));
    return nullptr;
}

static void let_another_end_it(void *)
{
    std::thread(end_it, nullptr).join();
}

/* A graph that is destroyed while it runs runs to its end. */
CASE(a_graph_ended_in_its_run)
{
    int *p = to_device(std::vector<int>(1)), value = 8;
    void *args[] = {&p, &value};
    cudaHostNodeParams call = {let_another_end_it, nullptr};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)set, launch.gridDim = 1, launch.blockDim = 1;
    launch.kernelParams = args;
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddHostNode(&first, graph, nullptr, 0, &call));
    OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &launch));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(to_host(p, 1)[0] == 8);
    FAILS(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

static cudaStream_t its_stream;

static void let_another_destroy_its_stream(void *)
{
    std::thread([] { OK(cudaStreamDestroy(its_stream)); }).join();
}

static void let_another_reset(void *)
{
    std::thread([] { OK(cudaDeviceReset()); }).join();
}

static cudaError_t run_with(cudaHostFn_t callback, int *p)
{
    cudaGraph_t graph;
    OK(cudaStreamCreate(&its_stream));
    OK(cudaStreamBeginCapture(its_stream, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchHostFunc(its_stream, callback, nullptr));
    set<<<1, 1, 0, its_stream>>>(p, 8);
    OK(cudaStreamEndCapture(its_stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    return cudaGraphLaunch(exec, its_stream);
}

/* So does one whose stream is destroyed, */
CASE(a_stream_ended_in_a_run)
{
    int *p = to_device(std::vector<int>(1));
    OK(run_with(let_another_destroy_its_stream, p));
    CHECK(to_host(p, 1)[0] == 8);
}

/* but not one whose device is gone. */
CASE(a_device_reset_in_a_run)
{
    int *p = to_device(std::vector<int>(1));
    FAILS(run_with(let_another_reset, p), cudaErrorContextIsDestroyed);
}

/* A captured callback is a node; the older form cannot be captured. */
CASE(captured)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchHostFunc(stream, note, (void *)1));
    OK(cudaStreamEndCapture(stream, &graph));
    CHECK(order.empty());
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    FAILS(cudaStreamAddCallback(stream, note_status, nullptr, 0),
          cudaErrorStreamCaptureUnsupported);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

__global__ void misaligned(char *p)
{
    *(int *)(p + 1) = 1;
}

static void use_cuda_in_hook(const device_finding *finding, void *count)
{
    void *p;
    *(int *)count += finding->kind == FINDING_MISALIGNED && !strcmp(finding->file, "callbacks.cu");
    CHECK(cudaMalloc(&p, 16) == cudaErrorNotPermitted);
}

/* A tool's hook is called without the lock as well. */
CASE(hook)
{
    int count = 0;
    char *p = device_array<char>(16);
    softgpu_on_finding(use_cuda_in_hook, &count);
    misaligned<<<1, 1>>>(p);
    FAILS(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    CHECK(count == 1);
}
