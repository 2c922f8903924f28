// race
/* The comparisons of the next step need all swaps of this one. */
#include <device_arrays.h>

__global__ void sort(int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2) {
        for (int d = size / 2; d > 0; d /= 2) {
            int other = t ^ d;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) { // HERE
                int swapped = s[t];
                s[t] = s[other];    // HERE
                s[other] = swapped; // HERE
            }
        }
        __syncthreads();
    }
    x[t] = s[t];
}

int main()
{
    int h_x[128];
    for (int i = 0; i < 128; i++) h_x[i] = i * 37 % 128;
    int *x = unwritten<int>(128);
    cudaMemcpy(x, h_x, sizeof h_x, cudaMemcpyHostToDevice);
    sort<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
