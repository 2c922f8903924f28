/*
 * symbol.c: __device__, __constant__ and __managed__ variables, which the program names by the
 * address of their host shadow.
 */
#include "runtime/core/runtime.h"

/** @return where bytes [offset, offset + bytes) of the symbol lie on the device. */
static cudaError_t locate(const void *symbol, size_t offset, size_t bytes, device_address *address)
{
    struct variable *variable;
    cudaError_t error = variable_find(symbol, &variable);

    if (error) return error;
    if (offset > variable->bytes || bytes > variable->bytes - offset) return cudaErrorInvalidValue;
    error = variable_address(variable, address);
    *address += offset;
    return error;
}

cudaError_t symbol_locate(const void *symbol, size_t offset, size_t bytes, void **pointer)
{
    device_address address = 0;
    cudaError_t error = runtime_enter();

    if (!error) error = locate(symbol, offset, bytes, &address);
    if (!error) *pointer = pointer_to(address);
    return runtime_leave(error);
}

static cudaError_t copy_to(const void *symbol, const void *from, size_t bytes, size_t offset,
                           enum cudaMemcpyKind kind, cudaStream_t stream, bool waits)
{
    void *to = NULL;
    bool wrong = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
    cudaError_t error = wrong ? error_keep(cudaErrorInvalidMemcpyDirection)
                              : symbol_locate(symbol, offset, bytes, &to);

    if (error) return error;
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);
    return copy_submit(&p, stream, waits);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to(symbol, from, bytes, offset, kind, stream, false);
}
PER_THREAD_STREAM(cudaMemcpyToSymbolAsync);

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return copy_to(symbol, from, bytes, offset, kind, 0, true);
}
PER_THREAD_MEMORY(cudaMemcpyToSymbol);

static cudaError_t copy_from(void *to, const void *symbol, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream, bool waits)
{
    void *from = NULL;
    bool wrong = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
    cudaError_t error = wrong ? error_keep(cudaErrorInvalidMemcpyDirection)
                              : symbol_locate(symbol, offset, bytes, &from);

    if (error) return error;
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);
    return copy_submit(&p, stream, waits);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from(to, symbol, bytes, offset, kind, stream, false);
}
PER_THREAD_STREAM(cudaMemcpyFromSymbolAsync);

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return copy_from(to, symbol, bytes, offset, kind, 0, true);
}
PER_THREAD_MEMORY(cudaMemcpyFromSymbol);

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    return pointer ? symbol_locate(symbol, 0, 0, pointer) : error_keep(cudaErrorInvalidValue);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    struct variable *variable;

    if (!bytes) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = variable_find(symbol, &variable);
    if (!error) *bytes = variable->bytes;
    return runtime_leave(error);
}
