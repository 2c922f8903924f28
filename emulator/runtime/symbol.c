/*
 * symbol.c: __device__, __constant__ and __managed__ variables, which the program names by the
 * address of their host shadow.
 */
#include "runtime.h"

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

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    device_address address = 0;
    cudaError_t error = runtime_enter();

    if (!error && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost))
        error = cudaErrorInvalidMemcpyDirection;
    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = locate(symbol, offset, bytes, &address);
    if (!error) error = copy_bytes(pointer_to(address), from, bytes, kind);
    if (!error) count_copy(pointer_to(address), from, bytes);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaMemcpyToSymbolAsync);

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, 0);
}
PER_THREAD_MEMORY(cudaMemcpyToSymbol);

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    device_address address = 0;
    cudaError_t error = runtime_enter();

    if (!error && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost))
        error = cudaErrorInvalidMemcpyDirection;
    if (!error && !stream_is_valid(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = locate(symbol, offset, bytes, &address);
    if (!error) error = copy_bytes(to, pointer_to(address), bytes, kind);
    if (!error) count_copy(to, pointer_to(address), bytes);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaMemcpyFromSymbolAsync);

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, 0);
}
PER_THREAD_MEMORY(cudaMemcpyFromSymbol);

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    device_address address = 0;

    if (!pointer) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = locate(symbol, 0, 0, &address);
    if (!error) *pointer = pointer_to(address);
    return runtime_leave(error);
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
