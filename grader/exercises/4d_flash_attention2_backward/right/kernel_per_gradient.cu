// RIGHT: a kernel for each of the three gradients, eight products in all; one stage; e^x
#include "../../phase4_optimization/4c_flash_attention2/4c_tile.cuh"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include <math.h>

enum gradient { OF_Q, OF_K, OF_V };

/* A block keeps 64 rows of two arrays, of queries (q, grad_out) or of keys (k, v); those of the
 * other side pass by. */
template <int DIM> struct room {
    bf16 kept[2][64][DIM], passing[2][64][DIM];
};

struct arrays {
    const bf16 *kept[2], *passing[2];
    const float *lse, *d;
    bf16 *grad;
};

__global__ static void dots_of_rows(float *d, const bf16 *x, const bf16 *y, size_t rows, int dim)
{
    const size_t r = (size_t)blockIdx.x * 128 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < dim && r < rows; i++)
        sum += __bfloat162float(x[r * dim + i]) * __bfloat162float(y[r * dim + i]);
    if (r < rows) d[r] = sum;
}

template <int DIM, gradient OF>
__global__ static void kernel(arrays x, int seq, int causal, float scale, bool aligned)
{
    extern __shared__ __align__(256) char bytes[];
    room<DIM> &r = *(room<DIM> *)bytes;
    const int blocks = (seq + 63) / 64, top = blockIdx.x % blocks * 64, lane = threadIdx.x % 32;
    const size_t head = blockIdx.x / blocks, from = head * seq * DIM;
    const int warp = threadIdx.x / 32 * 16, begin = causal && OF != OF_Q ? top : 0;
    const int end = causal && OF == OF_Q ? min(top + 64, seq) : seq;
    const float by = OF == OF_V ? 1.0f : scale, factor[2] = {by, by};
    float sum[1][DIM / 8][4] = {};

    for (int i = 0; i < 2; i++) copy_tile(r.kept[i], x.kept[i] + from, top, seq, aligned);
    for (int start = begin; start < end; start += 64) {
        float p[1][8][4] = {}, grad_p[1][8][4] = {};
        for (int i = 0; i < 2; i++)
            copy_tile(r.passing[i], x.passing[i] + from, start, seq, aligned);
        copies_done();
        __syncthreads();
        multiply_rows(p, r.kept[0] + warp, r.passing[0]);
        if (OF != OF_V) multiply_rows(grad_p, r.kept[1] + warp, r.passing[1]);
#pragma unroll
        for (int i = 0; i < 32; i++) {
            const int row = top + warp + lane / 4 + i % 4 / 2 * 8;
            const int col = start + i / 4 * 8 + lane % 4 * 2 + i % 2;
            const int query = OF == OF_Q ? row : col, key = OF == OF_Q ? col : row;
            const bool seen = query < seq && key < seq && !(causal && key > query);
            float &w = p[0][i / 4][i % 4];
            w = seen ? expf(w * scale - x.lse[head * seq + query]) : 0.0f;
            if (OF != OF_V && seen) w *= grad_p[0][i / 4][i % 4] - x.d[head * seq + query];
        }
        multiply_weights(sum, p, r.passing[OF == OF_V]);
        __syncthreads();
    }
    store_rows(x.grad + from, sum, factor, top + warp, seq, aligned);
}

template <int DIM, gradient OF>
static void launch(arrays x, unsigned heads, int seq, int causal, float scale, cudaStream_t stream)
{
    const size_t any = (size_t)x.grad | (size_t)x.kept[0] | (size_t)x.kept[1] |
                       (size_t)x.passing[0] | (size_t)x.passing[1];
    cudaFuncSetAttribute(kernel<DIM, OF>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         sizeof(room<DIM>));
    kernel<DIM, OF><<<heads *((seq + 63) / 64), 128, sizeof(room<DIM>), stream>>>(
        x, seq, causal, scale, any % 16 == 0);
}

template <int DIM>
static void launch_all(arrays of_q, arrays of_k, arrays of_v, unsigned heads, int seq, int causal,
                       float scale, cudaStream_t stream)
{
    launch<DIM, OF_V>(of_v, heads, seq, causal, scale, stream);
    launch<DIM, OF_K>(of_k, heads, seq, causal, scale, stream);
    launch<DIM, OF_Q>(of_q, heads, seq, causal, scale, stream);
}

cudaError_t attention_flash2_backward(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v,
                                      const bf16 *grad_out, const bf16 *out, const float *lse,
                                      const bf16 *q, const bf16 *k, const bf16 *v, int batch,
                                      int heads, int seq, int dim, int causal, float scale,
                                      cudaStream_t stream)
{
    const size_t rows = (size_t)batch * heads * seq;
    float *d;
    if (dim != 64 && dim != 128) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    if (cudaMallocAsync(&d, rows * sizeof(float), stream) != cudaSuccess) return cudaGetLastError();
    const arrays of_q = {{q, grad_out}, {k, v}, lse, d, grad_q};
    const arrays of_k = {{k, v}, {q, grad_out}, lse, d, grad_k};
    const arrays of_v = {{k, v}, {q, grad_out}, lse, d, grad_v};
    dots_of_rows<<<(unsigned)((rows + 127) / 128), 128, 0, stream>>>(d, grad_out, out, rows, dim);
    if (dim == 64)
        launch_all<64>(of_q, of_k, of_v, batch * heads, seq, causal, scale, stream);
    else
        launch_all<128>(of_q, of_k, of_v, batch * heads, seq, causal, scale, stream);
    cudaFreeAsync(d, stream);
    return cudaGetLastError();
}
