/* first.cu: a whole program with a kernel. It squares 3 x 5 numbers, each in a thread of its own.
 */
#include <cuda_runtime.h>
#include <stdio.h>

#define ROWS 3
#define COLS 5

/* Runs on the GPU, once in every thread. */
__global__ static void square(int *y, const int *x)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < ROWS && col < COLS) y[row * COLS + col] = x[row * COLS + col] * x[row * COLS + col];
}

/* To the GPU, one launch, and back. */
static cudaError_t square_all(int *h_y, const int *h_x)
{
    const size_t bytes = ROWS * COLS * sizeof(int);
    const dim3 block(4, 2);                                  /* threads of a block: x, y */
    const dim3 grid((COLS + 4 - 1) / 4, (ROWS + 2 - 1) / 2); /* blocks, rounded up */
    int *d_x = NULL, *d_y = NULL;
    cudaStream_t stream = NULL;

    cudaError_t error = cudaStreamCreate(&stream);
    if (!error) error = cudaMalloc((void **)&d_x, bytes);
    if (!error) error = cudaMalloc((void **)&d_y, bytes);
    if (!error) error = cudaMemcpyAsync(d_x, h_x, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) {
        square<<<grid, block, 0, stream>>>(d_y, d_x);
        error = cudaGetLastError();
    }
    if (!error) error = cudaMemcpyAsync(h_y, d_y, bytes, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream); /* h_y is there from here on */

    cudaFree(d_x);
    cudaFree(d_y);
    if (stream) cudaStreamDestroy(stream);
    return error;
}

int main(void)
{
    int h_x[ROWS * COLS], h_y[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++) h_x[i] = i;

    cudaError_t error = square_all(h_y, h_x);
    if (error) {
        fprintf(stderr, "first: %s\n", cudaGetErrorString(error));
        return 1;
    }
    for (int i = 0; i < ROWS * COLS; i++) printf("%4d%s", h_y[i], i % COLS == COLS - 1 ? "\n" : "");

    square<<<1, 2000>>>(NULL, NULL); /* more threads than a block may have */
    printf("2000 threads: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
