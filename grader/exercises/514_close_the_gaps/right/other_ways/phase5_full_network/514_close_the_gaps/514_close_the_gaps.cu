/* One graph for all steps. Its kernels ask the device which step it is: that says in which half of
 * `d_x` the batch is, and how many samples it has. */
#include "514_close_the_gaps/close_the_gaps.h"

#include <string.h>

#define BLOCK 128

struct State {
    int in, hidden, out, batch, count;
    float rate;
    float *params, *grad, *x, *h, *dh, *dy, *losses;
    int *step;
};

__device__ static int samples_of(const State &s)
{
    return min(s.batch, s.count - *s.step * s.batch);
}

__device__ static const float *batch_of(const State &s)
{
    return s.x + (size_t)(*s.step % 2) * s.batch * (s.in + s.out);
}

__device__ static float *layer2(const State &s, float *params)
{
    return params + (size_t)(s.in + 1) * s.hidden;
}

__global__ static void hidden_units(State s)
{
    size_t id = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (id >= (size_t)samples_of(s) * s.hidden) return;
    const float *row = batch_of(s) + id / s.hidden * (s.in + s.out);
    size_t unit = id % s.hidden;
    float z = s.params[(size_t)s.in * s.hidden + unit];
    for (int k = 0; k < s.in; k++) z = fmaf(row[k], s.params[(size_t)k * s.hidden + unit], z);
    s.h[id] = z < 0.0f ? 0.0f : z;
}

__global__ static void errors(State s)
{
    size_t id = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    int samples = samples_of(s);
    if (id >= (size_t)samples * s.out) return;
    size_t row = id / s.out, col = id % s.out;
    const float *w = layer2(s, s.params);
    float z = w[(size_t)s.hidden * s.out + col];
    for (int k = 0; k < s.hidden; k++)
        z = fmaf(s.h[row * s.hidden + k], w[(size_t)k * s.out + col], z);
    s.dy[id] = (z - batch_of(s)[row * (s.in + s.out) + s.in + col]) / samples;
}

__global__ static void loss(State s)
{
    __shared__ float of_warp[BLOCK / 32];
    int samples = samples_of(s);
    size_t n = (size_t)samples * s.out;
    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += BLOCK) sum += s.dy[i] * s.dy[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < BLOCK / 32; w++) sum += of_warp[w];
    s.losses[*s.step] = sum * samples / 2;
}

__global__ static void errors_of_hidden(State s)
{
    size_t id = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (id >= (size_t)samples_of(s) * s.hidden) return;
    size_t row = id / s.hidden, unit = id % s.hidden;
    const float *w = layer2(s, s.params) + unit * s.out;
    float sum = 0.0f;
    if (s.h[id] > 0.0f)
        for (int j = 0; j < s.out; j++) sum += s.dy[row * s.out + j] * w[j];
    s.dh[id] = sum;
}

/* One thread for each parameter; row `units` of grad is the bias. */
__device__ static void gradient(float *grad, const float *x, size_t pitch, const float *dy,
                                int samples, int units, int out)
{
    size_t id = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (id >= (size_t)(units + 1) * out) return;
    size_t unit = id / out, col = id % out;
    float sum = 0.0f;
    for (int i = 0; i < samples; i++)
        sum += (unit < (size_t)units ? x[i * pitch + unit] : 1.0f) * dy[(size_t)i * out + col];
    grad[id] = sum;
}

__global__ static void gradient1(State s)
{
    gradient(s.grad, batch_of(s), s.in + s.out, s.dh, samples_of(s), s.in, s.hidden);
}

__global__ static void gradient2(State s)
{
    gradient(layer2(s, s.grad), s.h, s.hidden, s.dy, samples_of(s), s.hidden, s.out);
}

__global__ static void descend(State s, size_t n)
{
    size_t id = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (id < n) s.params[id] -= s.rate * s.grad[id];
}

__global__ static void next_step(int *step)
{
    ++*step;
}

static unsigned grid(size_t n)
{
    return (unsigned)((n + BLOCK - 1) / BLOCK);
}

static void launch_all(const State &s, size_t params, cudaStream_t stream)
{
    const size_t h = (size_t)s.batch * s.hidden, y = (size_t)s.batch * s.out;
    hidden_units<<<grid(h), BLOCK, 0, stream>>>(s);
    errors<<<grid(y), BLOCK, 0, stream>>>(s);
    loss<<<1, BLOCK, 0, stream>>>(s);
    errors_of_hidden<<<grid(h), BLOCK, 0, stream>>>(s);
    gradient2<<<grid((size_t)(s.hidden + 1) * s.out), BLOCK, 0, stream>>>(s);
    gradient1<<<grid((size_t)(s.in + 1) * s.hidden), BLOCK, 0, stream>>>(s);
    descend<<<grid(params), BLOCK, 0, stream>>>(s, params);
    next_step<<<1, 1, 0, stream>>>(s.step);
}

/* What is made is freed by its destructor, whatever happened. */
struct Trainer {
    State s{};
    size_t params = 0, row = 0;
    float *work = nullptr, *pinned = nullptr;
    cudaGraphExec_t graph = nullptr;
    cudaStream_t loads = nullptr;
    cudaEvent_t loaded[2] = {}, used[2] = {};

    cudaError_t make()
    {
        const size_t b = s.batch, steps = (s.count - 1) / b + 1;
        cudaError_t e = cudaMalloc(&s.x, 2 * b * row * sizeof(float));
        if (!e)
            e = cudaMalloc(&work, (params + 2 * b * s.hidden + b * s.out + steps) * sizeof(float));
        if (!e) e = cudaMalloc(&s.step, sizeof(int));
        if (!e) e = cudaMallocHost(&pinned, (2 * b * row + steps) * sizeof(float));
        if (!e) e = cudaStreamCreateWithFlags(&loads, cudaStreamNonBlocking);
        for (int i = 0; i < 2 && !e; i++) {
            e = cudaEventCreate(&loaded[i]);
            if (!e) e = cudaEventCreate(&used[i]);
        }
        s.grad = work;
        s.h = s.grad + params;
        s.dh = s.h + b * s.hidden;
        s.dy = s.dh + b * s.hidden;
        s.losses = s.dy + b * s.out;
        return e;
    }

    cudaError_t capture()
    {
        cudaGraph_t made = nullptr;
        cudaError_t e = cudaStreamBeginCapture(loads, cudaStreamCaptureModeRelaxed);
        if (e) return e;
        launch_all(s, params, loads);
        const cudaError_t launched = cudaGetLastError();
        e = cudaStreamEndCapture(loads, &made);
        if (launched) e = launched;
        if (!e) e = cudaGraphInstantiate(&graph, made, 0);
        if (made) cudaGraphDestroy(made);
        return e;
    }

    cudaError_t load(int step, const float *samples)
    {
        const int i = step % 2;
        const size_t first = (size_t)step * s.batch, left = s.count - first;
        const size_t floats = (left < (size_t)s.batch ? left : s.batch) * row;
        float *half = pinned + (size_t)i * s.batch * row;
        cudaError_t e = step > 1 ? cudaEventSynchronize(loaded[i]) : cudaSuccess;
        if (e) return e;
        memcpy(half, samples + first * row, floats * sizeof(float));
        if (step > 1) e = cudaStreamWaitEvent(loads, used[i], 0);
        if (!e)
            e = cudaMemcpyAsync(s.x + (size_t)i * s.batch * row, half, floats * sizeof(float),
                                cudaMemcpyHostToDevice, loads);
        return e ? e : cudaEventRecord(loaded[i], loads);
    }

    /* The batch of the next step is under way before this one is launched. */
    cudaError_t train(float *h_losses, const float *samples, cudaStream_t stream)
    {
        const int steps = (s.count - 1) / s.batch + 1;
        float *const losses = pinned + 2 * (size_t)s.batch * row;
        cudaError_t e = cudaMemsetAsync(s.step, 0, sizeof(int), stream);
        if (!e) e = load(0, samples);
        for (int i = 0; i < steps && !e; i++) {
            e = cudaStreamWaitEvent(stream, loaded[i % 2], 0);
            if (!e) e = cudaGraphLaunch(graph, stream);
            if (!e) e = cudaEventRecord(used[i % 2], stream);
            if (!e && i + 1 < steps) e = load(i + 1, samples);
        }
        if (!e)
            e = cudaMemcpyAsync(losses, s.losses, steps * sizeof(float), cudaMemcpyDeviceToHost,
                                stream);
        const cudaError_t loads_done = cudaStreamSynchronize(loads);
        const cudaError_t waited = cudaStreamSynchronize(stream);
        if (!e) e = loads_done ? loads_done : waited;
        if (!e) memcpy(h_losses, losses, steps * sizeof(float));
        return e;
    }

    ~Trainer()
    {
        if (loads) cudaStreamDestroy(loads);
        for (int i = 0; i < 2; i++) {
            if (loaded[i]) cudaEventDestroy(loaded[i]);
            if (used[i]) cudaEventDestroy(used[i]);
        }
        if (graph) cudaGraphExecDestroy(graph);
        cudaFreeHost(pinned);
        cudaFree(s.step);
        cudaFree(work);
        cudaFree(s.x);
    }
};

cudaError_t train_steps(float *h_losses, float *params, const float *h_samples, int count,
                        int batch, int in, int hidden, int out, float rate, cudaStream_t stream)
{
    if (count < 0 || batch <= 0 || in <= 0 || hidden <= 0 || out <= 0) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    Trainer t;
    t.s.in = in, t.s.hidden = hidden, t.s.out = out, t.s.count = count, t.s.rate = rate;
    t.s.batch = batch > count ? count : batch;
    t.s.params = params;
    t.params = (size_t)(in + 1) * hidden + (size_t)(hidden + 1) * out;
    t.row = (size_t)in + out;
    cudaError_t e = t.make();
    if (!e) e = t.capture();
    return e ? e : t.train(h_losses, h_samples, stream);
}
