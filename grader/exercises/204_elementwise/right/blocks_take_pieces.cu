// RIGHT: each block has one contiguous piece of the array, through which its threads go side by side
#include "204_elementwise/elementwise.h"

__global__ static void piecewise(int op, float *y, const float *a, const float *b, size_t n)
{
    const size_t piece = (n + gridDim.x - 1) / gridDim.x / 32 * 32 + 32; // whole lines
    const size_t begin = blockIdx.x * piece, end = begin + piece < n ? begin + piece : n;
    for (size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const float x = a[i];
        float r;
        if (op == ELEMENTWISE_ADD) r = x + b[i];
        else if (op == ELEMENTWISE_MUL) r = x * b[i];
        else if (op == ELEMENTWISE_RELU) r = isnan(x) ? x : fmaxf(x, 0.0f);
        else r = 0.5f + 0.5f * tanhf(0.5f * x);
        y[i] = r;
    }
}

cudaError_t elementwise(int op, float *y, const float *a, const float *b, size_t n, int grid,
                        int block, cudaStream_t stream)
{
    switch (op) {
    case ELEMENTWISE_ADD:
    case ELEMENTWISE_MUL:
    case ELEMENTWISE_RELU:
    case ELEMENTWISE_SIGMOID:
        piecewise<<<grid, block, 0, stream>>>(op, y, a, b, n);
        return cudaGetLastError();
    }
    return cudaErrorInvalidValue;
}
