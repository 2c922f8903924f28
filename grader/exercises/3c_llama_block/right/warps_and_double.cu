// RIGHT: a warp per row, gamma's sums in a kernel of their own, sine and cosine in double for each
// pair
#include "3c_llama_block/llama_block.h"

#define WARPS 4

__global__ static void normalize(float *y, float *inv_rms, const float *x, const float *gamma,
                                 int rows, int cols, float eps)
{
    const size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= (size_t)rows) return;
    const float *from = x + row * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum = fmaf(from[c], from[c], sum);
    for (int lanes = 16; lanes; lanes >>= 1) sum += __shfl_down_sync(~0u, sum, lanes);
    const float scale = rsqrtf(__shfl_sync(~0u, sum, 0) / (float)cols + eps);
    for (int c = threadIdx.x; c < cols; c += 32) y[row * cols + c] = gamma[c] * (from[c] * scale);
    if (threadIdx.x == 0) inv_rms[row] = scale;
}

/* 32 columns and 32 rows at a time; before grad_y may be overwritten. */
__global__ static void gamma_sums(float *grad_gamma, const float *grad_y, const float *x,
                                  const float *inv_rms, int rows, int cols)
{
    __shared__ float parts[32][33];
    const int col = (int)(blockIdx.x * 32 + threadIdx.x);
    float sum = 0.0f;
    for (size_t row = threadIdx.y; row < (size_t)rows && col < cols; row += 32)
        sum += x[row * cols + col] * inv_rms[row] * grad_y[row * cols + col];
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || col >= cols) return;
    for (int part = 1; part < 32; part++) sum += parts[part][threadIdx.x];
    grad_gamma[col] = sum;
}

__global__ static void normalize_back(float *grad_x, const float *grad_y, const float *x,
                                      const float *gamma, const float *inv_rms, int rows, int cols)
{
    const size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= (size_t)rows) return;
    const float scale = inv_rms[row];
    float along = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32)
        along = fmaf(grad_y[row * cols + c] * gamma[c], x[row * cols + c] * scale, along);
    for (int lanes = 16; lanes; lanes >>= 1) along += __shfl_xor_sync(~0u, along, lanes);
    along /= (float)cols;
    for (int c = threadIdx.x; c < cols; c += 32) {
        const size_t i = row * cols + c;
        grad_x[i] = (grad_y[i] * gamma[c] - along * (x[i] * scale)) * scale;
    }
}

extern "C" cudaError_t rmsnorm_forward(float *y, float *inv_rms, const float *x, const float *gamma,
                                       int rows, int cols, float eps, cudaStream_t stream)
{
    if (rows > 0 && cols > 0)
        normalize<<<(unsigned)(rows - 1) / WARPS + 1, dim3(32, WARPS), 0, stream>>>(
            y, inv_rms, x, gamma, rows, cols, eps);
    return cudaGetLastError();
}

extern "C" cudaError_t rmsnorm_backward(float *grad_x, float *grad_gamma, const float *grad_y,
                                        const float *x, const float *gamma, const float *inv_rms,
                                        int rows, int cols, cudaStream_t stream)
{
    if (cols == 0) return cudaSuccess;
    gamma_sums<<<(unsigned)(cols - 1) / 32 + 1, dim3(32, 32), 0, stream>>>(grad_gamma, grad_y, x,
                                                                           inv_rms, rows, cols);
    if (rows > 0)
        normalize_back<<<(unsigned)(rows - 1) / WARPS + 1, dim3(32, WARPS), 0, stream>>>(
            grad_x, grad_y, x, gamma, inv_rms, rows, cols);
    return cudaGetLastError();
}

/* One pair per turn of a thread, in the order of the array. */
__global__ static void turn(float *to, const float *from, size_t pairs, int seq, int half,
                            int offset, double log_base, double sign)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t p = blockIdx.x * (size_t)blockDim.x + threadIdx.x; p < pairs; p += step) {
        const size_t vector = p / half, i = p % half, first = vector * 2 * half + i;
        const double position = (double)offset + (double)(vector % seq);
        const double angle = position * exp(-(double)i / half * log_base);
        const double even = from[first], odd = from[first + half];
        to[first] = (float)(even * cos(angle) - sign * odd * sin(angle));
        to[first + half] = (float)(sign * even * sin(angle) + odd * cos(angle));
    }
}

static cudaError_t turn_all(float *to, const float *from, int count, int seq, int dim, int offset,
                            float base, double sign, cudaStream_t stream)
{
    if (dim & 1) return cudaErrorInvalidValue;
    const size_t pairs = (size_t)count * seq * (dim / 2);
    const size_t blocks = pairs < 128 * 4096 ? (pairs + 127) / 128 : 4096;
    if (pairs > 0)
        turn<<<(unsigned)blocks, 128, 0, stream>>>(to, from, pairs, seq, dim / 2, offset,
                                                   log((double)base), sign);
    return cudaGetLastError();
}

extern "C" cudaError_t rope_forward(float *y, const float *x, int count, int seq, int dim,
                                    int offset, float base, cudaStream_t stream)
{
    return turn_all(y, x, count, seq, dim, offset, base, 1.0, stream);
}

extern "C" cudaError_t rope_backward(float *grad_x, const float *grad_y, int count, int seq,
                                     int dim, int offset, float base, cudaStream_t stream)
{
    return turn_all(grad_x, grad_y, count, seq, dim, offset, base, -1.0, stream);
}

__global__ static void gated(float *y, const float *gate, const float *up, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = up[i] * (gate[i] / (1.0f + expf(-gate[i])));
}

__global__ static void gated_back(float *grad_gate, float *grad_up, const float *grad_y,
                                  const float *gate, const float *up, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        const float in = gate[i], above = grad_y[i], of_gate = 1.0f / (1.0f + expf(-in));
        const float by_up = above * up[i], silu = in * of_gate, by_gate = above * silu;
        grad_gate[i] = by_up * (of_gate + silu * (1.0f - of_gate));
        grad_up[i] = by_gate;
    }
}

static unsigned blocks_of(size_t n)
{
    return (unsigned)(n < 256 * 2048 ? (n + 255) / 256 : 2048);
}

extern "C" cudaError_t swiglu_forward(float *y, const float *gate, const float *up, size_t n,
                                      cudaStream_t stream)
{
    if (n > 0) gated<<<blocks_of(n), 256, 0, stream>>>(y, gate, up, n);
    return cudaGetLastError();
}

extern "C" cudaError_t swiglu_backward(float *grad_gate, float *grad_up, const float *grad_y,
                                       const float *gate, const float *up, size_t n,
                                       cudaStream_t stream)
{
    if (n > 0)
        gated_back<<<blocks_of(n), 256, 0, stream>>>(grad_gate, grad_up, grad_y, gate, up, n);
    return cudaGetLastError();
}
