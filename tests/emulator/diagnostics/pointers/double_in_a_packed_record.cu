// misaligned access
/* Records of 12 bytes: every second double lies wrong. */
#include <cuda_runtime.h>

__global__ void total(double *out, const char *records)
{
    out[threadIdx.x] = *(const double *)(records + 12 * threadIdx.x + 4); // HERE
}

int main()
{
    char *records;
    double *out;
    cudaMalloc(&records, 768 * sizeof *records);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(records, 0, 768 * sizeof *records);
    total<<<1, 64>>>(out, records);
    return cudaDeviceSynchronize();
}
