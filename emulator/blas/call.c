/*
 * call.c: the work of every cuBLAS function before and after it computes: operands out of device
 * memory, results into it, and one clear line on stderr when that cannot be done.
 */
#include "blas.h"

#include <stdio.h>
#include <stdlib.h>

/* What is computed here and now cannot become a node of a graph. */
static bool is_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    return cudaStreamIsCapturing(stream, &status) || status != cudaStreamCaptureStatusNone;
}

struct call call_begin(cublasHandle_t handle, const char *name)
{
    struct call c = {.handle = handle, .name = name};
    if (!handle_is_valid(handle)) {
        c.status = CUBLAS_STATUS_NOT_INITIALIZED;
    } else if (is_capturing(handle->stream)) {
        fprintf(stderr, "softgpu: %s: cuBLAS cannot be captured into a graph here\n", name);
        c.status = CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return c;
}

bool call_failed(const struct call *c)
{
    return c->status != CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t call_end(struct call *c)
{
    for (int i = 0; i < c->fetched_count; i++) free(c->fetched[i]);
    return c->status;
}

static void set_status(struct call *c, cublasStatus_t status)
{
    if (!call_failed(c)) c->status = status;
}

void call_require(struct call *c, bool condition)
{
    if (!condition) set_status(c, CUBLAS_STATUS_INVALID_VALUE);
}

void *call_take(struct call *c, size_t bytes)
{
    if (call_failed(c)) return NULL;
    void *memory = c->fetched_count < MAX_FETCHED ? malloc(bytes ? bytes : 1) : NULL;
    if (memory) {
        c->fetched[c->fetched_count++] = memory;
    } else {
        set_status(c, CUBLAS_STATUS_ALLOC_FAILED);
    }
    return memory;
}

/* ---- scalars --------------------------------------------------------------------------------- */

double call_scalar(struct call *c, const void *pointer, cudaDataType type)
{
    unsigned char bytes[8];
    const void *from = pointer;
    double value = 0.0;

    call_require(c, pointer != NULL);
    if (call_failed(c)) return 0.0;
    if (c->handle->pointers == CUBLAS_POINTER_MODE_DEVICE) {
        if (cudaMemcpy(bytes, pointer, element_bytes(type), cudaMemcpyDefault) != cudaSuccess) {
            fprintf(stderr, "softgpu: %s: a scalar is not in device memory\n", c->name);
            set_status(c, CUBLAS_STATUS_EXECUTION_FAILED);
            return 0.0;
        }
        from = bytes;
    }
    elements_to_f64(&value, from, 1, type);
    return value;
}

void call_result(struct call *c, void *pointer, double value, cudaDataType type)
{
    call_require(c, pointer != NULL);
    if (call_failed(c)) return;
    if (c->handle->pointers == CUBLAS_POINTER_MODE_HOST) {
        elements_from_f64(pointer, &value, 1, type);
        return;
    }
    call_store(c, (struct matrix){"result", pointer, 1, 1, 1, type}, &value);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static void explain(struct call *c, const struct matrix *m)
{
    fprintf(stderr,
            "softgpu: %s: %s, %lld x %lld with %lld elements from column to column, is not within "
            "one allocation of device memory (matrices are column-major)\n",
            c->name, m->name, (long long)m->rows, (long long)m->columns, (long long)m->leading);
    set_status(c, CUBLAS_STATUS_EXECUTION_FAILED);
}

/* A vector with a negative increment runs backwards: its first element lies last. */
static void reverse_columns(unsigned char *columns, int64_t count, size_t bytes)
{
    for (int64_t i = 0, j = count - 1; i < j; i++, j--) {
        for (size_t k = 0; k < bytes; k++) {
            unsigned char kept = columns[(size_t)i * bytes + k];
            columns[(size_t)i * bytes + k] = columns[(size_t)j * bytes + k];
            columns[(size_t)j * bytes + k] = kept;
        }
    }
}

static size_t column_bytes(const struct matrix *m)
{
    return (size_t)m->rows * element_bytes(m->type);
}

/* The bytes of the matrix, without the gaps between its columns. */
static unsigned char *fetch_bytes(struct call *c, const struct matrix *m)
{
    size_t column = column_bytes(m), step = (size_t)llabs(m->leading) * element_bytes(m->type);
    unsigned char *bytes = malloc(column * (size_t)m->columns + 1);
    if (!bytes) set_status(c, CUBLAS_STATUS_ALLOC_FAILED);
    if (!bytes || !m->rows || !m->columns) return bytes;
    if (cudaMemcpy2DAsync(bytes, column, m->data, step ? step : column, column, (size_t)m->columns,
                          cudaMemcpyDeviceToHost, c->handle->stream) != cudaSuccess) {
        explain(c, m);
        free(bytes);
        return NULL;
    }
    if (m->leading < 0) reverse_columns(bytes, m->columns, column);
    return bytes;
}

static bool may_fetch(struct call *c, const struct matrix *m)
{
    call_require(c, m->rows >= 0 && m->columns >= 0);
    call_require(c, m->rows == 0 || m->columns == 0 || (m->data && llabs(m->leading) >= m->rows));
    if (!element_bytes(m->type)) set_status(c, CUBLAS_STATUS_NOT_SUPPORTED);
    return !call_failed(c);
}

double *call_fetch(struct call *c, struct matrix m)
{
    if (!may_fetch(c, &m)) return NULL;
    unsigned char *bytes = fetch_bytes(c, &m);
    double *elements = call_take(c, (size_t)(m.rows * m.columns) * sizeof *elements);
    if (bytes && elements) elements_to_f64(elements, bytes, (size_t)(m.rows * m.columns), m.type);
    free(bytes);
    return call_failed(c) ? NULL : elements;
}

void call_store(struct call *c, struct matrix m, const double *elements)
{
    if (!may_fetch(c, &m) || !m.rows || !m.columns) return;
    size_t column = column_bytes(&m), step = (size_t)llabs(m.leading) * element_bytes(m.type);
    unsigned char *bytes = malloc(column * (size_t)m.columns);
    if (!bytes) {
        set_status(c, CUBLAS_STATUS_ALLOC_FAILED);
        return;
    }
    elements_from_f64(bytes, elements, (size_t)(m.rows * m.columns), m.type);
    if (m.leading < 0) reverse_columns(bytes, m.columns, column);
    if (cudaMemcpy2DAsync((void *)m.data, step, bytes, column, column, (size_t)m.columns,
                          cudaMemcpyHostToDevice, c->handle->stream) != cudaSuccess)
        explain(c, &m);
    free(bytes);
}
