// RIGHT: 32 x 32 tiles, a thread for four rows, the epilogue a function of its own;
// the convolution alike, with factor and shift of its filters in shared memory; mean and variance
// of a row in one pass, about its first element
#include "212_matmul_transposed/matmul_transposed.h"
#include "404_fusion/fusion.h"

typedef struct epilogue {
    float *y, *pre;    /* [batch x cols] */
    const float *bias; /* [cols] */
    int batch, cols;
} epilogue;

__device__ static void finish(epilogue to, int row, int col, float sum)
{
    if (row >= to.batch || col >= to.cols) return;
    float z = sum + to.bias[col];
    to.y[(size_t)row * to.cols + col] = z <= 0.0f ? 0.0f : z;
    if (to.pre) to.pre[(size_t)row * to.cols + col] = z;
}

/* 32 x 8 threads; thread (x, y) owns rows y, y + 8, y + 16, y + 24 of column x. */
__global__ static void fused_kernel(epilogue to, const float *x, const float *w, int k)
{
    __shared__ float xt[32][33], wt[32][33];
    int row = blockIdx.y * 32, col = blockIdx.x * 32, tx = threadIdx.x, ty = threadIdx.y;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < k; p += 32) {
        for (int y = ty; y < 32; y += 8) {
            bool in = p + tx < k;
            xt[y][tx] = in && row + y < to.batch ? x[(size_t)(row + y) * k + p + tx] : 0.0f;
            wt[y][tx] = in && col + y < to.cols ? w[(size_t)(col + y) * k + p + tx] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int r = 0; r < 4; r++) sum[r] += xt[ty + 8 * r][i] * wt[tx][i];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) finish(to, row + ty + 8 * r, col + tx, sum[r]);
}

cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream)
{
    epilogue to = {y, pre, bias, batch, out_features};
    dim3 block(32, 8), grid((out_features + 31) / 32, (batch + 31) / 32);
    if (batch > 0 && out_features > 0)
        fused_kernel<<<grid, block, 0, stream>>>(to, x, w, in_features);
    return cudaGetLastError();
}

#define SIDE 32
#define FEW  4 /* filters of a thread; 32 x 8 threads */

struct geometry {
    int channels, h, w, filters, out_h, out_w, kernel_h, kernel_w, stride, pad, taps, pixels;
};

__device__ static float look_up(const float *x, int tap, int pixel, geometry g)
{
    if (tap >= g.taps || pixel >= g.pixels) return 0.0f;
    int area = g.kernel_h * g.kernel_w, plane = g.out_h * g.out_w, place = pixel % plane;
    int row = place / g.out_w * g.stride + tap % area / g.kernel_w - g.pad;
    int col = place % g.out_w * g.stride + tap % g.kernel_w - g.pad;
    if ((unsigned)row >= (unsigned)g.h || (unsigned)col >= (unsigned)g.w) return 0.0f;
    size_t channel = (size_t)(pixel / plane) * g.channels + tap / area;
    return x[(channel * g.h + row) * g.w + col];
}

__global__ static void conv_kernel(float *y, const float *x, const float *w, const float *mean,
                                   const float *var, const float *gamma, const float *beta,
                                   const float *residual, geometry g, float eps)
{
    __shared__ float weights[SIDE][SIDE], columns[SIDE][SIDE]; /* [filter][tap], [tap][pixel] */
    __shared__ float factor[SIDE], shift[SIDE];
    if (threadIdx.y == 0 && blockIdx.y * SIDE + threadIdx.x < g.filters) {
        int filter = blockIdx.y * SIDE + threadIdx.x;
        factor[threadIdx.x] = gamma[filter] / sqrtf(var[filter] + eps);
        shift[threadIdx.x] = beta[filter] - mean[filter] * factor[threadIdx.x];
    }
    __syncthreads();
    int lane = threadIdx.x, pixel = blockIdx.x * SIDE + lane, first = blockIdx.y * SIDE;
    float sum[FEW] = {0.0f};
    for (int k = 0; k < g.taps; k += SIDE) {
        for (int i = threadIdx.y; i < SIDE; i += SIDE / FEW) {
            bool inside = first + i < g.filters && k + lane < g.taps;
            weights[i][lane] = inside ? w[(size_t)(first + i) * g.taps + k + lane] : 0.0f;
            columns[i][lane] = look_up(x, k + i, pixel, g);
        }
        __syncthreads();
        for (int i = 0; i < SIDE; i++) {
            for (int f = 0; f < FEW; f++) {
                sum[f] += weights[FEW * threadIdx.y + f][i] * columns[i][lane];
            }
        }
        __syncthreads();
    }
    int plane = g.out_h * g.out_w;
    for (int f = FEW * threadIdx.y; f < FEW * (threadIdx.y + 1); f++) {
        if (pixel >= g.pixels || first + f >= g.filters) return;
        size_t at = ((size_t)(pixel / plane) * g.filters + first + f) * plane + pixel % plane;
        float z = fmaf(sum[f % FEW], factor[f], shift[f]);
        if (residual) z += residual[at];
        y[at] = z < 0.0f ? 0.0f : z;
    }
}

cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream)
{
    geometry g = {in_channels, in_h,     in_w,   out_channels, 0, 0,
                  kernel_h,    kernel_w, stride, pad,          0, 0};
    g.out_h = (in_h + 2 * pad - kernel_h) / stride + 1;
    g.out_w = (in_w + 2 * pad - kernel_w) / stride + 1;
    g.taps = in_channels * kernel_h * kernel_w;
    g.pixels = batch * g.out_h * g.out_w;
    if (g.pixels == 0) return cudaSuccess;
    dim3 block(SIDE, SIDE / FEW),
        grid((g.pixels + SIDE - 1) / SIDE, (out_channels + SIDE - 1) / SIDE);
    conv_kernel<<<grid, block, 0, stream>>>(y, x, w, mean, var, gamma, beta, residual, g, eps);
    return cudaGetLastError();
}

#define CACHED 4096 /* columns */

struct moments {
    float first, second; /* sums of d and of d squared */
};

/* 128 threads; for each of them. */
__device__ static moments of_block(moments mine)
{
    __shared__ moments all[4];
    for (int d = 16; d > 0; d /= 2) {
        mine.first += __shfl_xor_sync(0xffffffffu, mine.first, d);
        mine.second += __shfl_xor_sync(0xffffffffu, mine.second, d);
    }
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32] = mine;
    __syncthreads();
    moments sum = {(all[0].first + all[1].first) + (all[2].first + all[3].first),
                   (all[0].second + all[1].second) + (all[2].second + all[3].second)};
    return sum;
}

__global__ static void add_and_normalize(float *y, float *sum, float *mean, float *rstd,
                                         const float *x, const float *residual, const float *gamma,
                                         const float *beta, int cols, float eps)
{
    __shared__ float row[CACHED];
    const size_t start = (size_t)blockIdx.x * cols;
    const float *a = x + start, *b = residual + start, about = a[0] + b[0];
    moments mine = {0.0f, 0.0f};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float s = a[c] + b[c], d = s - about;
        if (c < CACHED) row[c] = d;
        if (sum) sum[start + c] = s;
        mine.first += d;
        mine.second += d * d;
    }
    const moments total = of_block(mine);
    const float off = total.first / cols;
    const float variance = total.second / cols - off * off;
    const float r = 1.0f / sqrtf((variance < 0.0f ? 0.0f : variance) + eps); /* NaN stays */
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float d = c < CACHED ? row[c] : a[c] + b[c] - about;
        y[start + c] = (d - off) * r * gamma[c] + beta[c];
    }
    if (threadIdx.x > 0) return;
    mean[blockIdx.x] = about + off;
    rstd[blockIdx.x] = r;
}

cudaError_t residual_layernorm_forward(float *y, float *sum, float *mean, float *rstd,
                                       const float *x, const float *residual, const float *gamma,
                                       const float *beta, int rows, int cols, float eps,
                                       cudaStream_t stream)
{
    if (rows > 0 && cols > 0)
        add_and_normalize<<<rows, 128, 0, stream>>>(y, sum, mean, rstd, x, residual, gamma, beta,
                                                    cols, eps);
    return cudaGetLastError();
}
