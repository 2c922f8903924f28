/*
 * 502_mnist_fast.cu: the training of 501, one kernel per epoch.
 *
 * The idea: a step of 128 images is 78 million operations, a microsecond or two for the device. In
 * 501 it takes many times that, because fifteen kernels begin and end in it. So here one kernel
 * runs for a whole epoch. Each block *owns* hidden units: their rows of w1, which lie in its shared
 * memory all the time, their columns of w2, their biases, and Adam's means of all that. A unit's
 * block already has all that it needs to learn, except that the loss depends on all units. So a
 * step is
 *
 *     own units         hidden = relu(x w1^T + bias1)          of every image of the batch
 *     -- all blocks wait for each other --
 *     some images       logits, loss, the logits' gradient     of every unit
 *     -- all blocks wait for each other --
 *     own units         all gradients, and Adam
 *
 * For each image, blocks exchange 128 numbers one way and 10 the other. No gradient of a weight
 * ever leaves its block, and of the weights only w2 is read by others.
 *
 * Every block needs all images of a batch, twice. They are kept as bytes, a quarter of the floats,
 * and copied to shared memory once, during the step before, by those of its warps that are idle
 * while the loss is computed. Images without room there are read from global memory.
 *
 * All sums have a fixed order, so the same call gives the same bits.
 *
 * The cost removed: launches, the host, gradients that go to memory and back. The cost left: two
 * barriers of the whole grid a step, and a device that has far more multipliers than so small a
 * network can use.
 */
#include "502_mnist_fast/mnist_fast.h"
#include "cuda_check.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <math.h>
#include <stdlib.h>

/* Where each part begins in an array of MLP_PARAMS floats. */
enum {
    W1 = 0,                                /* [MLP_HIDDEN x MLP_INPUTS] */
    BIAS1 = W1 + MLP_HIDDEN * MLP_INPUTS,  /* [MLP_HIDDEN] */
    W2 = BIAS1 + MLP_HIDDEN,               /* [MLP_CLASSES x MLP_HIDDEN] */
    BIAS2 = W2 + MLP_CLASSES * MLP_HIDDEN, /* [MLP_CLASSES] */
};

#define BETA1   0.9
#define BETA2   0.999
#define EPSILON 1e-8f

struct mlp_fast {
    int count;          /* images */
    int step;           /* steps taken */
    int blocks, units;  /* of the grid; hidden units of each block, of the last one maybe fewer */
    float *params;      /* [MLP_PARAMS] this and all below on the device */
    float *m, *v;       /* [MLP_PARAMS] each */
    unsigned *images;   /* [count x WORDS] four pixels a word */
    int *labels;        /* [count] */
    float *hidden;      /* [MLP_FAST_BATCH x MLP_HIDDEN] after the ReLU */
    float *grad_logits; /* [MLP_FAST_BATCH x MLP_CLASSES] */
    float *losses;      /* [MLP_FAST_BATCH] */
};

#define THREADS 1024
#define WARPS   (THREADS / 32)
#define WORDS   (MLP_INPUTS / 4)    /* of an image */
#define ROUNDS  ((WORDS + 31) / 32) /* in which a warp takes an image, a word a lane */
#define PARTS   (THREADS / WORDS)   /* of a batch: a thread has one word of one part */

/* What the kernel is given, by value. */
typedef struct epoch {
    mlp_fast net;
    float *losses;      /* [steps] of the caller, or NULL */
    const int *order;   /* [n] */
    int n, batch, kept; /* images; of a step; of these, how many a block keeps */
    float first_lr, last_lr;
    double power1, power2; /* BETA1 and BETA2 to the power of the steps before */
} epoch;

/* What a block keeps in shared memory. */
typedef struct block_memory {
    float *w1;       /* [units x MLP_INPUTS] */
    float *partial;  /* [PARTS x MLP_INPUTS] a gradient, before its parts are added */
    unsigned *x;     /* [2 x kept x WORDS] of this step and of the next */
    float *grad_pre; /* [batch] of one unit */
} block_memory;

typedef struct step {
    int first, rows;              /* its images are order[first ..] */
    const unsigned *x;            /* those that were kept */
    float lr, correct1, correct2; /* m and v began at 0; these make up for it */
} step;

/* @return bytes of a block_memory */
static size_t shared_bytes(const epoch *e)
{
    size_t floats = (size_t)(e->net.units + PARTS) * MLP_INPUTS + e->batch;
    return floats * sizeof(float) + (size_t)2 * e->kept * MLP_INPUTS;
}

__device__ static block_memory divide(const epoch *e, float *memory)
{
    float *partial = memory + e->net.units * MLP_INPUTS;
    unsigned *x = (unsigned *)(partial + PARTS * MLP_INPUTS);
    block_memory shared = {memory, partial, x, (float *)(x + 2 * e->kept * WORDS)};
    return shared;
}

/* @return the sum of x over the lanes of the warp */
__device__ static float warp_sum(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x; /* in every lane */
}

/* Pixel i of four, 0 to 255. A float from 2^23 on counts in ones: with a pixel in its lowest byte
 * it is 2^23 plus that pixel. Moving a byte and subtracting is quicker than a conversion. */
__device__ static float pixel(unsigned word, int i)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 + i)) - 8388608.0f;
}

/* The WORDS words of image order[place], in device memory. */
__device__ static const unsigned *image_of(const epoch *e, int place)
{
    return e->net.images + (size_t)e->order[place] * WORDS;
}

/* The same of image `row` of a step, in shared memory if it was kept. */
__device__ static const unsigned *row_of(const epoch *e, const step *s, int row)
{
    return row < e->kept ? s->x + row * WORDS : image_of(e, s->first + row);
}

/* A parameter and Adam's means of its gradient and of that squared. */
typedef struct learnt {
    float param, m, v;
} learnt;

__device__ static learnt fetch(const epoch *e, int i)
{
    learnt p = {e->net.params[i], e->net.m[i], e->net.v[i]};
    return p;
}

/* One step of Adam for parameter i, which was fetched as p. Returns the new parameter. */
__device__ static float learn(const epoch *e, const step *s, int i, learnt p, float grad)
{
    /* SOLUTION: the two means; then the parameter, with the means divided by s->correct1 and
       s->correct2; all three go back to where fetch found them (about 6 lines). */
    p.m = (float)BETA1 * p.m + (float)(1.0 - BETA1) * grad;
    p.v = (float)BETA2 * p.v + (float)(1.0 - BETA2) * grad * grad;
    p.param -= s->lr * (p.m / s->correct1) / (sqrtf(p.v / s->correct2) + EPSILON);
    e->net.params[i] = p.param;
    e->net.m[i] = p.m;
    e->net.v[i] = p.v;
    /* END SOLUTION */
    return p.param;
}

/* Copy the images from place `first` on to x, in shared memory, without waiting. Not by warp 0,
 * which has a loss to compute meanwhile. */
__device__ static void stage(const epoch *e, unsigned *x, int first)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int rows = min(min(e->batch, e->n - first), e->kept);
    for (int row = warp - 1; warp > 0 && row < rows; row += WARPS - 1) {
        const unsigned *from = image_of(e, first + row);
        for (int i = 4 * lane; i < WORDS; i += 4 * 32)
            __pipeline_memcpy_async(x + row * WORDS + i, from + i, 16);
    }
    __pipeline_commit();
}

/* hidden[s->rows x MLP_HIDDEN]: column `unit`, by the whole block. w1[MLP_INPUTS] are the weights
 * of the unit, in shared memory. */
__device__ static void forward(const epoch *e, const step *s, const float *w1, int unit)
{
    /* SOLUTION: a lane takes every 32nd word of four pixels: first its weights, to registers,
       ROUNDS times four, 0 behind the last word. Then a warp takes every WARPS-th row: pixel times
       weight, warp_sum, divided by 255, plus bias1 of the unit, ReLU, and one lane writes (about 21
       lines). */
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float bias = e->net.params[BIAS1 + unit];
    float4 w[ROUNDS];
#pragma unroll
    for (int i = 0; i < ROUNDS; i++) {
        int word = 32 * i + lane;
        w[i] = word < WORDS ? ((const float4 *)w1)[word] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int row = warp; row < s->rows; row += WARPS) {
        const unsigned *x = row_of(e, s, row);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            int word = 32 * i + lane;
            unsigned four = word < WORDS ? x[word] : 0;
            sum += w[i].x * pixel(four, 0) + w[i].y * pixel(four, 1) + w[i].z * pixel(four, 2) +
                   w[i].w * pixel(four, 3);
        }
        float pre = warp_sum(sum) * (1.0f / 255.0f) + bias; /* a pixel p stands for p / 255 */
        if (lane == 0) e->net.hidden[row * MLP_HIDDEN + unit] = pre < 0.0f ? 0.0f : pre;
    }
    /* END SOLUTION */
}

/* One image of the step by one warp: its loss to losses[row], and the gradient of the mean loss to
 * grad_logits[row x MLP_CLASSES ..]. */
__device__ static void loss(const epoch *e, const step *s, int row)
{
    /* SOLUTION: a lane has four of the hidden units: a logit is its warp_sum of hidden times w2,
       plus bias2, and then all lanes have all logits. Subtract the largest before expf. The
       gradient is (softmax - 1 of the label, - 0 of others) / s->rows, and lane c writes that of
       class c (about 23 lines). */
    int lane = threadIdx.x % 32, label = e->net.labels[e->order[s->first + row]];
    const float4 *w2 = (const float4 *)(e->net.params + W2); /* four units a lane */
    float4 h = ((const float4 *)e->net.hidden)[row * (MLP_HIDDEN / 4) + lane];
    float logits[MLP_CLASSES], largest = -INFINITY, sum = 0.0f, of_label = 0.0f;
#pragma unroll
    for (int c = 0; c < MLP_CLASSES; c++) {
        float4 w = w2[c * (MLP_HIDDEN / 4) + lane];
        logits[c] = warp_sum(w.x * h.x + w.y * h.y + w.z * h.z + w.w * h.w);
        logits[c] += e->net.params[BIAS2 + c];
        largest = fmaxf(largest, logits[c]);
    }
#pragma unroll
    for (int c = 0; c < MLP_CLASSES; c++) {
        if (c == label) of_label = logits[c] - largest;
        logits[c] = expf(logits[c] - largest);
        sum += logits[c];
    }
#pragma unroll
    for (int c = 0; c < MLP_CLASSES; c++) /* each by a lane: an array's index must be a constant */
        if (lane == c)
            e->net.grad_logits[row * MLP_CLASSES + c] =
                (logits[c] / sum - (c == label ? 1.0f : 0.0f)) / s->rows;
    if (lane == 0) e->net.losses[row] = logf(sum) - of_label;
    /* END SOLUTION */
}

/* By one warp, when all losses are there. */
__device__ static void mean_loss(const epoch *e, const step *s, float *mean)
{
    float sum = 0.0f;
    for (int row = threadIdx.x % 32; row < s->rows; row += 32) sum += e->net.losses[row];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) *mean = sum / s->rows;
}

/* grad_pre[s->rows], in shared memory: the gradient of the unit before its ReLU, for each image. */
__device__ static void compute_grad_pre(const epoch *e, const step *s, float *grad_pre, int unit)
{
    /* SOLUTION: a thread an image: its grad_logits times the unit's column of w2; 0 where the
       hidden value is not above 0 (about 7 lines). */
    for (int row = threadIdx.x; row < s->rows; row += THREADS) {
        float grad = 0.0f;
        for (int c = 0; c < MLP_CLASSES; c++)
            grad += e->net.grad_logits[row * MLP_CLASSES + c] *
                    e->net.params[W2 + c * MLP_HIDDEN + unit];
        grad_pre[row] = e->net.hidden[row * MLP_HIDDEN + unit] > 0.0f ? grad : 0.0f;
    }
    /* END SOLUTION */
}

/* Gradient and step of all but w1: a warp a parameter, first the unit's MLP_CLASSES of w2, then its
 * bias1. Those of bias2 belong to no unit, so that unit 0 takes them. */
__device__ static void learn_the_rest(const epoch *e, const step *s, const float *grad_pre,
                                      int unit)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, c = warp - MLP_CLASSES - 1;
    if (c >= MLP_CLASSES || (c >= 0 && unit > 0)) return;
    int i = c >= 0 ? BIAS2 + c : c == -1 ? BIAS1 + unit : W2 + warp * MLP_HIDDEN + unit;
    learnt p = fetch(e, i); /* on its way while the gradient is computed */
    const float *grad_logits = e->net.grad_logits, *hidden = e->net.hidden + unit;
    float grad = 0.0f;
    for (int row = lane; row < s->rows; row += 32)
        grad += c >= 0    ? grad_logits[row * MLP_CLASSES + c]
                : c == -1 ? grad_pre[row]
                          : grad_logits[row * MLP_CLASSES + warp] * hidden[row * MLP_HIDDEN];
    grad = warp_sum(grad);
    if (lane == 0) learn(e, s, i, p, grad);
}

/* The gradient of the weights of four pixels, word `word` of an image, over every PARTS-th image of
 * the step from number `part` on; the pixels count as they are, 0 to 255. */
__device__ static float4 grad_w1(const epoch *e, const step *s, const float *grad_pre, int part,
                                 int word)
{
    float4 grad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    /* SOLUTION: add grad_pre of the image times its pixels (about 7 lines). */
    for (int row = part; row < s->rows; row += PARTS) {
        unsigned four = row_of(e, s, row)[word];
        grad.x += grad_pre[row] * pixel(four, 0);
        grad.y += grad_pre[row] * pixel(four, 1);
        grad.z += grad_pre[row] * pixel(four, 2);
        grad.w += grad_pre[row] * pixel(four, 3);
    }
    /* END SOLUTION */
    return grad;
}

/* All gradients of one unit, and their step of Adam, by the whole block. w1[MLP_INPUTS] are its
 * weights in shared memory, which change with those in params. */
__device__ static void backward(const epoch *e, const step *s, block_memory shared, float *w1,
                                int unit)
{
    /* SOLUTION: compute_grad_pre to shared.grad_pre; learn_the_rest; PARTS groups of WORDS threads
       have grad_w1 of their part, to shared.partial[PARTS x MLP_INPUTS]. Then a thread a weight
       adds the parts in order, divides by 255, and lets it learn. Barriers: which threads read what
       another writes? (about 16 lines) */
    int thread = threadIdx.x, part = thread / WORDS, word = thread % WORDS;
    int i = W1 + unit * MLP_INPUTS + thread;
    learnt own = {};
    if (thread < MLP_INPUTS) own = fetch(e, i); /* on its way while the gradient is computed */
    compute_grad_pre(e, s, shared.grad_pre, unit);
    __syncthreads(); /* grad_pre is there; w2 and partial, as they were, have been read */
    learn_the_rest(e, s, shared.grad_pre, unit);
    if (part < PARTS)
        ((float4 *)shared.partial)[part * WORDS + word] =
            grad_w1(e, s, shared.grad_pre, part, word);
    __syncthreads(); /* all parts are there, and grad_pre may be another unit's */
    if (thread < MLP_INPUTS) {
        float grad = 0.0f;
        for (int p = 0; p < PARTS; p++) grad += shared.partial[p * MLP_INPUTS + thread];
        w1[thread] = learn(e, s, i, own, grad * (1.0f / 255.0f));
    }
    /* END SOLUTION */
}

/* Step number i, by all blocks. This one has the units `unit` to unit + units - 1, and their
 * weights in shared.w1[units x MLP_INPUTS]. The images of this step are on their way to s->x. */
__device__ static void train_step(const epoch *e, const step *s, block_memory shared, int i,
                                  int unit, int units)
{
    /* SOLUTION: wait for the copies of stage (__pipeline_wait_prior(0)) and for the block; forward
       of own units; a barrier of the grid; loss, a row a warp, rows shared among all warps of the
       grid; stage the next step's images, to the other half of shared.x; a barrier of the grid; one
       warp of the grid has mean_loss to e->losses[i], unless that is NULL; backward of own units
       (about 13 lines). */
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int warp = threadIdx.x / 32;
    __pipeline_wait_prior(0);
    __syncthreads(); /* images and weights are there, and the other half of x is free */
    for (int u = 0; u < units; u++) forward(e, s, shared.w1 + u * MLP_INPUTS, unit + u);
    grid.sync(); /* every unit of every image is there */
    for (int row = blockIdx.x + gridDim.x * warp; row < s->rows; row += gridDim.x * WARPS)
        loss(e, s, row);
    stage(e, shared.x + (i + 1) % 2 * e->kept * WORDS, s->first + e->batch);
    grid.sync(); /* every image's gradient is there */
    if (e->losses && blockIdx.x == gridDim.x - 1 && warp == WARPS - 1)
        mean_loss(e, s, e->losses + i);
    for (int u = 0; u < units; u++) backward(e, s, shared, shared.w1 + u * MLP_INPUTS, unit + u);
    /* END SOLUTION */
}

/* Load the weights of own units into shared memory, then do all steps. */
__global__ __launch_bounds__(THREADS) static void epoch_kernel(epoch e)
{
    extern __shared__ float4 memory[];
    block_memory shared = divide(&e, (float *)memory);
    int unit = blockIdx.x * e.net.units;
    int units = min(e.net.units, MLP_HIDDEN - unit), steps = (e.n - 1) / e.batch + 1;

    for (int i = threadIdx.x; i < units * MLP_INPUTS; i += THREADS)
        shared.w1[i] = e.net.params[W1 + unit * MLP_INPUTS + i];
    stage(&e, shared.x, 0);
    for (int i = 0; i < steps; i++) {
        int first = i * e.batch;
        e.power1 *= BETA1;
        e.power2 *= BETA2;
        step s = {first,
                  min(e.batch, e.n - first), /* the last one may be short */
                  shared.x + i % 2 * e.kept * WORDS,
                  e.first_lr + (e.last_lr - e.first_lr) * ((float)i / (float)steps),
                  (float)(1.0 - e.power1),
                  (float)(1.0 - e.power2)};
        train_step(&e, &s, shared, i, unit, units);
    }
}

/* A block a multiprocessor, and the units of a block. */
static cudaError_t share_out(mlp_fast *net)
{
    int device, multiprocessors, blocks;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    blocks = multiprocessors < MLP_HIDDEN ? multiprocessors : MLP_HIDDEN;
    net->units = (MLP_HIDDEN + blocks - 1) / blocks;
    net->blocks = (MLP_HIDDEN + net->units - 1) / net->units;
    return cudaSuccess;
}

static cudaError_t upload(void *d_array, const void *h_data, size_t bytes)
{
    CUDA_CHECK(cudaMalloc((void **)d_array, bytes + 1)); /* never 0: no images too */
    CUDA_CHECK(cudaMemcpy(*(void **)d_array, h_data, bytes, cudaMemcpyHostToDevice));
    return cudaSuccess;
}

static cudaError_t set_up(mlp_fast *net, const float *h_params, const unsigned char *h_images,
                          const int *h_labels)
{
    size_t bytes = MLP_PARAMS * sizeof(float), count = (size_t)net->count;
    CUDA_CHECK(share_out(net));
    CUDA_CHECK(upload(&net->params, h_params, bytes));
    CUDA_CHECK(upload(&net->images, h_images, count * MLP_INPUTS));
    CUDA_CHECK(upload(&net->labels, h_labels, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&net->m, bytes));
    CUDA_CHECK(cudaMalloc((void **)&net->v, bytes));
    CUDA_CHECK(cudaMalloc((void **)&net->hidden, MLP_FAST_BATCH * MLP_HIDDEN * sizeof(float)));
    CUDA_CHECK(
        cudaMalloc((void **)&net->grad_logits, MLP_FAST_BATCH * MLP_CLASSES * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&net->losses, MLP_FAST_BATCH * sizeof(float)));
    CUDA_CHECK(cudaMemset(net->m, 0, bytes));
    CUDA_CHECK(cudaMemset(net->v, 0, bytes));
    return cudaDeviceSynchronize(); /* the caller's streams need not wait for the default stream */
}

cudaError_t mlp_fast_create(mlp_fast **net, const float *h_params, const unsigned char *h_images,
                            const int *h_labels, int count)
{
    *net = NULL;
    mlp_fast *created = (mlp_fast *)calloc(1, sizeof *created);
    if (created == NULL) return cudaErrorMemoryAllocation;
    created->count = count;
    cudaError_t error = set_up(created, h_params, h_images, h_labels);
    if (error != cudaSuccess) {
        mlp_fast_free(created);
        return error;
    }
    *net = created;
    return cudaGetLastError();
}

/* As many images of a batch as find room in shared memory, twice. */
static cudaError_t keep_images(epoch *e)
{
    int device, most;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    e->kept = 0;
    int room = (most - (int)shared_bytes(e)) / (2 * MLP_INPUTS);
    e->kept = room < 0 ? 0 : room < e->batch ? room : e->batch;
    return cudaFuncSetAttribute((const void *)epoch_kernel,
                                cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes(e));
}

cudaError_t mlp_fast_train_epoch(mlp_fast *net, float *d_losses, const int *d_order, int n,
                                 int batch, float first_lr, float last_lr, cudaStream_t stream)
{
    if (batch < 1 || batch > MLP_FAST_BATCH) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    epoch e = {*net, d_losses, d_order, n, batch, 0, first_lr, last_lr, 0.0, 0.0};
    e.power1 = pow(BETA1, net->step);
    e.power2 = pow(BETA2, net->step);
    CUDA_CHECK(keep_images(&e));
    /* SOLUTION: one cooperative launch of epoch_kernel, whose argument is e: net->blocks blocks of
       THREADS threads, with shared_bytes(&e) of shared memory (about 3 lines). */
    void *arguments[] = {&e};
    CUDA_CHECK(cudaLaunchCooperativeKernel((const void *)epoch_kernel, dim3(net->blocks),
                                           dim3(THREADS), arguments, shared_bytes(&e), stream));
    /* END SOLUTION */
    net->step += (n - 1) / batch + 1;
    return cudaGetLastError();
}

cudaError_t mlp_fast_get_params(mlp_fast *net, float *h_params)
{
    CUDA_CHECK(cudaDeviceSynchronize()); /* no stream is given: wait for all of them */
    CUDA_CHECK(
        cudaMemcpy(h_params, net->params, MLP_PARAMS * sizeof(float), cudaMemcpyDeviceToHost));
    return cudaGetLastError();
}

cudaError_t mlp_fast_free(mlp_fast *net)
{
    if (net == NULL) return cudaSuccess;
    void *d_buffers[] = {net->params, net->m,      net->v,           net->images,
                         net->labels, net->hidden, net->grad_logits, net->losses};
    for (size_t i = 0; i < sizeof d_buffers / sizeof d_buffers[0]; i++) cudaFree(d_buffers[i]);
    free(net);
    return cudaGetLastError();
}
