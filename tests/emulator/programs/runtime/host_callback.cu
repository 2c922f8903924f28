// prints: called with 42
#include <stdio.h>
__global__ void nothing()
{
}
void CUDART_CB tell(void *data)
{
    printf("called with %d\n", *(int *)data);
}
int main()
{
    static int value = 42;
    cudaStream_t s;
    cudaStreamCreate(&s);
    nothing<<<1, 1, 0, s>>>();
    cudaLaunchHostFunc(s, tell, &value);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    return 0;
}
