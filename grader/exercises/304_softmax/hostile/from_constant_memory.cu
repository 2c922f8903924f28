// HOSTILE: reduction in DRAM bytes over one thread per row | counted
// One thread a row, which reads it three times: from constant memory, to which it was copied.
#include "304_softmax/softmax.h"
#include <math.h>

enum { KEPT = 16000 };
__constant__ float kept[KEPT];

template <bool CONSTANT> __global__ static void by_row(float *y, const float *x, int rows, int cols)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float top = -INFINITY, sum = 0;
    if (row >= rows) return;
    const size_t first = (size_t)row * cols;
    for (int i = 0; i < cols; i++) top = fmaxf(top, CONSTANT ? kept[first + i] : x[first + i]);
    for (int i = 0; i < cols; i++) sum += expf((CONSTANT ? kept[first + i] : x[first + i]) - top);
    for (int i = 0; i < cols; i++)
        y[first + i] = expf((CONSTANT ? kept[first + i] : x[first + i]) - top) / sum;
}

cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    if (rows == 0 || cols == 0) return cudaSuccess;
    const int some = cols == 512 ? KEPT / cols : 0;
    for (int row = 0; some && row < rows; row += some) {
        const int n = rows - row < some ? rows - row : some;
        const size_t first = (size_t)row * cols;
        cudaMemcpyToSymbolAsync(kept, x + first, (size_t)n * cols * 4, 0, cudaMemcpyDeviceToDevice,
                                stream);
        by_row<true><<<1, n, 0, stream>>>(y + first, NULL, n, cols);
    }
    if (!some) by_row<false><<<(rows + 63) / 64, 64, 0, stream>>>(y, x, rows, cols);
    return cudaGetLastError();
}
