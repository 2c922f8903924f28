// null pointer
/* An array of row pointers, of which the last one was never filled in. */
#include <cuda_runtime.h>

__global__ void sum(float *out, float *const *rows)
{
    out[threadIdx.x] = rows[threadIdx.x][0]; // HERE
}

int main()
{
    float *rows[4] = {}, **d_rows, *out;
    for (int i = 0; i < 3; i++) {
        cudaMalloc(&rows[i], 4);
        cudaMemset(rows[i], 0, 4);
    }
    cudaMalloc(&d_rows, sizeof rows);
    cudaMalloc(&out, sizeof rows);
    cudaMemcpy(d_rows, rows, sizeof rows, cudaMemcpyHostToDevice);
    sum<<<1, 4>>>(out, d_rows);
    return cudaDeviceSynchronize();
}
