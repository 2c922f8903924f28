/*
 * 314_adam.cu: one step of AdamW, or of gradient descent with momentum, each parameter on its own;
 * and what a training run needs around a step: clipped gradients, and decay for some parameters
 * only.
 *
 * The idea: m and v are running means of the gradient and of its square, and the step is m /
 * sqrt(v), about lr for every parameter however large its gradient is. Both means start at 0 and
 * are too small at first, by the factors 1 - beta1^step and 1 - beta2^step: dividing by them makes
 * the first step exactly lr. The weight decay acts on the parameter itself and stays out of m and v
 * (the W of AdamW); as a part of the gradient it would be divided by sqrt(v) like the rest.
 *
 * All of it is one kernel: parameter, m, v and gradient come in, three of them go out, 28 bytes in
 * all. Written as one kernel per formula, every intermediate array would travel through memory.
 *
 * What it costs: those 28 bytes, where plain gradient descent moves 12, and memory for m and v,
 * twice that of the parameters. The arithmetic is hidden behind the traffic: only a smaller m and v
 * would make it faster.
 *
 * A network has a hundred arrays of parameters, some of them tiny, and not all decay: weight decay
 * is for matrices, and leaves biases and the gamma and beta of norms alone. A launch for each array
 * would cost more than the small ones are worth. So the arrays lie one behind the other, a single
 * kernel steps all of them, and a thread finds the group of its parameter by bisection. The kernel
 * gets the groups by value: the host's array may be gone when it runs.
 *
 * Clipping needs the norm of all gradients before it may change one. Each block sums the squares of
 * its elements; a second kernel adds the sums of the blocks, always in the same order; a third
 * scales, if anything has to be scaled. Squares are summed in double: in fp32 the square of 1e20 is
 * infinite, that of 1e-23 is 0.
 */
#include "314_adam/adam.h"
#include "not_implemented.h"
#include <math.h>

/* SOLUTION: group_table: what a launch is told of the groups; decay_of: the decay of parameter i,
   by bisection (about 20 lines). */
#define GROUPS 128 /* per launch, at most: its arguments have room for 4 KB */

typedef struct group_table {
    int count;
    size_t end[GROUPS]; /* group k ends before this parameter, and the next one begins there */
    float weight_decay[GROUPS];
} group_table;

__device__ static float decay_of(const group_table &table, size_t i)
{
    int low = 0, high = table.count - 1; /* the first group that ends behind i is between them */
    while (low < high) {
        int middle = (low + high) / 2;
        if (i < table.end[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return table.weight_decay[low];
}
/* END SOLUTION */

/* SOLUTION: adam_kernel: a parameter per thread, guard the tail, the four formulas of the contract
   (about 15 lines). */
__global__ static void adam_kernel(float *param, float *m, float *v, const float *grad, size_t n,
                                   float lr, float beta1, float beta2, float eps,
                                   const group_table table, float correction1, float correction2)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float weight_decay = decay_of(table, i);
    float g = grad[i], p = param[i];
    float mean = beta1 * m[i] + (1.0f - beta1) * g;
    float square = beta2 * v[i] + (1.0f - beta2) * g * g;
    m[i] = mean;
    v[i] = square;
    float step = mean / correction1 / (sqrtf(square / correction2) + eps);
    param[i] = p - lr * (step + weight_decay * p);
}
/* END SOLUTION */

/* SOLUTION: step_groups, for both functions that step by Adam. Compute both corrections here, once
   and in double, because 1 - beta2^step is a difference of nearly equal numbers; a launch for every
   GROUPS groups, unless they are empty (about 20 lines). */
static void step_groups(float *param, float *m, float *v, const float *grad,
                        const adam_group *groups, int count, float lr, float beta1, float beta2,
                        float eps, int step, cudaStream_t stream)
{
    float correction1 = (float)(1.0 - pow((double)beta1, step));
    float correction2 = (float)(1.0 - pow((double)beta2, step));
    for (int first = 0; first < count; first += GROUPS) {
        group_table table = {0, {0}, {0}};
        size_t n = 0;
        for (; table.count < GROUPS && first + table.count < count; table.count++) {
            n += groups[first + table.count].n;
            table.end[table.count] = n;
            table.weight_decay[table.count] = groups[first + table.count].weight_decay;
        }
        if (n == 0) continue; /* an empty grid is a launch error */
        adam_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(
            param, m, v, grad, n, lr, beta1, beta2, eps, table, correction1, correction2);
        param += n, m += n, v += n, grad += n;
    }
}
/* END SOLUTION */

/* SOLUTION: momentum_kernel: a parameter per thread, both formulas of the contract (about 10
 * lines).
 */
__global__ static void momentum_kernel(float *param, float *velocity, const float *grad, size_t n,
                                       float lr, float momentum, float weight_decay)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    float p = param[i];
    float v = momentum * velocity[i] + (grad[i] + weight_decay * p);
    velocity[i] = v;
    param[i] = p - lr * v;
}
/* END SOLUTION */

/* SOLUTION: block_sum: the sum of one double per thread, for thread 0; squares_kernel: each block's
   sum of squares, in of_block; norm_kernel, one block: the root of their sum; scale_kernel, which
   writes only where the norm is finite and too large (about 43 lines). */
#define THREADS 256
#define BLOCKS  1024                       /* at most, to sum squares: enough to fill a large GPU */
__device__ static double of_block[BLOCKS]; /* their sums */

__device__ static double block_sum(double value)
{
    __shared__ double sums[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, distance);
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads(); /* every warp has left its sum */
    double sum = 0.0;
    for (int warp = 0; warp < THREADS / 32; warp++) sum += sums[warp];
    return sum;
}

__global__ static void squares_kernel(const float *grad, size_t n)
{
    size_t stride = (size_t)gridDim.x * THREADS;
    double sum = 0.0;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += stride) {
        sum += (double)grad[i] * grad[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
}

__global__ static void norm_kernel(float *norm, int blocks)
{
    double sum = 0.0;
    for (int i = threadIdx.x; i < blocks; i += THREADS) sum += of_block[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *norm = (float)sqrt(sum);
}

__global__ static void scale_kernel(float *grad, size_t n, const float *norm, float max_norm)
{
    float length = *norm;
    if (!(length > max_norm) || length == INFINITY) return; /* NaN > max_norm is false */
    size_t stride = (size_t)gridDim.x * THREADS;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += stride) {
        grad[i] *= max_norm / length;
    }
}
/* END SOLUTION */

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    /* SOLUTION: a step of a single group (about 2 lines). */
    adam_group all = {n, weight_decay};
    step_groups(param, m, v, grad, &all, 1, lr, beta1, beta2, eps, step, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream)
{
    /* SOLUTION: launch unless n is 0 (about 3 lines). */
    if (n == 0) return cudaSuccess; /* an empty grid is a launch error */
    momentum_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(param, velocity, grad, n, lr,
                                                                     momentum, weight_decay);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream)
{
    /* SOLUTION: three kernels; how many blocks sum depends on n alone. The norm of nothing is 0
       (about 5 lines). */
    size_t wanted = n / (16 * THREADS) + 1;
    int blocks = n == 0 ? 0 : wanted < BLOCKS ? (int)wanted : BLOCKS;
    if (n > 0) squares_kernel<<<blocks, THREADS, 0, stream>>>(grad, n);
    norm_kernel<<<1, THREADS, 0, stream>>>(norm, blocks);
    if (n > 0) scale_kernel<<<blocks, THREADS, 0, stream>>>(grad, n, norm, max_norm);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream)
{
    /* SOLUTION: a step of these groups (1 line). */
    step_groups(param, m, v, grad, groups, count, lr, beta1, beta2, eps, step, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}
