/*
 * 514_close_the_gaps.cu: a training whose kernels are short, so that its time is what lies between
 * them.
 *
 * The idea: a GPU that has nothing to do waits for the host. It waits for memory, for a copy, for
 * the next launch, for a loss that somebody looks at; and some kernels do what another one could
 * have done along the way. Each of these gaps has a remedy of its own, and closing one shows the
 * next.
 *
 * What it costs: a training that never waits must have room for two batches, and says what it found
 * only at its end. What remains is the kernels' own time, one after the other.
 */
#include "514_close_the_gaps/close_the_gaps.h"
#include "cuda_check.h"

#include <string.h>

#define THREADS 256 /* of a block */

static unsigned parts(size_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/** Element [i][j] is at[i * down + j * right]: a matrix, its transposed, or columns of a larger
 * one. */
typedef struct matrix {
    const float *at;
    size_t down, right;
} matrix;

#ifdef BROKEN
/** c[rows x cols] = a[rows x inner] * b[inner x cols] */
__global__ static void multiply_kernel(float *c, matrix a, matrix b, int rows, int inner, int cols)
#else
/** c[rows x cols] = a[rows x inner] * b[inner x cols] + bias[cols] unless that is NULL, then ReLU
 */
__global__ static void multiply_kernel(float *c, matrix a, matrix b, int rows, int inner, int cols,
                                       const float *bias, bool relu)
#endif
{
    const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, i = at / cols, j = at % cols;
    if (i >= (size_t)rows) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; k++)
        sum += a.at[i * a.down + k * a.right] * b.at[k * b.down + j * b.right];
#ifndef BROKEN
    if (bias) sum += bias[j];
    if (relu && sum < 0.0f) sum = 0.0f;
#endif
    c[at] = sum;
}

#ifdef BROKEN
/** y[n] += bias[cols], in every row */
__global__ static void bias_kernel(float *y, const float *bias, size_t n, int cols)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] += bias[i % cols];
}

__global__ static void relu_kernel(float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n && y[i] < 0.0f) y[i] = 0.0f;
}
#endif

/** y[n] becomes the gradient of the loss: its distance from what it should be, over the samples. */
__global__ static void difference_kernel(float *y, matrix target, size_t n, int cols, int samples)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = (y[i] - target.at[i / cols * target.down + i % cols]) / samples;
}

#ifdef BROKEN
/** *loss, of grad_y[n]; one block */
__global__ static void loss_kernel(float *loss, const float *grad_y, size_t n, int samples)
#else
/** losses[*step], of grad_y[n]; then the next step. One block: which one it is, the device knows.
 */
__global__ static void loss_kernel(float *losses, int *step, const float *grad_y, size_t n,
                                   int samples)
#endif
{
    __shared__ float sums[THREADS];
    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < n; i += THREADS) sum += grad_y[i] * grad_y[i];
    sums[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the sums of the round before are there */
        if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
#ifdef BROKEN
    if (threadIdx.x == 0) *loss = 0.5f * samples * sums[0];
#else
    if (threadIdx.x == 0) losses[(*step)++] = 0.5f * samples * sums[0];
#endif
}

/** grad_h[n] is 0 where ReLU was. */
__global__ static void mask_kernel(float *grad_h, const float *h, size_t n)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n && !(h[i] > 0.0f)) grad_h[i] = 0.0f;
}

/** grad_bias[cols] = the sums of the columns of grad_y[rows x cols] */
__global__ static void sum_rows_kernel(float *grad_bias, const float *grad_y, int rows, int cols)
{
    const size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (j >= (size_t)cols) return;
    float sum = 0.0f;
    for (int i = 0; i < rows; i++) sum += grad_y[(size_t)i * cols + j];
    grad_bias[j] = sum;
}

__global__ static void update_kernel(float *params, const float *grad, size_t n, float rate)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) params[i] -= rate * grad[i];
}

/* ---- a step ---------------------------------------------------------------------------------- */

/** The network, and what a step needs on the device. */
typedef struct net {
    int in, hidden, out, batch;
    float rate;
    float *params;         /* w1, bias1, w2, bias2 */
    float *memory;         /* all that follows */
    float *grad;           /* as params */
    float *h, *grad_h, *y; /* [batch x hidden] twice, [batch x out]; y becomes grad_y */
    float *x;              /* [batch x (in + out)] the samples */
#ifdef BROKEN
    float *loss;
#else
    float *losses; /* [steps] */
    int *step;     /* how many are over */
#endif
} net;

/** Elements of w1 and so on, of all four. */
static size_t params_of(const net *n)
{
    return (size_t)n->hidden * (n->in + 1) + (size_t)n->out * (n->hidden + 1);
}

static size_t floats_of_batch(const net *n)
{
    return (size_t)n->batch * (n->in + n->out);
}

#ifdef BROKEN
static cudaError_t multiply(float *c, matrix a, matrix b, int rows, int inner, int cols,
                            cudaStream_t stream)
{
    const unsigned blocks = parts((size_t)rows * cols);
    multiply_kernel<<<blocks, THREADS, 0, stream>>>(c, a, b, rows, inner, cols);
    return cudaGetLastError();
}

static cudaError_t add_bias(float *y, const float *bias, int rows, int cols, cudaStream_t stream)
{
    const size_t n = (size_t)rows * cols;
    bias_kernel<<<parts(n), THREADS, 0, stream>>>(y, bias, n, cols);
    return cudaGetLastError();
}
#else
static cudaError_t multiply(float *c, matrix a, matrix b, int rows, int inner, int cols,
                            const float *bias, bool relu, cudaStream_t stream)
{
    const unsigned blocks = parts((size_t)rows * cols);
    multiply_kernel<<<blocks, THREADS, 0, stream>>>(c, a, b, rows, inner, cols, bias, relu);
    return cudaGetLastError();
}
#endif

/** h and y, of the samples in x. */
static cudaError_t forward(const net *n, int samples, cudaStream_t stream)
{
    const float *w1 = n->params, *bias1 = w1 + (size_t)n->in * n->hidden, *w2 = bias1 + n->hidden;
    const float *bias2 = w2 + (size_t)n->hidden * n->out;
    const matrix x = {n->x, (size_t)(n->in + n->out), 1}, h = {n->h, (size_t)n->hidden, 1};
    const matrix of_w1 = {w1, (size_t)n->hidden, 1}, of_w2 = {w2, (size_t)n->out, 1};
#ifdef BROKEN
    CUDA_CHECK(multiply(n->h, x, of_w1, samples, n->in, n->hidden, stream));
    CUDA_CHECK(add_bias(n->h, bias1, samples, n->hidden, stream));
    const size_t all = (size_t)samples * n->hidden;
    relu_kernel<<<parts(all), THREADS, 0, stream>>>(n->h, all);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(multiply(n->y, h, of_w2, samples, n->hidden, n->out, stream));
    return add_bias(n->y, bias2, samples, n->out, stream);
#else
    CUDA_CHECK(multiply(n->h, x, of_w1, samples, n->in, n->hidden, bias1, true, stream));
    return multiply(n->y, h, of_w2, samples, n->hidden, n->out, bias2, false, stream);
#endif
}

/** The loss, and y becomes its gradient. */
static cudaError_t find_loss(const net *n, int samples, cudaStream_t stream)
{
    const matrix target = {n->x + n->in, (size_t)(n->in + n->out), 1};
    const size_t all = (size_t)samples * n->out;
    difference_kernel<<<parts(all), THREADS, 0, stream>>>(n->y, target, all, n->out, samples);
    CUDA_CHECK(cudaGetLastError());
#ifdef BROKEN
    loss_kernel<<<1, THREADS, 0, stream>>>(n->loss, n->y, all, samples);
#else
    loss_kernel<<<1, THREADS, 0, stream>>>(n->losses, n->step, n->y, all, samples);
#endif
    return cudaGetLastError();
}

/** Of a layer: grad of its weights, and its bias behind them, from grad_y. x is transposed. */
static cudaError_t weights_backward(float *grad, matrix x, const float *grad_y, int samples, int in,
                                    int out, cudaStream_t stream)
{
    const matrix of_y = {grad_y, (size_t)out, 1};
#ifdef BROKEN
    CUDA_CHECK(multiply(grad, x, of_y, in, samples, out, stream));
#else
    CUDA_CHECK(multiply(grad, x, of_y, in, samples, out, NULL, false, stream));
#endif
    float *const grad_bias = grad + (size_t)in * out;
    sum_rows_kernel<<<parts(out), THREADS, 0, stream>>>(grad_bias, grad_y, samples, out);
    return cudaGetLastError();
}

/** grad_h and grad, from the gradient in y. */
static cudaError_t backward(const net *n, int samples, cudaStream_t stream)
{
    const size_t layer1 = (size_t)n->hidden * (n->in + 1), all = (size_t)samples * n->hidden;
    const matrix x = {n->x, 1, (size_t)(n->in + n->out)}, h = {n->h, 1, (size_t)n->hidden};
    const matrix of_y = {n->y, (size_t)n->out, 1}, w2 = {n->params + layer1, 1, (size_t)n->out};
    CUDA_CHECK(weights_backward(n->grad + layer1, h, n->y, samples, n->hidden, n->out, stream));
#ifdef BROKEN
    CUDA_CHECK(multiply(n->grad_h, of_y, w2, samples, n->out, n->hidden, stream));
#else
    CUDA_CHECK(multiply(n->grad_h, of_y, w2, samples, n->out, n->hidden, NULL, false, stream));
#endif
    mask_kernel<<<parts(all), THREADS, 0, stream>>>(n->grad_h, n->h, all);
    CUDA_CHECK(cudaGetLastError());
    return weights_backward(n->grad, x, n->grad_h, samples, n->in, n->hidden, stream);
}

#ifdef BROKEN
static cudaError_t update_array(const net *n, size_t first, size_t count, cudaStream_t stream)
{
    update_kernel<<<parts(count), THREADS, 0, stream>>>(n->params + first, n->grad + first, count,
                                                        n->rate);
    return cudaGetLastError();
}
#endif

static cudaError_t update(const net *n, cudaStream_t stream)
{
#ifdef BROKEN
    const size_t w1 = (size_t)n->in * n->hidden, w2 = (size_t)n->hidden * n->out;
    CUDA_CHECK(update_array(n, 0, w1, stream));
    CUDA_CHECK(update_array(n, w1, n->hidden, stream));
    CUDA_CHECK(update_array(n, w1 + n->hidden, w2, stream));
    return update_array(n, w1 + n->hidden + w2, n->out, stream);
#else
    const size_t all = params_of(n);
    update_kernel<<<parts(all), THREADS, 0, stream>>>(n->params, n->grad, all, n->rate);
    return cudaGetLastError();
#endif
}

/** All kernels of a step, for the samples in x. */
static cudaError_t launch_step(const net *n, int samples, cudaStream_t stream)
{
    CUDA_CHECK(forward(n, samples, stream));
    CUDA_CHECK(find_loss(n, samples, stream));
    CUDA_CHECK(backward(n, samples, stream));
    return update(n, stream);
}

/* ---- the training ---------------------------------------------------------------------------- */

#ifdef BROKEN
static cudaError_t open_net(net *n)
{
    const size_t h = (size_t)n->batch * n->hidden, y = (size_t)n->batch * n->out;
    const size_t all = params_of(n) + 2 * h + y + floats_of_batch(n) + 1;
    CUDA_CHECK(cudaMalloc(&n->memory, all * sizeof(float)));
    n->grad = n->memory;
    n->h = n->grad + params_of(n);
    n->grad_h = n->h + h;
    n->y = n->grad_h + h;
    n->x = n->y + y;
    n->loss = n->x + floats_of_batch(n);
    return cudaSuccess;
}

/** One step: everything in turn, and the loss is there when it ends. */
static cudaError_t step(net *n, float *h_loss, const float *h_samples, int samples,
                        cudaStream_t stream)
{
    CUDA_CHECK(open_net(n));
    const size_t bytes = (size_t)samples * (n->in + n->out) * sizeof(float);
    cudaError_t error = cudaMemcpyAsync(n->x, h_samples, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = launch_step(n, samples, stream);
    if (!error)
        error = cudaMemcpyAsync(h_loss, n->loss, sizeof(float), cudaMemcpyDeviceToHost, stream);
    const cudaError_t waited = cudaStreamSynchronize(stream);
    const cudaError_t freed = cudaFree(n->memory);
    if (error) return error;
    return waited ? waited : freed;
}
#else
/** A batch on its way: the host fills h_x, a copy takes it to d_x, the step reads that. */
typedef struct buffer {
    float *h_x, *d_x;         /* [batch x (in + out)]; h_x is page-locked */
    cudaEvent_t copied, read; /* h_x may be filled again; d_x may be overwritten */
    cudaGraphExec_t step;     /* of a whole batch in d_x */
} buffer;

typedef struct training {
    net n;
    int steps;
    buffer buffers[2];
    cudaStream_t copies;
} training;

/** All memory of the device at once. */
static cudaError_t allocate(training *t)
{
    net *n = &t->n;
    const size_t x = floats_of_batch(n), h = (size_t)n->batch * n->hidden;
    const size_t y = (size_t)n->batch * n->out;
    const size_t all = params_of(n) + 2 * h + y + 2 * x + t->steps + 1;
    CUDA_CHECK(cudaMalloc(&n->memory, all * sizeof(float)));
    n->grad = n->memory;
    n->h = n->grad + params_of(n);
    n->grad_h = n->h + h;
    n->y = n->grad_h + h;
    t->buffers[0].d_x = n->y + y;
    t->buffers[1].d_x = t->buffers[0].d_x + x;
    n->losses = t->buffers[1].d_x + x;
    n->step = (int *)(n->losses + t->steps);
    return cudaSuccess;
}

/** b->step, whose kernels have the address of b->d_x. */
static cudaError_t capture(training *t, buffer *b)
{
    cudaGraph_t graph = NULL;
    t->n.x = b->d_x;
    CUDA_CHECK(cudaStreamBeginCapture(t->copies, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = launch_step(&t->n, t->n.batch, t->copies);
    const cudaError_t ended = cudaStreamEndCapture(t->copies, &graph); /* also after an error */
    if (!error) error = ended;
    if (!error) error = cudaGraphInstantiate(&b->step, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    return error;
}

/** t has zeros where nothing is yet. The caller calls close_training after an error too. */
static cudaError_t open_training(training *t, cudaStream_t stream)
{
    CUDA_CHECK(allocate(t));
    CUDA_CHECK(cudaMemsetAsync(t->n.step, 0, sizeof *t->n.step, stream));
    CUDA_CHECK(cudaStreamCreateWithFlags(&t->copies, cudaStreamNonBlocking));
    for (buffer *b = t->buffers; b < t->buffers + 2; b++) {
        CUDA_CHECK(cudaMallocHost(&b->h_x, floats_of_batch(&t->n) * sizeof(float)));
        CUDA_CHECK(cudaEventCreateWithFlags(&b->copied, cudaEventDisableTiming));
        CUDA_CHECK(cudaEventCreateWithFlags(&b->read, cudaEventDisableTiming));
        CUDA_CHECK(capture(t, b));
    }
    return cudaSuccess;
}

/** Waits for all that was started. @return the first error */
static cudaError_t close_training(training *t, cudaStream_t stream)
{
    cudaError_t error = t->copies ? cudaStreamSynchronize(t->copies) : cudaSuccess;
    const cudaError_t waited = cudaStreamSynchronize(stream);
    if (!error) error = waited;
    for (buffer *b = t->buffers; b < t->buffers + 2; b++) {
        if (b->step) cudaGraphExecDestroy(b->step);
        if (b->copied) cudaEventDestroy(b->copied);
        if (b->read) cudaEventDestroy(b->read);
        cudaFreeHost(b->h_x);
    }
    if (t->copies) cudaStreamDestroy(t->copies);
    const cudaError_t freed = cudaFree(t->n.memory);
    return error ? error : freed;
}

/** The batch goes to b->d_x, while the step before still runs. */
static cudaError_t send(training *t, buffer *b, const float *h_samples, int samples)
{
    const size_t bytes = (size_t)samples * (t->n.in + t->n.out) * sizeof(float);
    CUDA_CHECK(cudaEventSynchronize(b->copied)); /* of the batch before the last one */
    memcpy(b->h_x, h_samples, bytes);
    CUDA_CHECK(cudaStreamWaitEvent(t->copies, b->read, 0));
    CUDA_CHECK(cudaMemcpyAsync(b->d_x, b->h_x, bytes, cudaMemcpyHostToDevice, t->copies));
    return cudaEventRecord(b->copied, t->copies);
}

/** The step of the batch that was sent. */
static cudaError_t step(training *t, buffer *b, int samples, cudaStream_t stream)
{
    CUDA_CHECK(cudaStreamWaitEvent(stream, b->copied, 0));
    t->n.x = b->d_x;
    if (samples == t->n.batch)
        CUDA_CHECK(cudaGraphLaunch(b->step, stream));
    else
        CUDA_CHECK(launch_step(&t->n, samples, stream));
    return cudaEventRecord(b->read, stream);
}
#endif

cudaError_t train_steps(float *h_losses, float *params, const float *h_samples, int count,
                        int batch, int in, int hidden, int out, float rate, cudaStream_t stream)
{
    if (count < 0 || batch < 1 || in < 1 || hidden < 1 || out < 1) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    net n = {};
    n.in = in, n.hidden = hidden, n.out = out, n.batch = batch < count ? batch : count;
    n.rate = rate, n.params = params;
    const int steps = (count - 1) / batch + 1;
    cudaError_t error = cudaSuccess;
#ifdef BROKEN
    for (int i = 0; i < steps && !error; i++) {
        const size_t first = (size_t)i * batch;
        const int samples = i + 1 < steps ? batch : count - (int)first;
        error = step(&n, h_losses + i, h_samples + first * (in + out), samples, stream);
    }
    return error;
#else
    training t = {};
    t.n = n, t.steps = steps;
    error = open_training(&t, stream);
    for (int i = 0; i < steps && !error; i++) {
        const size_t first = (size_t)i * batch;
        const int samples = i + 1 < steps ? batch : count - (int)first;
        buffer *const b = &t.buffers[i % 2];
        error = send(&t, b, h_samples + first * (in + out), samples);
        if (!error) error = step(&t, b, samples, stream);
    }
    if (!error)
        error = cudaMemcpyAsync(h_losses, t.n.losses, steps * sizeof(float), cudaMemcpyDeviceToHost,
                                stream);
    const cudaError_t closed = close_training(&t, stream);
    return error ? error : closed;
#endif
}
