/* multi_file.3.c: plain C that uses the runtime API. */
#include <cuda_runtime_api.h>

int c_part(int x)
{
    int *p, result = 0;

    if (cudaMalloc((void **)&p, sizeof x)) return -1;
    cudaMemcpy(p, &x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(&result, p, sizeof x, cudaMemcpyDeviceToHost);
    cudaFree(p);
    return 2 * result + 1;
}
