/*
 * gemm.h: the arguments of a product's kernel (gemm_kernel.cu), filled in by gemm.c, which checks
 * the call. Plain C, and C++ for the compiler of kernels.
 */
#ifndef SOFTGPU_BLAS_GEMM_H
#define SOFTGPU_BLAS_GEMM_H

#include <cuda_runtime_api.h>

/** Types of A and B, and of C where it is another. */
enum gemm_types {
    GEMM_F32,
    GEMM_F64,
    GEMM_F16,
    GEMM_BF16,
    GEMM_F16_F32,
    GEMM_BF16_F32,
    GEMM_I8_F32,
    GEMM_I8_I32,
};

/** alpha or beta. */
struct gemm_scalar {
    const void *at; /* on the device; NULL: it is `value` */
    double value;
};

/** Column-major: element (i, j) of the matrix as it lies there is data[i + j * leading]. */
struct gemm_operand {
    void *data; /* or, if `arrays`, as many pointers as there are products */
    long long leading, step;
    int transposed;
};

/** What becomes of an element of D before it is stored, in this order; of the type of D. */
struct gemm_epilogue {
    const void *bias;        /* for each row, or NULL */
    struct gemm_operand aux; /* takes the element as it is now; data may be NULL */
    int relu, gelu;
};

/** D = alpha op(A) op(B) + beta C, `count` times. */
struct gemm {
    struct gemm_operand a, b, c, d;
    struct gemm_epilogue epilogue;
    struct gemm_scalar alpha, beta;
    enum { SCALE_F32, SCALE_F64, SCALE_F16, SCALE_I32 } scale; /* type of what `at` points to */
    int m, n, k, count;
    int arrays, tf32; /* tf32: round the operands as tensor cores do */
};

#ifdef __cplusplus
extern "C"
#endif
    cudaError_t gemm_launch(enum gemm_types, struct gemm, cudaStream_t);

#ifdef SOFTGPU_BLAS_H
/* gemm.c, for lt.c */
/** Set scale and tf32 of g, and `types`. @return false for types that cuBLAS does not multiply so
 */
bool gemm_find(struct gemm *g, enum gemm_types *types, cudaDataType a, cudaDataType b,
               cudaDataType c, cublasComputeType_t);
cudaDataType gemm_scale_type(const struct gemm *);
/** Check and launch; of the settings count the stream and the pointer mode. */
cublasStatus_t gemm_run(const struct cublasContext *, enum gemm_types, struct gemm);
#endif

#endif
