// WRONG: ignored_class | should be 0
/* Takes every negative label for the ignored one; ignore_index may be any number, a class too. */
#include "layers.h"
#include <math.h>

__global__ static void row_kernel(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int counted = 0, label = labels[row];
    for (int r = 0; r < rows; r++) counted += labels[r] >= 0;
    const float *x = logits + (size_t)row * classes;
    float *grad = grad_logits + (size_t)row * classes;
    float max = -INFINITY, sum = 0.0f;
    for (int c = 0; c < classes; c++) max = fmaxf(max, x[c]);
    for (int c = 0; c < classes; c++) sum += expf(x[c] - max);
    for (int c = 0; c < classes; c++)
        grad[c] = label < 0 ? 0.0f : (expf(x[c] - max) / sum - (c == label)) / counted;
    loss[row] = label < 0 ? 0.0f : logf(sum) + (max - x[label]);
}

cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream)
{
    (void)ignore_index;
    if (rows > 0)
        row_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(loss, grad_logits, logits, labels, rows,
                                                        classes);
    return cudaGetLastError();
}
