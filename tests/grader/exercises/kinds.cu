/*
 * kinds.cu: the submission of test_kinds.c: functions with arguments of every kind that a call can
 * have, right and wrong.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

/* ---- types ----------------------------------------------------------------------------------- */

static __device__ double twice(double x)
{
    return 2 * x;
}
static __device__ signed char twice(signed char x)
{
    return (signed char)(2 * x);
}
static __device__ __half twice(__half x)
{
    return __float2half(2 * __half2float(x));
}
static __device__ __nv_bfloat16 twice(__nv_bfloat16 x)
{
    return __float2bfloat16(2 * __bfloat162float(x));
}
static __device__ unsigned char twice(unsigned char x) /* fp8, of normal numbers */
{
    return (unsigned char)(x + 8);
}

template <typename T> __global__ static void double_kernel(T *y, const T *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = twice(x[i]);
}

#define DEFINE_TWICE(name, T)                                                                      \
    extern "C" cudaError_t twice_##name(T *y, const T *x, int n, cudaStream_t stream)              \
    {                                                                                              \
        double_kernel<<<(n + 127) / 128, 128, 0, stream>>>(y, x, n);                               \
        return cudaGetLastError();                                                                 \
    }
DEFINE_TWICE(f64, double)
DEFINE_TWICE(f16, __half)
DEFINE_TWICE(bf16, __nv_bfloat16)
DEFINE_TWICE(e4m3, unsigned char)
DEFINE_TWICE(i8, signed char)

/* All but the last element. */
extern "C" cudaError_t twice_but_last(__half *y, const __half *x, int n, cudaStream_t stream)
{
    return twice_f16(y, x, n - 1, stream);
}

/* ---- arrays of pointers ---------------------------------------------------------------------- */

__global__ static void gather_kernel(float *y, const float *const *parts, int count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < count; k++) sum += parts[k][i];
    y[i] = sum;
}

extern "C" cudaError_t gather(float *y, const float *const *parts, int count, int n,
                              cudaStream_t stream)
{
    gather_kernel<<<(n + 127) / 128, 128, 0, stream>>>(y, parts, count, n);
    return cudaGetLastError();
}

__global__ static void swap_kernel(float **parts)
{
    float *first = parts[0];
    parts[0] = parts[1];
    parts[1] = first;
}

/* It changes the array itself. */
extern "C" cudaError_t gather_and_swap(float *y, float **parts, int count, int n,
                                       cudaStream_t stream)
{
    CHECK(gather(y, parts, count, n, stream));
    swap_kernel<<<1, 1, 0, stream>>>(parts);
    return cudaGetLastError();
}

/* ---- errors ---------------------------------------------------------------------------------- */

enum { RIGHT, SILENT, ANOTHER, LEFT_BEHIND, FATAL };

__global__ static void trap()
{
    __trap();
}

/* n may not be negative. */
extern "C" cudaError_t careful(float *y, const float *x, int n, int how, cudaStream_t stream)
{
    if (n >= 0)
        return n == 0 ? cudaSuccess
                      : cudaMemcpyAsync(y, x, n * sizeof *y, cudaMemcpyDeviceToDevice, stream);
    if (how == SILENT) return cudaSuccess;
    if (how == ANOTHER) return cudaErrorInvalidConfiguration;
    if (how == LEFT_BEHIND)
        return cudaSetDevice(-1) == cudaSuccess ? cudaSuccess : cudaErrorInvalidValue;
    if (how == FATAL) trap<<<1, 1, 0, stream>>>();
    return cudaErrorInvalidValue;
}

/* ---- devices --------------------------------------------------------------------------------- */

__global__ static void add_kernel(float *y, const float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

enum { BY_PEERS, BY_HOST, WITHOUT_WAITING };

/* buffers[0] and buffers[1] lie on devices 0 and 1; afterwards both hold their sum. */
extern "C" cudaError_t sum_of_two(float *const *buffers, int n, int how, cudaStream_t zero,
                                  cudaStream_t one)
{
    static float through[1 << 10];
    const size_t bytes = n * sizeof(float);
    cudaEvent_t given, summed;
    float *other;
    CHECK(cudaSetDevice(1));
    CHECK(cudaEventCreateWithFlags(&given, cudaEventDisableTiming));
    CHECK(cudaEventRecord(given, one));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamWaitEvent(zero, given, 0));
    CHECK(cudaEventDestroy(given));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaEventCreateWithFlags(&summed, cudaEventDisableTiming));
    if (how == BY_HOST) {
        CHECK(cudaMemcpy(through, buffers[1], bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(other, through, bytes, cudaMemcpyHostToDevice));
    } else {
        CHECK(cudaMemcpyPeerAsync(other, 0, buffers[1], 1, bytes, zero));
    }
    add_kernel<<<(n + 127) / 128, 128, 0, zero>>>(buffers[0], other, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(summed, zero));
    CHECK(cudaSetDevice(1));
    if (how != WITHOUT_WAITING) CHECK(cudaStreamWaitEvent(one, summed, 0));
    CHECK(cudaMemcpyPeerAsync(buffers[1], 1, buffers[0], 0, bytes, one));
    CHECK(cudaStreamSynchronize(zero));
    CHECK(cudaEventDestroy(summed));
    return cudaFree(other);
}
