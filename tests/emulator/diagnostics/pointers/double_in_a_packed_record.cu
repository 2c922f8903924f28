// misaligned access
/* Records of 12 bytes: every second double lies wrong. */
#include <device_arrays.h>

__global__ void total(double *out, const char *records)
{
    out[threadIdx.x] = *(const double *)(records + 12 * threadIdx.x + 4); // HERE
}

int main()
{
    char *records = filled<char>(768, 0);
    double *out = unwritten<double>(64);
    total<<<1, 64>>>(out, records);
    return cudaDeviceSynchronize();
}
