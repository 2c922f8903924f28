// prints: 19 22 43 50
#include <stdio.h>
template <class T, int N> struct Matrix {
    T v[N][N];
    __host__ __device__ T &operator()(int r, int c)
    {
        return v[r][c];
    }
    __host__ __device__ const T &operator()(int r, int c) const
    {
        return v[r][c];
    }
    __host__ __device__ Matrix operator*(const Matrix &o) const
    {
        Matrix m = {};
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++) m(i, j) += (*this)(i, k) * o(k, j);
        return m;
    }
};
typedef Matrix<int, 2> M2;
__global__ void multiply(M2 *out, M2 a, const M2 *b)
{
    *out = a * *b;
}
int main()
{
    M2 a = {{{1, 2}, {3, 4}}}, b = {{{5, 6}, {7, 8}}}, *d_b, *d_out;
    cudaMalloc(&d_b, sizeof b);
    cudaMalloc(&d_out, sizeof b);
    cudaMemcpy(d_b, &b, sizeof b, cudaMemcpyHostToDevice);
    multiply<<<1, 1>>>(d_out, a, d_b);
    cudaMemcpy(&a, d_out, sizeof a, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", a(0, 0), a(0, 1), a(1, 0), a(1, 1));
    cudaFree(d_b);
    cudaFree(d_out);
    return 0;
}
