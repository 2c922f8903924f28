// prints: 7 10 15 22
// FLAGS: -lcublas
#include <stdio.h>
#include <cublas_v2.h>

int main()
{
    float a[4] = {1, 3, 2, 4}, *A, *C, one = 1, zero = 0;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cudaMalloc(&A, sizeof a);
    cudaMalloc(&C, sizeof a);
    cublasSetMatrix(2, 2, sizeof(float), a, 2, A, 2);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, A, 2, A, 2, &zero, C, 2);
    cublasGetMatrix(2, 2, sizeof(float), C, 2, a, 2);
    printf("%g %g %g %g\n", a[0], a[2], a[1], a[3]);
    cublasDestroy(handle);
    cudaFree(A);
    cudaFree(C);
    return 0;
}
