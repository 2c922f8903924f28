/*
 * stages_gpu.cu: the GPU's stages of stages.c. Each step takes away a cost of the one before:
 *
 *   naive        206's products, with what they want turned by 209
 *   tiled        303's layers: tiles in shared memory, and nothing is turned
 *   fused        501: bias and ReLU in the product (404)
 *   graph        all launches of 501's epoch in one (407)
 *   one kernel   502: a kernel stays for the epoch
 *
 * Their images are on the device before the clock starts, and no loss is asked for. "C loop" is
 * what 503 does, in C: it sends each batch, and waits for its loss.
 *
 * Times are the host's, from an idle device until it is idle again.
 */
#include "stages.h"

#include "basics.h"
#include "cuda_check.h"
#include "layers.h"
#include "network.h"
#include "timer.h"

#include <stdlib.h>

static float *d_x, *d_a, *d_b, *d_c; /* as in the task */
static int *d_labels;

/* ---- naive and tiled: a step by layers ------------------------------------------------------- */

/* What linear_forward and linear_backward of 303 are. */
typedef struct linear {
    cudaError_t (*forward)(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream);
    cudaError_t (*backward)(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream);
} linear;

/* Each on the device. */
typedef struct buffers {
    float *params, *grad, *m, *v;      /* [MLP_PARAMS] */
    float *pre, *hidden, *grad_hidden; /* [BATCH x MLP_HIDDEN] */
    float *logits, *grad_logits;       /* [BATCH x MLP_CLASSES] */
    float *losses;                     /* [BATCH] */
} buffers;

static float *turned; /* [MLP_HIDDEN x MLP_INPUTS] scratch of the naive layers */

static cudaError_t naive_forward(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_features, int out_features, cudaStream_t stream)
{
    CUDA_CHECK(transpose(turned, w, out_features, in_features, stream));
    CUDA_CHECK(matmul_naive(y, x, turned, batch, out_features, in_features, stream));
    return bias_forward(y, y, bias, batch, out_features, stream);
}

static cudaError_t naive_backward(float *grad_x, float *grad_w, float *grad_bias,
                                  const float *grad_y, const float *x, const float *w, int batch,
                                  int in_features, int out_features, cudaStream_t stream)
{
    if (grad_x != NULL)
        CUDA_CHECK(matmul_naive(grad_x, grad_y, w, batch, in_features, out_features, stream));
    CUDA_CHECK(transpose(turned, grad_y, batch, out_features, stream));
    CUDA_CHECK(matmul_naive(grad_w, turned, x, out_features, in_features, batch, stream));
    return bias_backward(grad_bias, grad_y, batch, out_features, stream);
}

static cudaError_t step_of_layers(const linear *layer, const buffers *d, const float *x,
                                  const int *labels, int rows, int step)
{
    const size_t b1 = MLP_HIDDEN * MLP_INPUTS, w2 = b1 + MLP_HIDDEN;
    const size_t b2 = w2 + MLP_CLASSES * MLP_HIDDEN, activations = (size_t)rows * MLP_HIDDEN;
    float *p = d->params, *grad = d->grad;
    CUDA_CHECK(layer->forward(d->pre, x, p, p + b1, rows, MLP_INPUTS, MLP_HIDDEN, 0));
    CUDA_CHECK(relu_forward(d->hidden, d->pre, activations, 0));
    CUDA_CHECK(
        layer->forward(d->logits, d->hidden, p + w2, p + b2, rows, MLP_HIDDEN, MLP_CLASSES, 0));
    CUDA_CHECK(softmax_cross_entropy(d->losses, d->grad_logits, d->logits, labels, rows,
                                     MLP_CLASSES, -1, 0));
    CUDA_CHECK(layer->backward(d->grad_hidden, grad + w2, grad + b2, d->grad_logits, d->hidden,
                               p + w2, rows, MLP_HIDDEN, MLP_CLASSES, 0));
    CUDA_CHECK(relu_backward(d->grad_hidden, d->grad_hidden, d->pre, activations, 0));
    CUDA_CHECK(layer->backward(NULL, grad, grad + b1, d->grad_hidden, x, p, rows, MLP_INPUTS,
                               MLP_HIDDEN, 0));
    return adam_update(p, d->m, d->v, grad, MLP_PARAMS, LEARNING_RATE, 0.9f, 0.999f, 1e-8f, 0.0f,
                       step, 0);
}

static cudaError_t epoch_of_layers(double *ms, const linear *layer, const buffers *d, const task *t,
                                   int steps)
{
    const size_t bytes = MLP_PARAMS * sizeof(float);
    CUDA_CHECK(cudaMemset(d->m, 0, bytes));
    CUDA_CHECK(cudaMemset(d->v, 0, bytes));
    CUDA_CHECK(cudaMemcpy(d->params, t->start, bytes, cudaMemcpyHostToDevice));
    const double began = seconds_now();
    for (int i = 0; i < steps; i++)
        CUDA_CHECK(step_of_layers(layer, d, d_x + (size_t)i * BATCH * MLP_INPUTS,
                                  d_labels + i * BATCH, rows_of(t, i), i + 1));
    CUDA_CHECK(cudaDeviceSynchronize());
    *ms = 1e3 * (seconds_now() - began);
    return cudaMemcpy(t->params, d->params, bytes, cudaMemcpyDeviceToHost);
}

static double by_layers(const linear *layer, const task *t, int steps)
{
    enum { HIDDEN = BATCH * MLP_HIDDEN, LOGITS = BATCH * MLP_CLASSES };
    float *all;
    double ms = -1.0;
    if (cudaMalloc((void **)&all, sizeof(float) * (4 * MLP_PARAMS + 3 * HIDDEN + 2 * LOGITS +
                                                   BATCH + MLP_HIDDEN * MLP_INPUTS)))
        return ms;
    float *rest = all + 4 * MLP_PARAMS, *logits = rest + 3 * HIDDEN;
    const buffers d = {all,
                       all + MLP_PARAMS,
                       all + 2 * MLP_PARAMS,
                       all + 3 * MLP_PARAMS,
                       rest,
                       rest + HIDDEN,
                       rest + 2 * HIDDEN,
                       logits,
                       logits + LOGITS,
                       logits + 2 * LOGITS};
    turned = d.losses + BATCH;
    if (epoch_of_layers(&ms, layer, &d, t, steps) != cudaSuccess) ms = -1.0;
    cudaFree(all);
    return ms;
}

static double naive(const task *t, int steps)
{
    const linear layer = {naive_forward, naive_backward};
    return by_layers(&layer, t, steps);
}

static double tiled(const task *t, int steps)
{
    const linear layer = {linear_forward, linear_backward};
    return by_layers(&layer, t, steps);
}

/* ---- 501, in three ways ---------------------------------------------------------------------- */

static cudaError_t launch_steps(mlp *net, const task *t, int steps, cudaStream_t stream)
{
    for (int i = 0; i < steps; i++)
        CUDA_CHECK(mlp_train_batch(net, NULL, d_x + (size_t)i * BATCH * MLP_INPUTS,
                                   d_labels + i * BATCH, rows_of(t, i), LEARNING_RATE, stream));
    return cudaSuccess;
}

static cudaError_t by_launches(double *ms, mlp *net, const task *t, int steps)
{
    const double began = seconds_now();
    CUDA_CHECK(launch_steps(net, t, steps, 0));
    CUDA_CHECK(cudaDeviceSynchronize());
    *ms = 1e3 * (seconds_now() - began);
    return cudaSuccess;
}

/* Making the graph does not count: every epoch of so many images can launch it again, but for
 * Adam's step, which is a number in its nodes. */
static cudaError_t by_graph(double *ms, mlp *net, const task *t, int steps)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t whole;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const cudaError_t error = launch_steps(net, t, steps, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(error);
    CUDA_CHECK(cudaGraphInstantiate(&whole, graph, 0));
    CUDA_CHECK(cudaGraphUpload(whole, stream));
    CUDA_CHECK(cudaDeviceSynchronize());
    const double began = seconds_now();
    CUDA_CHECK(cudaGraphLaunch(whole, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    *ms = 1e3 * (seconds_now() - began);
    CUDA_CHECK(cudaGraphExecDestroy(whole));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return cudaStreamDestroy(stream);
}

/* As fit of 503: into the first batch's place, which gpu_begin has saved on the host. */
static cudaError_t by_host_loop(double *ms, mlp *net, const task *t, int steps)
{
    const double began = seconds_now();
    for (int i = 0; i < steps; i++) {
        const size_t rows = (size_t)rows_of(t, i);
        float loss;
        CUDA_CHECK(cudaMemcpy(d_x, t->x + (size_t)i * BATCH * MLP_INPUTS,
                              rows * MLP_INPUTS * sizeof(float), cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaMemcpy(d_labels, t->labels + i * BATCH, rows * sizeof(int),
                              cudaMemcpyHostToDevice));
        CUDA_CHECK(mlp_train_batch(net, &loss, d_x, d_labels, (int)rows, LEARNING_RATE, 0));
    }
    *ms = 1e3 * (seconds_now() - began);
    return cudaSuccess;
}

typedef cudaError_t epoch_of_501(double *ms, mlp *net, const task *t, int steps);

/* A prediction first: it makes room for a batch. */
static cudaError_t measure(epoch_of_501 *epoch, double *ms, mlp *net, const task *t, int steps)
{
    float *d_logits;
    CUDA_CHECK(cudaMalloc((void **)&d_logits, BATCH * MLP_CLASSES * sizeof(float)));
    CUDA_CHECK(mlp_predict(net, d_logits, d_x, rows_of(t, 0), 0));
    CUDA_CHECK(cudaFree(d_logits)); /* waits */
    CUDA_CHECK(epoch(ms, net, t, steps));
    return mlp_get_params(net, t->params);
}

static double by_501(epoch_of_501 *epoch, const task *t, int steps)
{
    mlp *net;
    double ms = -1.0;
    if (mlp_create(&net, t->start) != cudaSuccess) return ms;
    if (measure(epoch, &ms, net, t, steps) != cudaSuccess) ms = -1.0;
    mlp_free(net);
    return ms;
}

static double fused(const task *t, int steps)
{
    return by_501(by_launches, t, steps);
}

static double graph(const task *t, int steps)
{
    return by_501(by_graph, t, steps);
}

static double host_loop(const task *t, int steps)
{
    const double ms = by_501(by_host_loop, t, steps);
    const size_t rows = (size_t)rows_of(t, 0);
    cudaMemcpy(d_x, t->x, rows * MLP_INPUTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_labels, t->labels, rows * sizeof(int), cudaMemcpyHostToDevice);
    return ms;
}

/* ---- 502 ------------------------------------------------------------------------------------- */

static cudaError_t by_one_kernel(double *ms, mlp_fast *net, const task *t, int steps)
{
    const int n = steps * BATCH < t->images ? steps * BATCH : t->images;
    int *d_order, *order = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) order[i] = i;
    CUDA_CHECK(cudaMalloc((void **)&d_order, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_order, order, n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaDeviceSynchronize());
    const double began = seconds_now();
    CUDA_CHECK(mlp_fast_train_epoch(net, NULL, d_order, n, BATCH, LEARNING_RATE, LEARNING_RATE, 0));
    CUDA_CHECK(cudaDeviceSynchronize());
    *ms = 1e3 * (seconds_now() - began);
    free(order);
    CUDA_CHECK(cudaFree(d_order));
    return mlp_fast_get_params(net, t->params);
}

static double one_kernel(const task *t, int steps)
{
    const size_t pixels = (size_t)t->images * MLP_INPUTS;
    unsigned char *bytes = (unsigned char *)malloc(pixels);
    mlp_fast *net;
    double ms = -1.0;
    for (size_t i = 0; i < pixels; i++) bytes[i] = (unsigned char)(255.0f * t->x[i] + 0.5f);
    const cudaError_t error = mlp_fast_create(&net, t->start, bytes, t->labels, t->images);
    free(bytes);
    if (error != cudaSuccess) return ms;
    if (by_one_kernel(&ms, net, t, steps) != cudaSuccess) ms = -1.0;
    mlp_fast_free(net);
    return ms;
}

/* ---- the product ----------------------------------------------------------------------------- */

typedef cudaError_t product(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream);

static cudaError_t timed_product(product *multiply, double *ms, const task *t)
{
    const int n = t->n;
    CUDA_CHECK(cudaDeviceSynchronize());
    const double began = seconds_now();
    CUDA_CHECK(multiply(d_c, d_a, d_b, n, n, n, 0));
    CUDA_CHECK(cudaDeviceSynchronize());
    *ms = 1e3 * (seconds_now() - began);
    return cudaMemcpy(t->c, d_c, sizeof(float) * n * n, cudaMemcpyDeviceToHost);
}

static double naive_product(const task *t)
{
    double ms;
    return timed_product(matmul_naive, &ms, t) == cudaSuccess ? ms : -1.0;
}

static double tiled_product(const task *t)
{
    double ms;
    return timed_product(matmul_tiled, &ms, t) == cudaSuccess ? ms : -1.0;
}

/* ---- the stages ------------------------------------------------------------------------------ */

const stage *gpu_stages(int *count)
{
    static const stage stages[] = {
        {"naive", {"206", "206 209"}, NULL, naive, naive_product, 1},
        {"tiled", {"211", "303"}, NULL, tiled, tiled_product, 1},
        {"fused", {"", "404 501"}, NULL, fused, NULL, 1},
        {"graph", {"", "407 501"}, NULL, graph, NULL, 1},
        {"one kernel", {"", "502"}, NULL, one_kernel, NULL, 1},
        {"C loop, batches sent", {"", "501"}, NULL, host_loop, NULL, 1},
    };
    *count = (int)(sizeof stages / sizeof *stages);
    return stages;
}

const char *gpu_name(void)
{
    static struct cudaDeviceProp device;
    return cudaGetDeviceProperties(&device, 0) == cudaSuccess ? device.name : "no GPU";
}

static cudaError_t bring(void **d_to, const void *from, size_t bytes)
{
    CUDA_CHECK(cudaMalloc(d_to, bytes));
    return cudaMemcpy(*d_to, from, bytes, cudaMemcpyHostToDevice);
}

int gpu_begin(const task *t)
{
    const size_t images = (size_t)t->images, bytes = sizeof(float) * t->n * t->n;
    return bring((void **)&d_x, t->x, images * MLP_INPUTS * sizeof(float)) == cudaSuccess &&
           bring((void **)&d_labels, t->labels, images * sizeof(int)) == cudaSuccess &&
           bring((void **)&d_a, t->a, bytes) == cudaSuccess &&
           bring((void **)&d_b, t->b, bytes) == cudaSuccess &&
           cudaMalloc((void **)&d_c, bytes) == cudaSuccess;
}

void gpu_end(void)
{
    cudaFree(d_x);
    cudaFree(d_labels);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
}
