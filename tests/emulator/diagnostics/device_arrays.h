/* device_arrays.h: the arrays of the programs in diagnostics/, which end before anybody frees them. */
#pragma once

#include <cuda_runtime.h>

/* n elements that nothing has written; NULL where there is no memory. */
template <typename T> static T *unwritten(size_t n)
{
    T *x = NULL;
    cudaMalloc(&x, n * sizeof *x);
    return x;
}

template <typename T> static T *filled(size_t n, int byte)
{
    T *x = unwritten<T>(n);
    cudaMemset(x, byte, n * sizeof *x);
    return x;
}
