// RIGHT: no layer of earlier exercises: matrices with strides through one kernel, a thread an
// element; a batch is never gathered, the first layer reads its images where they lie
#include "208_reduce/reduce.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "305_cross_entropy/cross_entropy.h"
#include "314_adam/adam.h"
#include "404_fusion/fusion.h"
#include "501_mnist/mnist.h"
#include "random.h"

#include <cstdlib>
#include <vector>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

enum { W1 = 0, BIAS1 = MLP_HIDDEN * MLP_INPUTS, W2 = BIAS1 + MLP_HIDDEN };
enum { BIAS2 = W2 + MLP_CLASSES * MLP_HIDDEN, STATES = 4 };
enum { A_ROW = MLP_HIDDEN + 2 * MLP_CLASSES + 1 + MLP_HIDDEN }; /* scratch floats an image */

struct mlp {
    float *state; /* params, grad, m, v: [STATES x MLP_PARAMS] */
    float *scratch;
    int rows, step;
};

/* Row i of x is the image order[i], or i. */
typedef struct batch {
    const float *x;
    const int *labels, *order;
    int rows;
} batch;

__device__ static size_t image_of(batch b, int row)
{
    return b.order ? b.order[row] : row;
}

__device__ static int my_element(int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    return i < count ? i : -1;
}

static unsigned blocks_for(int count)
{
    return (count + 127) / 128;
}

__global__ static void hidden_kernel(float *hidden, batch b, const float *p)
{
    const int i = my_element(b.rows * MLP_HIDDEN);
    if (i < 0) return;
    const float *x = b.x + image_of(b, i / MLP_HIDDEN) * MLP_INPUTS;
    const float *w = p + W1 + i % MLP_HIDDEN * MLP_INPUTS;
    float sum = p[BIAS1 + i % MLP_HIDDEN];
    for (int f = 0; f < MLP_INPUTS; f++) sum += x[f] * w[f];
    hidden[i] = sum < 0.0f ? 0.0f : sum;
}

__global__ static void logits_kernel(float *logits, const float *hidden, const float *p, int rows)
{
    const int i = my_element(rows * MLP_CLASSES);
    if (i < 0) return;
    const float *h = hidden + i / MLP_CLASSES * MLP_HIDDEN;
    const float *w = p + W2 + i % MLP_CLASSES * MLP_HIDDEN;
    float sum = p[BIAS2 + i % MLP_CLASSES];
    for (int f = 0; f < MLP_HIDDEN; f++) sum += h[f] * w[f];
    logits[i] = sum;
}

__global__ static void loss_kernel(float *loss, float *grad, const float *logits, batch b)
{
    const int row = my_element(b.rows);
    if (row < 0) return;
    const float *z = logits + row * MLP_CLASSES;
    const int label = b.labels[image_of(b, row)];
    float sum = 0.0f, largest = z[0];
    for (int c = 1; c < MLP_CLASSES; c++) largest = fmaxf(largest, z[c]);
    for (int c = 0; c < MLP_CLASSES; c++) sum += expf(z[c] - largest);
    for (int c = 0; c < MLP_CLASSES; c++) {
        grad[row * MLP_CLASSES + c] = (expf(z[c] - largest) / sum - (c == label)) / b.rows;
    }
    loss[row] = logf(sum) + largest - z[label];
}

__global__ static void grad_hidden_kernel(float *grad, const float *hidden,
                                          const float *grad_logits, const float *p, int rows)
{
    const int i = my_element(rows * MLP_HIDDEN);
    if (i < 0) return;
    float sum = 0.0f;
    for (int c = 0; c < MLP_CLASSES; c++) {
        sum +=
            grad_logits[i / MLP_HIDDEN * MLP_CLASSES + c] * p[W2 + c * MLP_HIDDEN + i % MLP_HIDDEN];
    }
    grad[i] = hidden[i] > 0.0f ? sum : 0.0f;
}

/* grad_w[out x in] = grad_y^T x, and the column sums of grad_y behind it. */
__global__ static void grad_kernel(float *grad_w, const float *grad_y, batch b, int in, int out)
{
    const int i = my_element(out * in + out);
    if (i < 0) return;
    const bool bias = i >= out * in;
    const int o = bias ? i - out * in : i / in;
    float sum = 0.0f;
    for (int row = 0; row < b.rows; row++) {
        float x = bias ? 1.0f : b.x[image_of(b, row) * in + i % in];
        sum += grad_y[row * out + o] * x;
    }
    grad_w[i] = sum;
}

__global__ static void adam_kernel(float *state, float lr, float unbias1, float unbias2)
{
    const int i = my_element(MLP_PARAMS);
    if (i < 0) return;
    float *p = state + i, *m = p + 2 * MLP_PARAMS, *v = p + 3 * MLP_PARAMS, g = p[MLP_PARAMS];
    *m = 0.9f * *m + 0.1f * g;
    *v = 0.999f * *v + 0.001f * g * g;
    *p -= lr * *m * unbias1 / (sqrtf(*v * unbias2) + 1e-8f);
}

cudaError_t mlp_create(mlp **net, const float *h_params)
{
    const size_t bytes = MLP_PARAMS * sizeof(float);
    mlp *made = *net = (mlp *)calloc(1, sizeof(mlp));
    if (!made) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc(&made->state, STATES * bytes);
    if (!error) error = cudaMemset(made->state, 0, STATES * bytes);
    if (!error) error = cudaMemcpy(made->state, h_params, bytes, cudaMemcpyHostToDevice);
    if (!error) error = cudaDeviceSynchronize();
    if (!error) return cudaSuccess;
    cudaFree(made->state);
    free(made);
    *net = NULL;
    return error;
}

cudaError_t mlp_free(mlp *net)
{
    if (!net) return cudaSuccess;
    TRY(cudaFree(net->state));
    TRY(cudaFree(net->scratch));
    free(net);
    return cudaSuccess;
}

cudaError_t mlp_get_params(mlp *net, float *h_params)
{
    TRY(cudaDeviceSynchronize());
    return cudaMemcpy(h_params, net->state, MLP_PARAMS * sizeof(float), cudaMemcpyDeviceToHost);
}

static cudaError_t reserve(mlp *net, int rows)
{
    if (rows <= net->rows) return cudaSuccess;
    TRY(cudaFree(net->scratch));
    net->rows = rows;
    return cudaMalloc(&net->scratch, (size_t)rows * A_ROW * sizeof(float));
}

static cudaError_t forward(mlp *net, float *logits, batch b, cudaStream_t stream)
{
    if (b.rows == 0) return cudaSuccess;
    TRY(reserve(net, b.rows));
    hidden_kernel<<<blocks_for(b.rows * MLP_HIDDEN), 128, 0, stream>>>(net->scratch, b, net->state);
    logits_kernel<<<blocks_for(b.rows * MLP_CLASSES), 128, 0, stream>>>(logits, net->scratch,
                                                                        net->state, b.rows);
    return cudaGetLastError();
}

cudaError_t mlp_predict(mlp *net, float *d_logits, const float *d_x, int rows, cudaStream_t stream)
{
    batch b = {d_x, NULL, NULL, rows};
    return forward(net, d_logits, b, stream);
}

static cudaError_t mean_of(float *mean, const float *losses, int rows, cudaStream_t stream)
{
    std::vector<float> host(rows);
    double sum = 0.0;
    TRY(cudaMemcpyAsync(host.data(), losses, rows * sizeof(float), cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    for (float loss : host) sum += loss;
    *mean = (float)(sum / rows);
    return cudaSuccess;
}

static cudaError_t train(mlp *net, float *h_loss, batch b, float lr, cudaStream_t stream)
{
    TRY(reserve(net, b.rows));
    float *hidden = net->scratch, *logits = hidden + b.rows * MLP_HIDDEN;
    float *grad_logits = logits + b.rows * MLP_CLASSES;
    float *grad_hidden = grad_logits + b.rows * MLP_CLASSES;
    float *losses = grad_hidden + b.rows * MLP_HIDDEN, *grad = net->state + MLP_PARAMS;
    batch second = {hidden, NULL, NULL, b.rows};
    TRY(forward(net, logits, b, stream));
    loss_kernel<<<blocks_for(b.rows), 128, 0, stream>>>(losses, grad_logits, logits, b);
    grad_hidden_kernel<<<blocks_for(b.rows * MLP_HIDDEN), 128, 0, stream>>>(
        grad_hidden, hidden, grad_logits, net->state, b.rows);
    grad_kernel<<<blocks_for(MLP_CLASSES * (MLP_HIDDEN + 1)), 128, 0, stream>>>(
        grad + W2, grad_logits, second, MLP_HIDDEN, MLP_CLASSES);
    grad_kernel<<<blocks_for(MLP_HIDDEN * (MLP_INPUTS + 1)), 128, 0, stream>>>(
        grad + W1, grad_hidden, b, MLP_INPUTS, MLP_HIDDEN);
    net->step++;
    adam_kernel<<<blocks_for(MLP_PARAMS), 128, 0, stream>>>(
        net->state, lr, (float)(1.0 / (1.0 - pow(0.9, net->step))),
        (float)(1.0 / (1.0 - pow(0.999, net->step))));
    TRY(cudaGetLastError());
    return h_loss ? mean_of(h_loss, losses, b.rows, stream) : cudaSuccess;
}

cudaError_t mlp_train_batch(mlp *net, float *h_loss, const float *d_x, const int *d_labels,
                            int rows, float lr, cudaStream_t stream)
{
    if (h_loss) *h_loss = 0.0f;
    if (rows == 0) return cudaSuccess;
    batch b = {d_x, d_labels, NULL, rows};
    return train(net, h_loss, b, lr, stream);
}

static cudaError_t score(mlp *net, float *accuracy, const float *images, const int *h_labels,
                         int count, cudaStream_t stream)
{
    std::vector<float> z((size_t)count * MLP_CLASSES);
    float *logits;
    int right = 0;
    *accuracy = 0.0f;
    if (count == 0) return cudaSuccess;
    TRY(cudaMalloc(&logits, z.size() * sizeof(float)));
    TRY(mlp_predict(net, logits, images, count, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(z.data(), logits, z.size() * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(logits));
    for (int row = 0; row < count; row++) {
        const float *of_row = &z[(size_t)row * MLP_CLASSES];
        int best = 0;
        for (int c = 1; c < MLP_CLASSES; c++) best = of_row[c] > of_row[best] ? c : best;
        right += best == h_labels[row];
    }
    *accuracy = (float)right / count;
    return cudaSuccess;
}

template <class T> static cudaError_t to_device(T **d, const T *h, size_t count)
{
    TRY(cudaMalloc(d, count * sizeof(T)));
    return cudaMemcpy(*d, h, count * sizeof(T), cudaMemcpyHostToDevice);
}

cudaError_t train_mnist(mlp *net, float *h_loss, float *h_accuracy, const float *h_images,
                        const int *h_labels, int count, int validation, int epochs, int rows,
                        float lr, unsigned long long seed, cudaStream_t stream)
{
    const int training = count - validation;
    if (training < 1 || rows < 1) return cudaErrorInvalidValue;
    float *images;
    int *labels, *order;
    std::vector<int> h_order(training);
    for (int i = 0; i < training; i++) h_order[i] = i;
    random_state rng = random_seed(seed);
    TRY(to_device(&images, h_images, (size_t)count * MLP_INPUTS));
    TRY(to_device(&labels, h_labels, (size_t)count));
    TRY(to_device(&order, h_order.data(), (size_t)training));
    for (int epoch = 0; epoch < epochs; epoch++) {
        double sum = 0.0;
        random_shuffle(&rng, h_order.data(), training);
        TRY(cudaMemcpy(order, h_order.data(), training * sizeof(int), cudaMemcpyHostToDevice));
        TRY(cudaDeviceSynchronize());
        for (int first = 0; first < training; first += rows) {
            batch b = {images, labels, order + first,
                       training - first < rows ? training - first : rows};
            float loss;
            TRY(train(net, &loss, b, lr, stream));
            sum += (double)loss * b.rows;
        }
        h_loss[epoch] = (float)(sum / training);
        TRY(score(net, &h_accuracy[epoch], images + (size_t)training * MLP_INPUTS,
                  h_labels + training, validation, stream));
    }
    TRY(cudaFree(images));
    TRY(cudaFree(labels));
    return cudaFree(order);
}
