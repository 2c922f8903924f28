/*
 * matmul_gpu.cu: the GPU's half of the ladder: every rung of the course, and cuBLAS in each
 * precision. All get the same matrices, rounded to their precision or transposed where they need
 * it.
 */
#include "matmul.h"

#include "basics.h"
#include "cuda_check.h"
#include "optimization.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" cudaError_t baseline_matmul_uncoalesced(float *c, const float *a, const float *b, int m,
                                                   int n, int k, cudaStream_t stream);

/** A matrix in every form that a rung takes. */
typedef struct matrix {
    float *full, *turned; /* [n x n]; turned: its transpose */
    __nv_bfloat16 *bf16;  /* [n x n] of the SHORT numbers */
    __half *fp16;
} matrix;

static matrix a, b;
static float *c; /* [n x n] */
static cublasHandle_t blas;
static cublas_ctx *context; /* of 213 */
static cudaEvent_t start, stop;

/* ---- the matrices ---------------------------------------------------------------------------- */

__global__ static void turn(float *to, const float *from, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col < n) to[(size_t)col * n + row] = from[(size_t)row * n + col];
}

__global__ static void shorten(matrix to, const float *from, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t i = (size_t)blockIdx.y * n + col;
    if (col >= n) return;
    to.bf16[i] = __float2bfloat16(from[i]);
    to.fp16[i] = __float2half(from[i]);
}

/* c is room for the SHORT numbers on their way. */
static cudaError_t bring(matrix *m, float *const h_x[NUMBERS], int n)
{
    const size_t size = (size_t)n * n, bytes = size * sizeof(float);
    const dim3 grid((n + 255) / 256, n);
    CUDA_CHECK(cudaMalloc(&m->full, bytes));
    CUDA_CHECK(cudaMalloc(&m->turned, bytes));
    CUDA_CHECK(cudaMalloc(&m->bf16, size * sizeof *m->bf16));
    CUDA_CHECK(cudaMalloc(&m->fp16, size * sizeof *m->fp16));
    CUDA_CHECK(cudaMemcpy(m->full, h_x[FULL], bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(c, h_x[SHORT], bytes, cudaMemcpyHostToDevice));
    turn<<<grid, 256>>>(m->turned, m->full, n);
    shorten<<<grid, 256>>>(*m, c, n);
    return cudaDeviceSynchronize();
}

static cudaError_t bring_all(const product *p)
{
    CUDA_CHECK(cudaMalloc(&c, (size_t)p->n * p->n * sizeof *c));
    CUDA_CHECK(bring(&a, p->a, p->n));
    CUDA_CHECK(bring(&b, p->b, p->n));
    CUDA_CHECK(cublas_create(&context));
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    return cublasCreate(&blas) ? cudaErrorUnknown : cudaSuccess;
}

static void drop(matrix *m)
{
    cudaFree(m->full);
    cudaFree(m->turned);
    cudaFree(m->bf16);
    cudaFree(m->fp16);
    *m = (matrix){};
}

void gpu_end(void)
{
    drop(&a);
    drop(&b);
    cudaFree(c);
    cublas_destroy(context);
    if (start) cudaEventDestroy(start);
    if (stop) cudaEventDestroy(stop);
    if (blas) cublasDestroy(blas);
    c = NULL, context = NULL, start = stop = NULL, blas = NULL;
}

int gpu_begin(const product *p)
{
    if (bring_all(p) == cudaSuccess) return 1;
    gpu_end();
    return 0;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static cudaError_t time_once(const rung *r, int n, float *milliseconds)
{
    CUDA_CHECK(cudaEventRecord(start, 0));
    CUDA_CHECK((cudaError_t)r->gpu(n));
    CUDA_CHECK(cudaEventRecord(stop, 0));
    CUDA_CHECK(cudaEventSynchronize(stop));
    return cudaEventElapsedTime(milliseconds, start, stop);
}

static double once_by_events(const rung *r, const product *p)
{
    float milliseconds = 0.0f;
    return time_once(r, p->n, &milliseconds) == cudaSuccess ? milliseconds : -1.0;
}

static double by_events(const rung *r, const product *p)
{
    const size_t bytes = (size_t)p->n * p->n * sizeof *c;
    cudaMemset(c, 0xff, bytes); /* NaN */
    const double median = median_of(once_by_events, r, p);
    const cudaError_t error = cudaMemcpy(p->c, c, bytes, cudaMemcpyDeviceToHost);
    return error == cudaSuccess ? median : -1.0;
}

/* ---- the rungs ------------------------------------------------------------------------------- */

#define PRODUCT(name, function, of_a, of_b)                                                        \
    static int name(int n)                                                                         \
    {                                                                                              \
        return function(c, a.of_a, b.of_b, n, n, n, 0);                                            \
    }

PRODUCT(uncoalesced, baseline_matmul_uncoalesced, full, full)
PRODUCT(naive, matmul_naive, full, full)
PRODUCT(tiled, matmul_tiled, full, full)
PRODUCT(b_turned, matmul_nt, full, turned)
PRODUCT(a_turned, matmul_tn, turned, full)
PRODUCT(registers, matmul_registers, full, full)
PRODUCT(warptile, matmul_warptile, full, full)
PRODUCT(vectorized, matmul_vectorized, full, full)
PRODUCT(three_of_tf32, matmul_3xtf32, full, full)
PRODUCT(wmma_bf16, matmul_tensorcore, bf16, bf16)
PRODUCT(wmma_fp16, matmul_tensorcore_half, fp16, fp16)
PRODUCT(mma, matmul_mma, bf16, bf16)
PRODUCT(wgmma, matmul_wgmma, bf16, bf16)

static int by_context(int n)
{
    return matmul_cublas(context, c, a.full, b.full, n, n, n, 0);
}

/* Row-major c = a b is column-major c^T = b^T a^T: exchange the operands. */
static int gemm(int n, const void *x, const void *y, cudaDataType_t type,
                cublasComputeType_t compute)
{
    const float one = 1.0f, zero = 0.0f;
    return cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, y, type, n, x, type, n,
                        &zero, c, CUDA_R_32F, n, compute, CUBLAS_GEMM_DEFAULT)
               ? cudaErrorUnknown
               : cudaSuccess;
}

static int cublas_fp32(int n)
{
    return gemm(n, a.full, b.full, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC);
}

static int cublas_tf32(int n)
{
    return gemm(n, a.full, b.full, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
}

static int cublas_bf16(int n)
{
    return gemm(n, a.bf16, b.bf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
}

static int cublas_fp16(int n)
{
    return gemm(n, a.fp16, b.fp16, CUDA_R_16F, CUBLAS_COMPUTE_32F);
}

static rung of_gpu(const char *name, const char *precision, int (*run)(int n))
{
    rung r = {};
    r.name = name, r.on = "GPU", r.precision = precision, r.time = by_events, r.gpu = run;
    r.is_library = name[0] == 'c';
    if (run == three_of_tf32) r.roof = "3xtf32";
    return r;
}

const rung *gpu_rungs(int *count)
{
    static const rung rungs[] = {
        of_gpu("206 uncoalesced", "fp32", uncoalesced),
        of_gpu("206 naive", "fp32", naive),
        of_gpu("211 tiled", "fp32", tiled),
        of_gpu("212 b turned", "fp32", b_turned),
        of_gpu("212 a turned", "fp32", a_turned),
        of_gpu("214 registers", "fp32", registers),
        of_gpu("401 vectorized", "fp32", vectorized),
        of_gpu("2a warptile", "fp32", warptile),
        of_gpu("4g 3xTF32", "fp32", three_of_tf32),
        of_gpu("213 cuBLAS", "fp32", by_context),
        of_gpu("cuBLAS", "fp32", cublas_fp32),
        of_gpu("cuBLAS", "tf32", cublas_tf32),
        of_gpu("402 WMMA", "bf16", wmma_bf16),
        of_gpu("4a mma.sync", "bf16", mma),
        of_gpu("4b wgmma", "bf16", wgmma),
        of_gpu("cuBLAS", "bf16", cublas_bf16),
        of_gpu("402 WMMA", "fp16", wmma_fp16),
        of_gpu("cuBLAS", "fp16", cublas_fp16),
    };
    *count = (int)(sizeof rungs / sizeof *rungs);
    return rungs;
}
