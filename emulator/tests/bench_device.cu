// Kernels that bench_device.c measures.
template <int T> __device__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[T][T], right[T][T];
    int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < T; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void naive(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

extern "C" __global__ void tiled32(const float *a, const float *b, float *c, int n)
{
    tiled<32>(a, b, c, n);
}

extern "C" __global__ void tiled16(const float *a, const float *b, float *c, int n)
{
    tiled<16>(a, b, c, n);
}

// Each thread computes 8 x 8 results of a 64 x 64 tile.
extern "C" __global__ void blocked(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[8][64], right[8][64];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    float sum[8][8] = {};
    for (int k = 0; k < n; k += 8) {
        for (int i = 0; i < 8; i++) {
            left[i][threadIdx.x] = a[(blockIdx.y * 64 + threadIdx.x) * n + k + i];
            right[i][threadIdx.x] = b[(k + i) * n + blockIdx.x * 64 + threadIdx.x];
        }
        __syncthreads();
        for (int i = 0; i < 8; i++) {
            float x[8], y[8];
            for (int j = 0; j < 8; j++) x[j] = left[i][ty * 8 + j];
            for (int j = 0; j < 8; j++) y[j] = right[i][tx * 8 + j];
            for (int p = 0; p < 8; p++)
                for (int q = 0; q < 8; q++) sum[p][q] += x[p] * y[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 8; p++)
        for (int q = 0; q < 8; q++)
            c[(blockIdx.y * 64 + ty * 8 + p) * n + blockIdx.x * 64 + tx * 8 + q] = sum[p][q];
}

extern "C" __global__ void empty(const float *, const float *, float *, int)
{
}
