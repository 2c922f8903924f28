/*
 * memcpy_symbol.c: copies to and from the program's device variables (launch/symbol.c).
 */
#include "api.h"

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
