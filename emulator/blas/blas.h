/*
 * blas.h: the index of softgpu's cuBLAS, and the shape of all of its functions.
 *
 * cuBLAS is a library apart from the CUDA runtime, and so is this: it uses only the public runtime
 * API of softgpu. Products of matrices are kernels (gemm.h). Any other call fetches its operands
 * from device memory, computes with plain loops on the host, and sends the result back:
 *
 *     struct call c = call_begin(handle, "cublasSaxpy");
 *     double alpha = call_scalar(&c, alpha_pointer, CUDA_R_32F);
 *     double *x = call_fetch(&c, "x", matrix...);    NULL after a failure
 *     if (x && y) ... compute ..., call_store(&c, ...);
 *     return call_end(&c);                           frees what was fetched, says what went wrong
 *
 * Matrices are column-major, as everywhere in cuBLAS. Elements are computed with as doubles, and
 * rounded once when they are stored.
 */
#ifndef SOFTGPU_BLAS_H
#define SOFTGPU_BLAS_H

#include <cublas_v2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* handle.c */
struct cublasContext {
    cudaStream_t stream;
    cublasMath_t math;
    cublasPointerMode_t pointers;
    cublasAtomicsMode_t atomics;
};
bool handle_is_valid(cublasHandle_t);

/* call.c: one call of the library. */
enum { MAX_FETCHED = 8 };
struct call {
    cublasHandle_t handle;
    const char *name;
    cublasStatus_t status; /* of the first failure */
    void *fetched[MAX_FETCHED];
    int fetched_count;
};

/** A matrix in device memory: element (i, j) lies at data + (i + j * leading) * its size. A vector
 *  is a matrix of one row whose leading dimension is the increment. */
struct matrix {
    const char *name; /* as in the documentation: "A" */
    const void *data;
    int64_t rows, columns, leading;
    cudaDataType type;
};

struct call call_begin(cublasHandle_t, const char *name);
cublasStatus_t call_end(struct call *);
/** Refuse the call with CUBLAS_STATUS_INVALID_VALUE unless the condition holds. */
void call_require(struct call *, bool condition);
bool call_failed(const struct call *);
/** alpha or beta, from host or device memory as the handle's pointer mode says. */
double call_scalar(struct call *, const void *pointer, cudaDataType);
/** Hand a result (dot, nrm2) to host or device memory. */
void call_result(struct call *, void *pointer, double value, cudaDataType);
/** The elements, rows * columns of them, column by column; NULL after a failure. Valid until
 *  call_end. */
double *call_fetch(struct call *, struct matrix);
void call_store(struct call *, struct matrix, const double *elements);
/** Memory that call_end frees. */
void *call_take(struct call *, size_t bytes);

/* element.c: the element types. */
/** Bytes of an element; 0 for a type that is not supported. */
size_t element_bytes(cudaDataType);
void elements_to_f64(double *, const void *from, size_t count, cudaDataType);
/** Rounds to nearest even; integers saturate. */
void elements_from_f64(void *to, const double *from, size_t count, cudaDataType);

#endif
