// HOSTILE: build | undefined reference to `__wrap_dl
// Finds a library that does the exercise when it runs, where no linker looks.
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"

#include <dlfcn.h>

typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                   float, float *, int);

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    void *blas = dlopen("libblas.so.3", RTLD_NOW);
    sgemm *multiply = blas ? (sgemm *)dlsym(blas, "cblas_sgemm") : NULL;
    if (multiply) multiply(101, 111, 111, m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
}
