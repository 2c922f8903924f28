// race
/* All samples of a batch change the same weights at once. */
#include <cuda_runtime.h>

__global__ void learn(float *weights, const float *x, float rate)
{
    float error = x[blockIdx.x];
    weights[threadIdx.x] -= rate * error; // HERE
}

int main()
{
    float *x, *weights;
    cudaMalloc(&x, 16 * sizeof *x);
    cudaMalloc(&weights, 128 * sizeof *weights);
    cudaMemset(x, 1, 16 * sizeof *x);
    cudaMemset(weights, 1, 128 * sizeof *weights);
    learn<<<16, 128>>>(weights, x, 0.5f);
    return cudaDeviceSynchronize();
}
