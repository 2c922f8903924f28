/* cublas.cu: cuBLAS against loops on the host, and products as works of the device. Matrices are
 * column-major. */
#include "check.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// FLAGS: -lcublas

#define BLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

static cublasHandle_t new_handle()
{
    cublasHandle_t handle = nullptr;
    BLAS(cublasCreate(&handle));
    return handle;
}

/* Small whole numbers: sums of their products are exact in every type. */
template <typename T> static std::vector<T> numbers(size_t count, int seed)
{
    std::vector<T> x(count);
    for (size_t i = 0; i < count; i++) x[i] = (T)(float)((int)((i * 7 + seed) % 9) - 4);
    return x;
}

/* c = alpha op(a) op(b) + beta c, element by element. */
template <typename T, typename C>
static void host_gemm(bool ta, bool tb, int m, int n, int k, double alpha, const T *a, int lda,
                      const T *b, int ldb, double beta, C *c, int ldc)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += (double)(float)(ta ? a[p + i * lda] : a[i + p * lda]) *
                       (double)(float)(tb ? b[j + p * ldb] : b[p + j * ldb]);
            double old = beta == 0 ? 0 : beta * (double)(float)c[i + j * ldc];
            c[i + j * ldc] = (C)(float)(alpha * sum + old);
        }
    }
}

template <typename T> static bool same(const std::vector<T> &x, const std::vector<T> &y)
{
    for (size_t i = 0; i < x.size(); i++) {
        if (!((float)x[i] == (float)y[i])) return false;
    }
    return x.size() == y.size();
}

CASE(sgemm_in_all_orientations)
{
    cublasHandle_t handle = new_handle();
    int m = 5, n = 7, k = 9, lda = 11, ldb = 12, ldc = 6;
    float alpha = 2, beta = 3;
    for (int way = 0; way < 4; way++) {
        bool ta = way & 1, tb = way & 2;
        auto a = numbers<float>(lda * 11, 1), b = numbers<float>(ldb * 11, 2);
        auto c = numbers<float>(ldc * n, 3);
        float *dc = to_device(c);
        BLAS(cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m,
                         n, k, &alpha, to_device(a), lda, to_device(b), ldb, &beta, dc, ldc));
        host_gemm(ta, tb, m, n, k, 2, a.data(), lda, b.data(), ldb, 3, c.data(), ldc);
        CHECK(same(to_host(dc, c.size()), c));
    }
    BLAS(cublasDestroy(handle));
}

/* Row-major c = a b, as everybody writes it with cuBLAS: c^T = b^T a^T. */
CASE(row_major)
{
    cublasHandle_t handle = new_handle();
    int m = 3, n = 4, k = 2;
    float one = 1, zero = 0;
    auto a = numbers<float>(m * k, 1), b = numbers<float>(k * n, 2);
    float *c = to_device(std::vector<float>(m * n, NAN)); /* beta = 0: what is there is not read */
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, to_device(b), n, to_device(a),
                     k, &zero, c, n));
    auto got = to_host(c, m * n);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float want = 0;
            for (int p = 0; p < k; p++) want += a[i * k + p] * b[p * n + j];
            CHECK(got[i * n + j] == want);
        }
    }
}

CASE(halves)
{
    cublasHandle_t handle = new_handle();
    const int m = 5, n = 4, k = 6;
    __half alpha = __float2half(2), beta = __float2half(1);
    auto a = numbers<__half>(m * k, 1), b = numbers<__half>(k * n, 2),
         c = numbers<__half>(m * n, 3);
    __half *dc = to_device(c);
    BLAS(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, to_device(a), m,
                     to_device(b), k, &beta, dc, m));
    host_gemm(false, false, m, n, k, 2, a.data(), m, b.data(), k, 1, c.data(), m);
    CHECK(same(to_host(dc, c.size()), c));
}

/* A transpose, as many write it; a sum; and a matrix that is not read. */
CASE(sums_of_matrices)
{
    cublasHandle_t handle = new_handle();
    const int m = 3, n = 5;
    float one = 1, two = 2, zero = 0;
    auto a = numbers<float>(m * n, 1), b = numbers<float>(m * n, 2);
    float *da = to_device(a), *db = to_device(b), *c = device_array<float>(m * n);
    BLAS(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, da, n, &two, db, m, c, m));
    auto got = to_host(c, m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) CHECK(got[i + j * m] == a[j + i * n] + 2 * b[i + j * m]);
    BLAS(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, da, n, &zero, nullptr, m, c, m));
    CHECK(to_host(c, m * n)[1 + 2 * m] == a[2 + 1 * n]);
    CHECK(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, &one, da, 1, &zero, nullptr, m, c,
                      m) == CUBLAS_STATUS_INVALID_VALUE);
}

CASE(nothing_to_do)
{
    cublasHandle_t handle = new_handle();
    float one = 1, zero = 0;
    auto c = numbers<float>(4, 0);
    float *dc = to_device(c);
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 3, &one, dc, 1, dc, 3, &zero, dc, 1));
    CHECK(same(to_host(dc, 4), c));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one, dc, 2, dc, 1, &zero, dc, 2));
    CHECK(same(to_host(dc, 4), std::vector<float>(4, 0)));
}

CASE(batches)
{
    cublasHandle_t handle = new_handle();
    const int m = 4, n = 3, k = 5, count = 6;
    double alpha = 1, beta = 1;
    auto a = numbers<double>(m * k * count, 1), b = numbers<double>(k * n, 2);
    auto c = numbers<double>(m * n * count, 3);
    double *da = to_device(a), *db = to_device(b), *dc = to_device(c), *dd = to_device(c);
    BLAS(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, m, m * k,
                                   db, k, 0, &beta, dc, m, m * n, count));
    std::vector<double *> pa, pb, pd;
    for (int i = 0; i < count; i++) {
        pa.push_back(da + i * m * k);
        pb.push_back(db);
        pd.push_back(dd + i * m * n);
    }
    BLAS(cublasDgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, to_device(pa), m,
                            to_device(pb), k, &beta, to_device(pd), m, count));
    for (int i = 0; i < count; i++)
        host_gemm(false, false, m, n, k, 1, a.data() + i * m * k, m, b.data(), k, 1,
                  c.data() + i * m * n, m);
    CHECK(same(to_host(dc, c.size()), c));
    CHECK(same(to_host(dd, c.size()), c));
}

template <typename T, typename C, typename S>
static void gemm_ex(cudaDataType type, cudaDataType result, cublasComputeType_t how)
{
    cublasHandle_t handle = new_handle();
    const int m = 6, n = 5, k = 8;
    S alpha = (S)1.0f, beta = (S)2.0f;
    auto a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2);
    auto c = numbers<C>(m * n, 3);
    C *dc = to_device(c);
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, to_device(a), type, m,
                      to_device(b), type, k, &beta, dc, result, m, how, CUBLAS_GEMM_DEFAULT));
    host_gemm(false, false, m, n, k, 1, a.data(), m, b.data(), k, 2, c.data(), m);
    CHECK(same(to_host(dc, c.size()), c));
}

CASE(gemm_ex_types)
{
    gemm_ex<__half, __half, float>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
    gemm_ex<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    gemm_ex<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
    gemm_ex<__nv_bfloat16, float, float>(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    gemm_ex<__nv_bfloat16, __nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
    gemm_ex<int8_t, int32_t, int32_t>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I);
    gemm_ex<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
}

CASE(half_is_rounded_once)
{
    cublasHandle_t handle = new_handle();
    float one = 1, zero = 0;
    float values[] = {1.0f / 3, 65520.0f, 65519.0f, 6e-8f, 2.9e-8f, 1e-5f, -0.1f, 2049.0f};
    for (float value : values) {
        float *a = to_device(std::vector<float>{value});
        float *b = to_device(std::vector<float>{1.0f});
        __half h = __float2half(value);
        __half *c = to_device(std::vector<__half>{__float2half(0.0f)});
        /* fp32 operands with an fp16 result are no combination of cuBLAS */
        CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, CUDA_R_32F, 1, b,
                           CUDA_R_32F, 1, &zero, c, CUDA_R_16F, 1, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
        __half *unit = to_device(std::vector<__half>{__float2half(1.0f)});
        BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &value, unit, CUDA_R_16F, 1,
                          unit, CUDA_R_16F, 1, &zero, c, CUDA_R_16F, 1, CUBLAS_COMPUTE_32F,
                          CUBLAS_GEMM_DEFAULT));
        __half got = to_host(c, 1)[0];
        CHECK(memcmp(&got, &h, sizeof h) == 0);
    }
}

CASE(tf32_drops_bits)
{
    cublasHandle_t handle = new_handle();
    float one = 1, zero = 0, x = 1.0f + 0x1p-12f;
    float *a = to_device(std::vector<float>{x}), *b = to_device(std::vector<float>{1.0f});
    float *c = device_array<float>(1);
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, b, 1, &zero, c, 1));
    CHECK(to_host(c, 1)[0] == x);
    BLAS(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, b, 1, &zero, c, 1));
    CHECK(to_host(c, 1)[0] == 1.0f);
}

CASE(vectors)
{
    cublasHandle_t handle = new_handle();
    const int n = 100;
    float alpha = 2, dot, norm, sum, want_dot = 0, want_norm = 0, want_sum = 0;
    auto x = numbers<float>(n, 1), y = numbers<float>(3 * n, 2);
    float *dx = to_device(x), *dy = to_device(y);
    for (int i = 0; i < n; i++) {
        y[3 * i] += alpha * x[i];
        want_dot += x[i] * y[3 * i];
        want_norm += x[i] * x[i];
        want_sum += fabsf(x[i]);
    }
    BLAS(cublasSaxpy(handle, n, &alpha, dx, 1, dy, 3));
    CHECK(same(to_host(dy, 3 * n), y));
    BLAS(cublasSdot(handle, n, dx, 1, dy, 3, &dot));
    BLAS(cublasSnrm2(handle, n, dx, 1, &norm));
    BLAS(cublasSasum(handle, n, dx, 1, &sum));
    CHECK(dot == want_dot);
    CHECK(near(norm, sqrt(want_norm)));
    CHECK(sum == want_sum);
    BLAS(cublasSscal(handle, n, &alpha, dx, 1));
    CHECK(to_host(dx, n)[5] == 2 * x[5]);
    int at;
    BLAS(cublasIsamax(handle, 3, to_device(std::vector<float>{1, -5, 4}), 1, &at));
    CHECK(at == 2);
}

/* With a negative increment a vector is read from its end. */
CASE(backwards)
{
    cublasHandle_t handle = new_handle();
    float *x = to_device(std::vector<float>{1, 0, 2, 0, 3});
    float *y = to_device(std::vector<float>{0, 0, 0});
    BLAS(cublasScopy(handle, 3, x, -2, y, 1));
    CHECK(same(to_host(y, 3), std::vector<float>{3, 2, 1}));
}

CASE(scalars_on_the_device)
{
    cublasHandle_t handle = new_handle();
    float *alpha = to_device(std::vector<float>{3}), *result = device_array<float>(1);
    float *x = to_device(std::vector<float>{1, 2}), *y = to_device(std::vector<float>{1, 1});
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    BLAS(cublasSaxpy(handle, 2, alpha, x, 1, y, 1));
    BLAS(cublasSdot(handle, 2, x, 1, y, 1, result));
    CHECK(to_host(result, 1)[0] == 4 + 14);
}

CASE(matrix_times_vector)
{
    cublasHandle_t handle = new_handle();
    const int m = 3, n = 4;
    float alpha = 1, beta = 2;
    auto a = numbers<float>(m * n, 1), x = numbers<float>(n, 2), y = numbers<float>(m, 3);
    float *da = to_device(a), *dy = to_device(y);
    BLAS(cublasSgemv(handle, CUBLAS_OP_N, m, n, &alpha, da, m, to_device(x), 1, &beta, dy, 1));
    auto want = y;
    host_gemm(false, false, m, 1, n, 1, a.data(), m, x.data(), n, 2, want.data(), m);
    CHECK(same(to_host(dy, m), want));
    float zero = 0, *dx = to_device(std::vector<float>(n, NAN));
    BLAS(cublasSgemv(handle, CUBLAS_OP_T, m, n, &alpha, da, m, to_device(y), 1, &zero, dx, 1));
    std::vector<float> back(n);
    host_gemm(true, false, n, 1, m, 1, a.data(), m, y.data(), m, 0, back.data(), n);
    CHECK(same(to_host(dx, n), back));
    BLAS(cublasSger(handle, m, n, &alpha, to_device(y), 1, to_device(x), 1, da, m));
    CHECK(to_host(da, m * n)[m] == a[m] + y[0] * x[1]);
}

CASE(moving_data)
{
    float host[6] = {1, 2, 3, 4, 5, 6}, back[6] = {};
    float *device = device_array<float>(6);
    BLAS(cublasSetMatrix(2, 3, sizeof(float), host, 2, device, 2));
    BLAS(cublasGetMatrix(2, 3, sizeof(float), device, 2, back, 2));
    CHECK(memcmp(host, back, sizeof host) == 0);
    BLAS(cublasSetVector(3, sizeof(float), host, 2, device, 1));
    BLAS(cublasGetVector(3, sizeof(float), device, 1, back, 1));
    CHECK(back[1] == 3 && back[2] == 5);
}

CASE(settings)
{
    cublasHandle_t handle = new_handle();
    cudaStream_t stream, got;
    cublasMath_t math;
    OK(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    BLAS(cublasGetStream(handle, &got));
    CHECK(got == stream);
    BLAS(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    BLAS(cublasGetMathMode(handle, &math));
    CHECK(math == CUBLAS_PEDANTIC_MATH);
    CHECK(!strcmp(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE"));
    BLAS(cublasDestroy(handle));
    CHECK(cublasDestroy(handle) == CUBLAS_STATUS_NOT_INITIALIZED);
}

// STDERR wrong_arguments: cublas refuses ld
CASE(wrong_arguments)
{
    cublasHandle_t handle = new_handle();
    float one = 1, *p = device_array<float>(16);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 2, 2, &one, p, 2, p, 2, &one, p, 2) ==
          CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, p, 3, p, 2, &one, p, 4) ==
          CUBLAS_STATUS_INVALID_VALUE); /* 4 rows in columns of 3 */
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one, p, 2, p, 0, &one, p, 2) ==
          CUBLAS_STATUS_INVALID_VALUE); /* an empty matrix has columns of 1 at least, too */
    CHECK(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, p, 2, p, 2, &one, p, 2) ==
          CUBLAS_STATUS_NOT_INITIALIZED);
}

/* A row-major habit: the leading dimension of the other matrix. The last column ends behind it. */
// STDERR beyond_the_end: cublas_gemm
CASE(beyond_the_end)
{
    cublasHandle_t handle = new_handle();
    float one = 1, zero = 0, *a = to_device(std::vector<float>(8, 1));
    float *b = to_device(std::vector<float>(8, 1)), *c = device_array<float>(4);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 4, &one, a, 8, b, 4, &zero, c, 2) ==
          CUBLAS_STATUS_EXECUTION_FAILED);
}

// STDERR host_operand: cublasSaxpy: x, 1 x 4 with 1 elements from column to column, is not
CASE(host_operand)
{
    cublasHandle_t handle = new_handle();
    float one = 1, x[4] = {}, *y = to_device(std::vector<float>(4, 1));
    CHECK(cublasSaxpy(handle, 4, &one, x, 1, y, 1) == CUBLAS_STATUS_EXECUTION_FAILED);
}

// STDERR in_a_capture: cublasSaxpy: cuBLAS cannot be captured into a graph here
CASE(in_a_capture)
{
    cublasHandle_t handle = new_handle();
    cudaStream_t stream;
    cudaGraph_t graph;
    float one = 1, *x = to_device(std::vector<float>(4, 1)),
          *y = to_device(std::vector<float>(4, 1));
    OK(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cublasSaxpy(handle, 4, &one, x, 1, y, 1) == CUBLAS_STATUS_NOT_SUPPORTED);
    OK(cudaStreamEndCapture(stream, &graph));
    CHECK(to_host(y, 4)[0] == 1);
}

/* A product comes when its stream, or its graph, does it. */
CASE(a_product_is_captured)
{
    cublasHandle_t handle = new_handle();
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    const int n = 70; /* more than a block's */
    auto a = numbers<float>(n * n, 1), b = numbers<float>(n * n, 2), c = numbers<float>(n * n, 3);
    float *da = to_device(a), *db = to_device(b), *dc = to_device(c);
    float *scalars = to_device(std::vector<float>{2, 3});
    OK(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, scalars, da, n, db, n, scalars + 1,
                     dc, n));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(same(to_host(dc, n * n), c));
    for (int i = 0; i < 2; i++) {
        OK(cudaGraphLaunch(exec, stream));
        host_gemm(false, true, n, n, n, 2, a.data(), n, b.data(), n, 3, c.data(), n);
    }
    OK(cudaStreamSynchronize(stream));
    CHECK(same(to_host(dc, n * n), c));
}

// STDERR products_race: stream race
CASE(products_race)
{
    cublasHandle_t handle = new_handle();
    float one = 1, zero = 0, *x = to_device(numbers<float>(64, 1));
    float *y = device_array<float>(64), *z = device_array<float>(64);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) {
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream));
        BLAS(cublasSetStream(handle, stream));
        BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, x, 8, i ? y : x, 8, &zero,
                         i ? z : y, 8));
    }
}
