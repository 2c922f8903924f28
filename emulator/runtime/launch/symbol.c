/*
 * symbol.c: __device__, __constant__ and __managed__ variables, which the program names by the
 * address of their host shadow.
 */
#include "launch.h"

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
