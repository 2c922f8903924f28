// RIGHT: one thread a parameter, the corrections of the bias computed on the device, in double
#include "314_adam/adam.h"
#include <math.h>

struct hyper {
    float lr, beta1, beta2, eps, weight_decay;
    int step;
};

__global__ static void adam_kernel(float *param, float *m, float *v, const float *grad, size_t n,
                                   hyper h)
{
    __shared__ float unbias[2]; /* 1 / (1 - beta^step), the same for the whole block */
    if (threadIdx.x < 2) {
        double beta = threadIdx.x == 0 ? h.beta1 : h.beta2;
        unbias[threadIdx.x] = (float)(1.0 / (1.0 - pow(beta, (double)h.step)));
    }
    __syncthreads();
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i], p = param[i];
    float mean = m[i] = h.beta1 * m[i] + (1.0f - h.beta1) * g;
    float square = v[i] = h.beta2 * v[i] + (1.0f - h.beta2) * g * g;
    float update = mean * unbias[0] / (sqrtf(square * unbias[1]) + h.eps);
    param[i] = p - h.lr * (update + h.weight_decay * p);
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    hyper h = {lr, beta1, beta2, eps, weight_decay, step};
    size_t blocks = (n + 1023) / 1024;
    if (n > 0) adam_kernel<<<blocks, 1024, 0, stream>>>(param, m, v, grad, n, h);
    return cudaGetLastError();
}

/* The groups in memory of the stream; each block looks for its first one and goes on from there. */
__global__ static void groups_kernel(float *param, float *m, float *v, const float *grad,
                                     const adam_group *groups, int count, hyper h)
{
    __shared__ int start;
    __shared__ size_t start_end;
    const size_t first = (size_t)blockIdx.x * 1024, i = first + threadIdx.x;
    if (threadIdx.x == 0) {
        int k = 0;
        size_t end = groups[0].n;
        while (k < count - 1 && end <= first) end += groups[++k].n;
        start = k;
        start_end = end;
    }
    __syncthreads();
    int k = start;
    for (size_t end = start_end; i >= end;) {
        if (k == count - 1) return;
        end += groups[++k].n;
    }
    const double one = 1.0 - pow((double)h.beta1, (double)h.step);
    const double two = 1.0 - pow((double)h.beta2, (double)h.step);
    const double g = grad[i], p = param[i];
    const double mean = (double)h.beta1 * m[i] + (1.0 - h.beta1) * g;
    const double square = (double)h.beta2 * v[i] + (1.0 - h.beta2) * g * g;
    m[i] = (float)mean;
    v[i] = (float)square;
    const double move = mean / one / (sqrt(square / two) + h.eps);
    param[i] = (float)(p - h.lr * (move + groups[k].weight_decay * p));
}

cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream)
{
    size_t n = 0, bytes = count * sizeof *groups;
    for (int k = 0; k < count; k++) n += groups[k].n;
    if (n == 0) return cudaSuccess;
    adam_group *there;
    cudaError_t error = cudaMallocAsync((void **)&there, bytes, stream);
    if (error != cudaSuccess) return error;
    cudaMemcpyAsync(there, groups, bytes, cudaMemcpyHostToDevice, stream);
    hyper h = {lr, beta1, beta2, eps, 0.0f, step};
    groups_kernel<<<(unsigned)((n + 1023) / 1024), 1024, 0, stream>>>(param, m, v, grad, there,
                                                                      count, h);
    error = cudaGetLastError();
    cudaFreeAsync(there, stream);
    return error;
}

__global__ static void sgd_kernel(float *param, float *velocity, const float *grad, size_t n,
                                  double lr, double momentum, double decay)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = momentum * velocity[i] + grad[i] + decay * param[i];
    velocity[i] = (float)v;
    param[i] = (float)(param[i] - lr * v);
}

cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream)
{
    if (n > 0)
        sgd_kernel<<<(unsigned)((n + 1023) / 1024), 1024, 0, stream>>>(param, velocity, grad, n, lr,
                                                                       momentum, weight_decay);
    return cudaGetLastError();
}

/* One block, and no second look: slow for a large network, and right. */
__global__ static void whole_norm_kernel(float *norm, const float *grad, size_t n)
{
    __shared__ double sums[1024];
    double sum = 0.0;
    for (size_t i = threadIdx.x; i < n; i += 1024) sum += (double)grad[i] * grad[i];
    sums[threadIdx.x] = sum;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) norm[0] = (float)sqrt(sums[0]);
}

__global__ static void shrink_kernel(float *grad, size_t n, const float *norm, float max_norm)
{
    const float factor = norm[0] > max_norm && norm[0] < INFINITY ? max_norm / norm[0] : 1.0f;
    if (factor == 1.0f) return;
    for (size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x; i < n; i += (size_t)gridDim.x * 1024) {
        grad[i] *= factor;
    }
}

cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream)
{
    whole_norm_kernel<<<1, 1024, 0, stream>>>(norm, grad, n);
    shrink_kernel<<<32, 1024, 0, stream>>>(grad, n, norm, max_norm);
    return cudaGetLastError();
}
