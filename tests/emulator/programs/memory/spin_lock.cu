// prints: 64
#include <stdio.h>
struct Lock {
    int *mutex;
    Lock()
    {
        cudaMalloc((void **)&mutex, sizeof(int));
        cudaMemset(mutex, 0, sizeof(int));
    }
    void release()
    {
        cudaFree(mutex);
    }
    __device__ void lock()
    {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        atomicExch(mutex, 0);
    }
};
__global__ void count(Lock lock, int *n)
{
    if (threadIdx.x == 0) {
        lock.lock();
        *n = *n + 1;
        lock.unlock();
    }
}
int main()
{
    Lock lock;
    int *n, h;
    cudaMalloc(&n, sizeof h);
    cudaMemset(n, 0, sizeof h);
    count<<<64, 32>>>(lock, n);
    cudaMemcpy(&h, n, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    lock.release();
    cudaFree(n);
    return 0;
}
