/*
 * Frozen: the epoch as four plain launches a step, none of which waits for the host, with weights
 * and gradients in device memory.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

#define INPUTS  784
#define HIDDEN  128
#define CLASSES 10
#define BIAS1   (HIDDEN * INPUTS)
#define W2      (BIAS1 + HIDDEN)
#define BIAS2   (W2 + CLASSES * HIDDEN)
#define PARAMS  (BIAS2 + CLASSES)

typedef struct network {
    float *params, *m, *v;               /* [PARAMS] each */
    float *hidden, *grad_pre, *grad_out; /* [batch x HIDDEN] twice, [batch x CLASSES] */
    const unsigned char *images;         /* [x INPUTS] */
    const int *labels;
} network;

typedef struct adam {
    float lr, correct1, correct2;
} adam;

__device__ static float warp_sum(float x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);
    return x;
}

__device__ static void update(network n, adam a, int i, float grad)
{
    float m = n.m[i] = 0.9f * n.m[i] + 0.1f * grad;
    float v = n.v[i] = 0.999f * n.v[i] + 0.001f * grad * grad;
    n.params[i] -= a.lr * (m / a.correct1) / (sqrtf(v / a.correct2) + 1e-8f);
}

/* A warp an image and a unit: blockIdx.y is the image. */
__global__ static void hidden_kernel(network n, const int *order)
{
    int unit = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y;
    const unsigned char *x = n.images + (size_t)order[row] * INPUTS;
    float sum = 0.0f;
    for (int i = lane; i < INPUTS; i += 32) sum += n.params[unit * INPUTS + i] * x[i];
    sum = warp_sum(sum) / 255.0f + n.params[BIAS1 + unit];
    if (lane == 0) n.hidden[row * HIDDEN + unit] = fmaxf(sum, 0.0f);
}

/* A block of HIDDEN threads an image. */
__global__ static void loss_kernel(network n, float *loss, const int *order, int rows)
{
    __shared__ float logits[CLASSES];
    int row = blockIdx.x, unit = threadIdx.x, label = n.labels[order[row]];
    const float *hidden = n.hidden + row * HIDDEN;
    for (int c = unit / 32; c < CLASSES; c += HIDDEN / 32) {
        float sum = 0.0f;
        for (int i = unit % 32; i < HIDDEN; i += 32)
            sum += n.params[W2 + c * HIDDEN + i] * hidden[i];
        sum = warp_sum(sum);
        if (unit % 32 == 0) logits[c] = sum + n.params[BIAS2 + c];
    }
    __syncthreads();
    float largest = logits[0], sum = 0.0f, grad = 0.0f;
    for (int c = 1; c < CLASSES; c++) largest = fmaxf(largest, logits[c]);
    for (int c = 0; c < CLASSES; c++) sum += expf(logits[c] - largest);
    for (int c = 0; c < CLASSES; c++) {
        float g = (expf(logits[c] - largest) / sum - (c == label)) / rows;
        grad += g * n.params[W2 + c * HIDDEN + unit];
        if (unit == c) n.grad_out[row * CLASSES + c] = g;
    }
    n.grad_pre[row * HIDDEN + unit] = hidden[unit] > 0.0f ? grad : 0.0f;
    if (unit == 0) atomicAdd(loss, (logf(sum) + largest - logits[label]) / rows);
}

/* A block a unit, four pixels a thread. */
__global__ static void w1_kernel(network n, adam a, const int *order, int rows)
{
    int unit = blockIdx.x, i = threadIdx.x;
    float4 grad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int row = 0; row < rows; row++) {
        float g = n.grad_pre[row * HIDDEN + unit] / 255.0f;
        uchar4 x = ((const uchar4 *)(n.images + (size_t)order[row] * INPUTS))[i];
        grad.x += g * x.x;
        grad.y += g * x.y;
        grad.z += g * x.z;
        grad.w += g * x.w;
    }
    update(n, a, unit * INPUTS + 4 * i, grad.x);
    update(n, a, unit * INPUTS + 4 * i + 1, grad.y);
    update(n, a, unit * INPUTS + 4 * i + 2, grad.z);
    update(n, a, unit * INPUTS + 4 * i + 3, grad.w);
}

/* A warp a parameter of all others. */
__global__ static void rest_kernel(network n, adam a, int rows)
{
    int i = BIAS1 + blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= PARAMS) return;
    float grad = 0.0f;
    for (int row = lane; row < rows; row += 32) {
        const float *g = n.grad_out + row * CLASSES, *h = n.hidden + row * HIDDEN;
        grad += i < W2      ? n.grad_pre[row * HIDDEN + i - BIAS1]
                : i < BIAS2 ? g[(i - W2) / HIDDEN] * h[(i - W2) % HIDDEN]
                            : g[i - BIAS2];
    }
    grad = warp_sum(grad);
    if (lane == 0) update(n, a, i, grad);
}

/* scratch: [2 x PARAMS + batch x (2 HIDDEN + CLASSES)] zeros. images: of bytes */
extern "C" cudaError_t baseline_train_epoch(float *losses, float *params, float *scratch,
                                            const unsigned char *images, const int *labels,
                                            const int *order, int n, int batch, float lr,
                                            cudaStream_t stream)
{
    float *m = scratch, *v = m + PARAMS, *hidden = v + PARAMS, *grad_pre = hidden + batch * HIDDEN;
    network net = {params, m, v, hidden, grad_pre, grad_pre + batch * HIDDEN, images, labels};
    double power1 = 1.0, power2 = 1.0;
    cudaMemsetAsync(losses, 0, ((size_t)n + batch - 1) / batch * sizeof(float), stream);
    for (int first = 0; first < n; first += batch, order += batch) {
        int rows = n - first < batch ? n - first : batch;
        adam a = {lr, (float)(1.0 - (power1 *= 0.9)), (float)(1.0 - (power2 *= 0.999))};
        hidden_kernel<<<dim3(HIDDEN / 8, rows), 256, 0, stream>>>(net, order);
        loss_kernel<<<rows, HIDDEN, 0, stream>>>(net, losses++, order, rows);
        w1_kernel<<<HIDDEN, INPUTS / 4, 0, stream>>>(net, a, order, rows);
        rest_kernel<<<(PARAMS - BIAS1 + 7) / 8, 256, 0, stream>>>(net, a, rows);
    }
    return cudaGetLastError();
}
