/*
 * gemm_kernel.cu: D = alpha op(A) op(B) + beta C as a kernel of the device, so that a product comes
 * in its stream's turn, may be captured, and is counted and checked like any other kernel. Each
 * thread sums 4 x 4 elements, in registers, of the operands' type or a wider one.
 */
#include "gemm.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { SIDE = 16, EACH = 4, TILE = SIDE * EACH, MOST = 65535 /* blocks along z */ };

/* ---- elements -------------------------------------------------------------------------------- */

template <typename A, typename T> static __device__ A read(const T *x)
{
    return (A)*x;
}
template <> __device__ float read<float>(const __half *x)
{
    return __half2float(*x);
}
template <> __device__ float read<float>(const __nv_bfloat16 *x)
{
    return __bfloat162float(*x);
}

template <typename A, typename C> static __device__ void write(C *x, A value)
{
    *x = (C)value;
}
template <> __device__ void write(__half *x, float value)
{
    *x = __float2half(value);
}
template <> __device__ void write(__nv_bfloat16 *x, float value)
{
    *x = __float2bfloat16(value);
}

/* Ten bits after the point are left, to nearest, ties to even. */
static __device__ float rounded(float x)
{
    const unsigned bits = __float_as_uint(x);
    return x != x ? x : __uint_as_float((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}
template <typename A> static __device__ A rounded(A x)
{
    return x;
}

static __device__ double scalar(const gemm &g, gemm_scalar s)
{
    if (!s.at) return s.value;
    switch (g.scale) {
    case gemm::SCALE_F64: return *(const double *)s.at;
    case gemm::SCALE_F16: return __half2float(*(const __half *)s.at);
    case gemm::SCALE_I32: return *(const int *)s.at;
    default: return *(const float *)s.at;
    }
}

/* ---- the product ----------------------------------------------------------------------------- */

template <typename T> static __device__ T *matrix(const gemm &g, const gemm_operand &x, int number)
{
    return g.arrays ? ((T *const *)x.data)[number] : (T *)x.data + number * x.step;
}

/* GELU by the hyperbolic tangent, as cuBLASLt has it. */
template <typename C>
static __device__ float finished(const gemm_epilogue &e, float x, int row, int column, int number)
{
    if (e.bias) x += read<float>((const C *)e.bias + row);
    if (e.aux.data) write((C *)e.aux.data + number * e.aux.step + row + column * e.aux.leading, x);
    if (e.relu && x < 0) x = 0;
    return e.gelu ? 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))) : x;
}

/* Beyond the edge a thread sums what its neighbour sums, and stores nothing. */
template <typename T, typename C, typename A, bool WITH_EPILOGUE>
static __device__ void product(const gemm &g, int number)
{
    const T *a = matrix<const T>(g, g.a, number), *b = matrix<const T>(g, g.b, number);
    const T *at_a[EACH], *at_b[EACH];
    const long long step_a = g.a.transposed ? 1 : g.a.leading;
    const long long step_b = g.b.transposed ? g.b.leading : 1;
    const int row = blockIdx.x * TILE + threadIdx.x, column = blockIdx.y * TILE + threadIdx.y;
    A sum[EACH][EACH] = {};
    for (int r = 0; r < EACH; r++) {
        const long long i = min(row + r * SIDE, g.m - 1), j = min(column + r * SIDE, g.n - 1);
        at_a[r] = a + (g.a.transposed ? i * g.a.leading : i);
        at_b[r] = b + (g.b.transposed ? j : j * g.b.leading);
    }
    for (int p = 0; p < g.k; p++) {
        A x[EACH], y[EACH];
        for (int r = 0; r < EACH; r++, at_a[r - 1] += step_a, at_b[r - 1] += step_b) {
            x[r] = g.tf32 ? rounded(read<A>(at_a[r])) : read<A>(at_a[r]);
            y[r] = g.tf32 ? rounded(read<A>(at_b[r])) : read<A>(at_b[r]);
        }
        for (int r = 0; r < EACH; r++)
            for (int s = 0; s < EACH; s++) sum[r][s] += x[r] * y[s];
    }
    const A alpha = (A)scalar(g, g.alpha), beta = (A)scalar(g, g.beta);
    for (int r = 0; r < EACH; r++) {
        for (int s = 0; s < EACH; s++) {
            const int i = row + r * SIDE, j = column + s * SIDE;
            if (i >= g.m || j >= g.n) continue;
            const C *c = matrix<const C>(g, g.c, number) + i + j * g.c.leading;
            C *d = matrix<C>(g, g.d, number) + i + j * g.d.leading;
            /* Where beta is 0, C is not read: it may hold anything, NaN too. */
            A x = beta == 0 ? alpha * sum[r][s] : alpha * sum[r][s] + beta * read<A>(c);
            if (WITH_EPILOGUE) x = (A)finished<C>(g.epilogue, (float)x, i, j, number);
            write(d, x);
        }
    }
}

template <typename T, typename C, typename A> static __global__ void cublas_gemm(gemm g)
{
    for (int z = blockIdx.z; z < g.count; z += gridDim.z) product<T, C, A, false>(g, z);
}
template <typename T, typename C> static __global__ void cublaslt_matmul(gemm g)
{
    for (int z = blockIdx.z; z < g.count; z += gridDim.z) product<T, C, float, true>(g, z);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* @return NULL where nothing can follow */
static const void *kernel_with_epilogue(gemm_types types)
{
    switch (types) {
    case GEMM_F32: return (const void *)cublaslt_matmul<float, float>;
    case GEMM_F16: return (const void *)cublaslt_matmul<__half, __half>;
    case GEMM_BF16: return (const void *)cublaslt_matmul<__nv_bfloat16, __nv_bfloat16>;
    case GEMM_F16_F32: return (const void *)cublaslt_matmul<__half, float>;
    case GEMM_BF16_F32: return (const void *)cublaslt_matmul<__nv_bfloat16, float>;
    default: return nullptr;
    }
}

static const void *kernel_of(gemm_types types)
{
    switch (types) {
    case GEMM_F64: return (const void *)cublas_gemm<double, double, double>;
    case GEMM_F16: return (const void *)cublas_gemm<__half, __half, float>;
    case GEMM_BF16: return (const void *)cublas_gemm<__nv_bfloat16, __nv_bfloat16, float>;
    case GEMM_F16_F32: return (const void *)cublas_gemm<__half, float, float>;
    case GEMM_BF16_F32: return (const void *)cublas_gemm<__nv_bfloat16, float, float>;
    case GEMM_I8_F32: return (const void *)cublas_gemm<signed char, float, float>;
    case GEMM_I8_I32: return (const void *)cublas_gemm<signed char, int, int>;
    default: return (const void *)cublas_gemm<float, float, float>;
    }
}

static unsigned tiles(int elements)
{
    return ((unsigned)elements + TILE - 1) / TILE;
}

extern "C" cudaError_t gemm_launch(gemm_types types, gemm g, cudaStream_t stream)
{
    void *parameters[] = {&g};
    const dim3 grid(tiles(g.m), tiles(g.n), g.count < MOST ? g.count : MOST);
    if (g.m == 0 || g.n == 0 || g.count == 0) return cudaSuccess;
    const gemm_epilogue &e = g.epilogue;
    const bool finishes = e.bias || e.aux.data || e.relu || e.gelu;
    return cudaLaunchKernel(finishes ? kernel_with_epilogue(types) : kernel_of(types), grid,
                            dim3(SIDE, SIDE), parameters, 0, stream);
}
