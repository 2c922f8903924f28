/* cublas_v2.h: cuBLAS as softgpu has it (blas/). Names, values and functions: CUDA 13's. */
#ifndef SOFTGPU_CUBLAS_V2_H
#define SOFTGPU_CUBLAS_V2_H
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

#include <cuda_runtime_api.h>
#include <library_types.h>
#ifdef __CUDA__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#elif defined(__cplusplus)
struct __half;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;
typedef enum {
    CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3,
} cublasOperation_t;
typedef enum {
    CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1,
} cublasPointerMode_t;
typedef enum {
    CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1,
} cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3, CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
    CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78, CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
    CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73,
} cublasComputeType_t;
typedef enum {
    CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2,
} cublasFillMode_t;
typedef enum {
    CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1,
} cublasDiagType_t;
typedef enum {
    CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1,
} cublasSideMode_t;
typedef enum { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
/* clang-format on */
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

#define cublasCreate         cublasCreate_v2
#define cublasDasum          cublasDasum_v2
#define cublasDaxpy          cublasDaxpy_v2
#define cublasDcopy          cublasDcopy_v2
#define cublasDdot           cublasDdot_v2
#define cublasDestroy        cublasDestroy_v2
#define cublasDgemm          cublasDgemm_v2
#define cublasDgemv          cublasDgemv_v2
#define cublasDger           cublasDger_v2
#define cublasDnrm2          cublasDnrm2_v2
#define cublasDscal          cublasDscal_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasGetStream      cublasGetStream_v2
#define cublasGetVersion     cublasGetVersion_v2
#define cublasIdamax         cublasIdamax_v2
#define cublasIdamin         cublasIdamin_v2
#define cublasIsamax         cublasIsamax_v2
#define cublasIsamin         cublasIsamin_v2
#define cublasSasum          cublasSasum_v2
#define cublasSaxpy          cublasSaxpy_v2
#define cublasScopy          cublasScopy_v2
#define cublasSdot           cublasSdot_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSetStream      cublasSetStream_v2
#define cublasSetWorkspace   cublasSetWorkspace_v2
#define cublasSgemm          cublasSgemm_v2
#define cublasSgemv          cublasSgemv_v2
#define cublasSger           cublasSger_v2
#define cublasSnrm2          cublasSnrm2_v2
#define cublasSscal          cublasSscal_v2

cublasStatus_t cublasCreate_v2(cublasHandle_t *);
cublasStatus_t cublasDasum_v2(cublasHandle_t, int, const double *, int, double *);
cublasStatus_t cublasDaxpy_v2(cublasHandle_t, int, const double *, const double *, int, double *,
                              int);
cublasStatus_t cublasDcopy_v2(cublasHandle_t, int, const double *, int, double *, int);
cublasStatus_t cublasDdot_v2(cublasHandle_t, int, const double *, int, const double *, int,
                             double *);
cublasStatus_t cublasDestroy_v2(cublasHandle_t);
cublasStatus_t cublasDgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const double *, const double *const *, int,
                                  const double *const *, int, const double *, double *const *, int,
                                  int);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                         int, int, const double *, const double *, int,
                                         long long int, const double *, int, long long int,
                                         const double *, double *, int, long long int, int);
cublasStatus_t cublasDgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const double *, const double *, int, const double *, int,
                              const double *, double *, int);
cublasStatus_t cublasDgemv_v2(cublasHandle_t, cublasOperation_t, int, int, const double *,
                              const double *, int, const double *, int, const double *, double *,
                              int);
cublasStatus_t cublasDger_v2(cublasHandle_t, int, int, const double *, const double *, int,
                             const double *, int, double *, int);
cublasStatus_t cublasDnrm2_v2(cublasHandle_t, int, const double *, int, double *);
cublasStatus_t cublasDscal_v2(cublasHandle_t, int, const double *, double *, int);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                   int, const void *, const void *const *, cudaDataType, int,
                                   const void *const *, cudaDataType, int, const void *,
                                   void *const *, cudaDataType, int, int, cublasComputeType_t,
                                   cublasGemmAlgo_t);
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                            const void *, const void *, cudaDataType, int, const void *,
                            cudaDataType, int, const void *, void *, cudaDataType, int,
                            cublasComputeType_t, cublasGemmAlgo_t);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                          int, int, const void *, const void *, cudaDataType, int,
                                          long long int, const void *, cudaDataType, int,
                                          long long int, const void *, void *, cudaDataType, int,
                                          long long int, int, cublasComputeType_t,
                                          cublasGemmAlgo_t);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t *);
cublasStatus_t cublasGetMathMode(cublasHandle_t, cublasMath_t *);
cublasStatus_t cublasGetMatrix(int, int, int, const void *, int, void *, int);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t, cublasPointerMode_t *);
const char *cublasGetStatusName(cublasStatus_t);
const char *cublasGetStatusString(cublasStatus_t);
cublasStatus_t cublasGetStream_v2(cublasHandle_t, cudaStream_t *);
cublasStatus_t cublasGetVector(int, int, const void *, int, void *, int);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *);
cublasStatus_t cublasIdamax_v2(cublasHandle_t, int, const double *, int, int *);
cublasStatus_t cublasIdamin_v2(cublasHandle_t, int, const double *, int, int *);
cublasStatus_t cublasIsamax_v2(cublasHandle_t, int, const float *, int, int *);
cublasStatus_t cublasIsamin_v2(cublasHandle_t, int, const float *, int, int *);
cublasStatus_t cublasSasum_v2(cublasHandle_t, int, const float *, int, float *);
cublasStatus_t cublasSaxpy_v2(cublasHandle_t, int, const float *, const float *, int, float *, int);
cublasStatus_t cublasScopy_v2(cublasHandle_t, int, const float *, int, float *, int);
cublasStatus_t cublasSdot_v2(cublasHandle_t, int, const float *, int, const float *, int, float *);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t);
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t);
cublasStatus_t cublasSetMatrix(int, int, int, const void *, int, void *, int);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t);
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasSetVector(int, int, const void *, int, void *, int);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void *, size_t);
cublasStatus_t cublasSgeam(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                           const float *, const float *, int, const float *, const float *, int,
                           float *, int);
cublasStatus_t cublasDgeam(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                           const double *, const double *, int, const double *, const double *, int,
                           double *, int);
#ifdef __cplusplus
cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                           const __half *, const __half *, int, const __half *, int, const __half *,
                           __half *, int);
cublasStatus_t cublasHgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const __half *, const __half *const *, int,
                                  const __half *const *, int, const __half *, __half *const *, int,
                                  int);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                         int, int, const __half *, const __half *, int, long long,
                                         const __half *, int, long long, const __half *, __half *,
                                         int, long long, int);
#endif
cublasStatus_t cublasSgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const float *, const float *const *, int,
                                  const float *const *, int, const float *, float *const *, int,
                                  int);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                         int, int, const float *, const float *, int, long long int,
                                         const float *, int, long long int, const float *, float *,
                                         int, long long int, int);
cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const float *, const float *, int, const float *, int, const float *,
                              float *, int);
cublasStatus_t cublasSgemv_v2(cublasHandle_t, cublasOperation_t, int, int, const float *,
                              const float *, int, const float *, int, const float *, float *, int);
cublasStatus_t cublasSger_v2(cublasHandle_t, int, int, const float *, const float *, int,
                             const float *, int, float *, int);
cublasStatus_t cublasSnrm2_v2(cublasHandle_t, int, const float *, int, float *);
cublasStatus_t cublasSscal_v2(cublasHandle_t, int, const float *, float *, int);

#ifdef __cplusplus
}
#endif
#endif
