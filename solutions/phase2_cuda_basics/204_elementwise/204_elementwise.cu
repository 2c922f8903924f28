/*
 * 204_elementwise.cu: any number of elements by any number of threads.
 *
 * The idea: 203 launches a thread per element. Here the caller chooses the grid, and it may be too
 * small. So each thread takes element i, then i + (threads of the grid), and so on: a grid-stride
 * loop. Neighbouring threads still take neighbouring elements, in every turn.
 *
 * The loop separates two questions: how many elements there are, and how many threads a GPU works
 * best with. The same kernel runs with one thread, which is how it can be debugged.
 *
 * What it costs: as in 203, memory decides; the arithmetic of a sigmoid hides behind the loads.
 * What it leaves: two operations one after the other move every number twice. 404 joins them.
 */
#include "204_elementwise/elementwise.h"
#include "not_implemented.h"

/* SOLUTION: apply: one element of any operation; NaN goes through relu, and sigmoid does not
   overflow (about 9 lines). */
__device__ static float apply(int op, float a, float b)
{
    switch (op) { /* all threads take the same branch */
    case ELEMENTWISE_ADD: return a + b;
    case ELEMENTWISE_MUL: return a * b;
    case ELEMENTWISE_RELU: return a < 0.0f ? 0.0f : a; /* a comparison with NaN is false */
    default: return 1.0f / (1.0f + expf(-a));          /* exp(-a) = inf gives 0, as it should */
    }
}
/* END SOLUTION */

/* SOLUTION: elementwise_kernel: a grid-stride loop (about 9 lines). */
__global__ static void elementwise_kernel(int op, float *y, const float *a, const float *b,
                                          size_t n)
{
    bool two = op == ELEMENTWISE_ADD || op == ELEMENTWISE_MUL; /* else b may be NULL */
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = apply(op, a[i], two ? b[i] : 0.0f);
    }
}
/* END SOLUTION */

cudaError_t elementwise(int op, float *y, const float *a, const float *b, size_t n, int grid,
                        int block, cudaStream_t stream)
{
    /* SOLUTION: refuse an unknown operation; launch with the caller's grid and block (2 lines). */
    if (op < ELEMENTWISE_ADD || op > ELEMENTWISE_SIGMOID) return cudaErrorInvalidValue;
    elementwise_kernel<<<grid, block, 0, stream>>>(op, y, a, b, n);
    /* END SOLUTION */
    return cudaGetLastError();
}
