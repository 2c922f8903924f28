// prints: invalid configuration argument
#include <stdio.h>
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            printf("%s\n", cudaGetErrorString(e));                                                 \
            return 0;                                                                              \
        }                                                                                          \
    } while (0)
__global__ void nothing()
{
}
int main()
{
    nothing<<<1, 2048>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
