/* cublaslt.cu: products of matrices with a bias and an activation, against loops on the host. */
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"
// FLAGS: -lcublasLt

#define BLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

static const int m = 70, n = 33, k = 20, count = 2;

template <typename T> struct is;
template <> struct is<float> {
    static const cudaDataType type = CUDA_R_32F;
};
template <> struct is<half> {
    static const cudaDataType type = CUDA_R_16F;
};
template <> struct is<__nv_bfloat16> {
    static const cudaDataType type = CUDA_R_16BF;
};

template <typename T> static std::vector<T> numbers(size_t length, int seed)
{
    std::vector<T> x(length);
    for (size_t i = 0; i < length; i++) x[i] = (T)(((int)((i * 7 + seed) % 9) - 4) * 0.25f);
    return x;
}

static void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which, int value)
{
    BLAS(cublasLtMatmulDescSetAttribute(desc, which, &value, sizeof value));
}

static void set_pointer(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which, void *p)
{
    BLAS(cublasLtMatmulDescSetAttribute(desc, which, &p, sizeof p));
}

template <typename T> static cublasLtMatrixLayout_t layout(int rows, int columns)
{
    cublasLtMatrixLayout_t of;
    const int64_t step = (int64_t)rows * columns;
    BLAS(cublasLtMatrixLayoutCreate(&of, is<T>::type, rows, columns, rows));
    BLAS(cublasLtMatrixLayoutSetAttribute(of, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, 4));
    BLAS(cublasLtMatrixLayoutSetAttribute(of, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step,
                                          sizeof step));
    return of;
}

static double activated(double x, int epilogue)
{
    if (epilogue & CUBLASLT_EPILOGUE_RELU) return x < 0 ? 0 : x;
    if (!(epilogue & CUBLASLT_EPILOGUE_GELU)) return x;
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/* A is transposed; C and D are two matrices. */
template <typename T> static void try_epilogue(int epilogue, double tolerance)
{
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatrixLayout_t of_a = layout<T>(k, m), of_b = layout<T>(k, n), of_c = layout<T>(m, n);
    const float alpha = 0.5f, beta = 2;
    auto a = numbers<T>(k * m * count, 1), b = numbers<T>(k * n * count, 2);
    auto c = numbers<T>(m * n * count, 3), bias = numbers<T>(m, 4);
    T *d = device_array<T>(m * n * count), *aux = device_array<T>(m * n * count);
    BLAS(cublasLtCreate(&handle));
    BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set_pointer(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, to_device(bias));
    if (epilogue & 128) {
        const int64_t leading = m, step = m * n;
        set_pointer(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux);
        BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &leading,
                                            sizeof leading));
        BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
                                            &step, sizeof step));
    }
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    BLAS(cublasLtMatmulPreferenceCreate(&preference));
    BLAS(cublasLtMatmulAlgoGetHeuristic(handle, desc, of_a, of_b, of_c, of_c, preference, 1,
                                        &result, &found));
    CHECK(found == 1 && result.state == CUBLAS_STATUS_SUCCESS);
    BLAS(cublasLtMatmul(handle, desc, &alpha, to_device(a), of_a, to_device(b), of_b, &beta,
                        to_device(c), of_c, d, of_c, &result.algo, nullptr, 0, 0));
    SYNC();
    auto got = to_host(d, m * n * count), before = to_host(d, m * n * count);
    if (epilogue & 128) before = to_host(aux, m * n * count);
    int wrong = 0;
    for (int z = 0; z < count; z++) {
        for (int i = 0; i < m * n; i++) {
            double x = 0;
            for (int p = 0; p < k; p++)
                x += (double)(float)a[z * k * m + i % m * k + p] *
                     (double)(float)b[z * k * n + i / m * k + p];
            x = alpha * x + beta * (double)(float)c[z * m * n + i];
            if (epilogue & CUBLASLT_EPILOGUE_BIAS) x += (double)(float)bias[i % m];
            wrong += !near((float)got[z * m * n + i], activated(x, epilogue), tolerance);
            if (epilogue & 128) wrong += !near((float)before[z * m * n + i], x, tolerance);
        }
    }
    CHECK(wrong == 0);
    BLAS(cublasLtMatrixLayoutDestroy(of_a));
    BLAS(cublasLtMatmulDescDestroy(desc));
    BLAS(cublasLtMatmulPreferenceDestroy(preference));
    BLAS(cublasLtDestroy(handle));
}

CASE(in_single_precision)
{
    const int epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,
                             CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,
                             CUBLASLT_EPILOGUE_GELU,     CUBLASLT_EPILOGUE_GELU_BIAS,
                             CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS};
    for (int e : epilogues) try_epilogue<float>(e, 1e-5);
}

CASE(in_halves)
{
    try_epilogue<half>(CUBLASLT_EPILOGUE_DEFAULT, 1e-3);
    try_epilogue<half>(CUBLASLT_EPILOGUE_GELU_AUX_BIAS, 1e-3);
    try_epilogue<__nv_bfloat16>(CUBLASLT_EPILOGUE_BIAS, 1e-2);
    try_epilogue<__nv_bfloat16>(CUBLASLT_EPILOGUE_RELU_BIAS, 1e-2);
}

CASE(refusals)
{
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    int found = 7, value;
    size_t size = 0;
    cublasLtMatrixLayout_t square = layout<float>(4, 4), wide = layout<float>(4, 5);
    BLAS(cublasLtCreate(&handle));
    BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &found, 8) ==
          CUBLAS_STATUS_INVALID_VALUE);
    BLAS(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4, &size));
    CHECK(value == CUBLASLT_EPILOGUE_DEFAULT && size == 4);
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, desc, square, wide, square, square, preference, 1,
                                         &result, &found) == CUBLAS_STATUS_INVALID_VALUE);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, desc, square, square, square, square, preference,
                                         1, &result, &found) == CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK(found == 0);
}
