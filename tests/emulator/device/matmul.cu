/* matmul.cu: c[m x n] = a[m x k] * b[k x n], row-major, whole tiles and tails. */
#include "check.h"

__global__ void naive(float *c, const float *a, const float *b, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

template <int TILE>
__global__ void tiled(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        ta[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0;
        tb[y][x] = t + y < k && col < n ? b[(t + y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

/* Each thread a column of 4 results, from registers. */
__global__ void four_rows(float *c, const float *a, const float *b, int n)
{
    __shared__ float ta[32][33], tb[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    float sum[4] = {};
    for (int t = 0; t < n; t += 32) {
        for (int r = 0; r < 4; r++) {
            ta[y + 8 * r][x] = a[(blockIdx.y * 32 + y + 8 * r) * n + t + x];
            tb[y + 8 * r][x] = b[(t + y + 8 * r) * n + blockIdx.x * 32 + x];
        }
        __syncthreads();
        for (int i = 0; i < 32; i++)
            for (int r = 0; r < 4; r++) sum[r] += ta[y + 8 * r][i] * tb[i][x];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) c[(blockIdx.y * 32 + y + 8 * r) * n + blockIdx.x * 32 + x] = sum[r];
}

typedef void matmul(float *, const float *, const float *, int, int, int);

static std::vector<float> numbers(int count, int seed)
{
    std::vector<float> v(count);
    for (int i = 0; i < count; i++) v[i] = (float)((i * 7 + seed) % 11) - 5;
    return v;
}

static void check_product(const float *d_c, const std::vector<float> &a,
                          const std::vector<float> &b, int m, int n, int k)
{
    std::vector<float> c = to_host(d_c, m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float want = 0; /* sums of small integers: exact in any order */
            for (int l = 0; l < k; l++) want += a[i * k + l] * b[l * n + j];
            CHECK(c[i * n + j] == want);
        }
}

static void multiply(matmul *kernel, int tile, int m, int n, int k)
{
    std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 4);
    float *d_c = device_array<float>(m * n);
    dim3 grid((n + tile - 1) / tile, (m + tile - 1) / tile), block(tile, tile);
    kernel<<<grid, block>>>(d_c, to_device(a), to_device(b), m, n, k);
    SYNC();
    check_product(d_c, a, b, m, n, k);
}

CASE(naive_square)
{
    multiply(naive, 16, 64, 64, 64);
}
CASE(naive_tail)
{
    multiply(naive, 16, 37, 53, 29);
}
CASE(tiled_16)
{
    multiply(tiled<16>, 16, 64, 64, 64);
}
CASE(tiled_16_tail)
{
    multiply(tiled<16>, 16, 37, 53, 29);
}
CASE(tiled_32)
{
    multiply(tiled<32>, 32, 96, 64, 96);
}
CASE(tiled_32_tail)
{
    multiply(tiled<32>, 32, 45, 70, 33);
}
CASE(tiled_one_element)
{
    multiply(tiled<16>, 16, 1, 1, 1);
}

CASE(register_tiled)
{
    const int n = 64;
    std::vector<float> a = numbers(n * n, 1), b = numbers(n * n, 4);
    float *d_c = device_array<float>(n * n);
    four_rows<<<dim3(2, 2), dim3(32, 8)>>>(d_c, to_device(a), to_device(b), n);
    SYNC();
    check_product(d_c, a, b, n, n, n);
}
