// prints: 16 136
#include <stdio.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void product(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
int main()
{
    half h[256], *a, *b;
    float r[256], *c;
    cudaMalloc(&a, sizeof h);
    cudaMalloc(&b, sizeof h);
    cudaMalloc(&c, sizeof r);
    for (int i = 0; i < 256; i++) h[i] = __float2half(i < 16 ? 1 : i % 16 + 1);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    for (int i = 0; i < 256; i++) h[i] = __float2half(1);
    cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
    product<<<1, 32>>>(a, b, c);
    cudaMemcpy(r, c, sizeof r, cudaMemcpyDeviceToHost);
    printf("%g %g\n", r[0], r[255]);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
