// RIGHT: a warp takes a row, or 32 tokens, whose equal ones it finds by votes; dropout by four
// neighbours a thread and compared in double
#include "312_embedding/embedding.h"

#define FULL  0xffffffffu
#define WARPS 4 /* of a block */

static unsigned blocks_of(size_t warps)
{
    return (unsigned)((warps + WARPS - 1) / WARPS);
}

__device__ static size_t warp_number(void)
{
    return (size_t)blockIdx.x * WARPS + threadIdx.y;
}

__global__ static void row_kernel(float *y, const int *tokens, const float *table,
                                  const float *positions, size_t rows, int seq, int dim)
{
    const size_t row = warp_number();
    if (row >= rows) return;
    const float *from = table + (size_t)tokens[row] * dim;
    const float *place = positions ? positions + row % seq * dim : NULL;
    for (int c = threadIdx.x; c < dim; c += 32) {
        y[row * dim + c] = place ? from[c] + place[c] : from[c];
    }
}

__global__ static void vote_kernel(float *grad_table, const float *grad_y, const int *tokens,
                                   size_t rows, int dim)
{
    const size_t first = warp_number() * 32;
    if (first >= rows) return;
    const bool is_row = first + threadIdx.x < rows;
    const int token = is_row ? tokens[first + threadIdx.x] : -1;
    for (unsigned left = __ballot_sync(FULL, is_row), same; left; left &= ~same) {
        const int wanted = __shfl_sync(FULL, token, __ffs(left) - 1);
        same = __ballot_sync(FULL, token == wanted);
        for (int c = threadIdx.x; c < dim; c += 32) {
            float sum = 0.0f;
            for (unsigned who = same; who; who &= who - 1) {
                sum += grad_y[(first + __ffs(who) - 1) * dim + c];
            }
            atomicAdd(grad_table + (size_t)wanted * dim + c, sum);
        }
    }
}

__global__ static void place_kernel(float *grad_positions, const float *grad_y, int batch, int seq,
                                    int dim)
{
    const size_t t = warp_number();
    for (int c = threadIdx.x; t < seq && c < dim; c += 32) {
        float sum = 0.0f;
        for (int b = 0; b < batch; b++) sum += grad_y[((size_t)b * seq + t) * dim + c];
        grad_positions[t * dim + c] = sum;
    }
}

__global__ static void add_kernel(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        y[i] = a[i] + b[i];
    }
}

__device__ static uint4 mixed(uint4 c, uint2 key)
{
    return make_uint4(__umulhi(0xCD9E8D57u, c.z) ^ c.y ^ key.x, 0xCD9E8D57u * c.z,
                      __umulhi(0xD2511F53u, c.x) ^ c.w ^ key.y, 0xD2511F53u * c.x);
}

__global__ static void drop_kernel(float *y, const float *x, size_t n, double p,
                                   unsigned long long seed)
{
    const size_t counter = (size_t)blockIdx.x * 256 + threadIdx.x;
    uint4 c = {(unsigned)counter, (unsigned)(counter >> 32), 0, 0};
    uint2 key = {(unsigned)seed, (unsigned)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        c = mixed(c, key);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    const unsigned word[4] = {c.x, c.y, c.z, c.w};
    for (int w = 0; w < 4 && counter * 4 + w < n; w++) {
        const size_t i = counter * 4 + w;
        y[i] = word[w] / 4294967296.0 < p ? 0.0f : x[i] / (float)(1.0 - p);
    }
}

cudaError_t embedding_forward(float *y, const int *tokens, const float *table,
                              const float *positions, int batch, int seq, int dim,
                              cudaStream_t stream)
{
    const size_t rows = (size_t)batch * seq;
    if (rows > 0 && dim > 0) {
        row_kernel<<<blocks_of(rows), dim3(32, WARPS), 0, stream>>>(y, tokens, table, positions,
                                                                    rows, seq, dim);
    }
    return cudaGetLastError();
}

cudaError_t embedding_backward(float *grad_table, float *grad_positions, const float *grad_y,
                               const int *tokens, int batch, int seq, int dim, int vocab,
                               cudaStream_t stream)
{
    const size_t rows = (size_t)batch * seq;
    const dim3 block(32, WARPS);
    if (rows > 0 && dim > 0 && vocab > 0) {
        vote_kernel<<<blocks_of((rows + 31) / 32), block, 0, stream>>>(grad_table, grad_y, tokens,
                                                                       rows, dim);
    }
    if (grad_positions && seq > 0 && dim > 0) {
        place_kernel<<<blocks_of(seq), block, 0, stream>>>(grad_positions, grad_y, batch, seq, dim);
    }
    return cudaGetLastError();
}

cudaError_t residual_forward(float *y, const float *a, const float *b, size_t n,
                             cudaStream_t stream)
{
    add_kernel<<<528, 256, 0, stream>>>(y, a, b, n);
    return cudaGetLastError();
}

cudaError_t dropout_forward(float *y, const float *x, size_t n, float p, unsigned long long seed,
                            cudaStream_t stream)
{
    if (n > 0) drop_kernel<<<(unsigned)((n + 1023) / 1024), 256, 0, stream>>>(y, x, n, p, seed);
    return cudaGetLastError();
}

cudaError_t dropout_backward(float *grad_x, const float *grad_y, size_t n, float p,
                             unsigned long long seed, cudaStream_t stream)
{
    return dropout_forward(grad_x, grad_y, n, p, seed, stream);
}
