/* multi_file.2.cu: the second module of multi_file.cu. */
static __device__ int base = 1000;

static __global__ void kernel(int *out)
{
    out[threadIdx.x] = base + threadIdx.x;
}

void launch_other(int *out)
{
    kernel<<<1, 32>>>(out);
}
