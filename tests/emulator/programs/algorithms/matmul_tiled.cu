// prints: 64 2080
#include <stdio.h>
template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float *C, float *A, float *B, int wA, int wB)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int aBegin = wA * BLOCK_SIZE * by, aEnd = aBegin + wA - 1, aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx, bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k) Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[wB * BLOCK_SIZE * by + BLOCK_SIZE * bx + wB * ty + tx] = Csub;
}
int main()
{
    static float a[64 * 64], b[64 * 64];
    float *A, *B, *C;
    for (int i = 0; i < 64 * 64; i++) a[i] = i < 64 ? 1 : i % 64 + 1, b[i] = 1;
    cudaMalloc(reinterpret_cast<void **>(&A), sizeof a);
    cudaMalloc(reinterpret_cast<void **>(&B), sizeof a);
    cudaMalloc(reinterpret_cast<void **>(&C), sizeof a);
    cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b, sizeof a, cudaMemcpyHostToDevice);
    MatrixMulCUDA<16><<<dim3(4, 4), dim3(16, 16)>>>(C, A, B, 64, 64);
    cudaMemcpy(a, C, sizeof a, cudaMemcpyDeviceToHost);
    printf("%g %g\n", a[0], a[64 * 63]);
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return 0;
}
