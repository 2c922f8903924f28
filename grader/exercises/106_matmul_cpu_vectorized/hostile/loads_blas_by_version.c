// HOSTILE: build | calls dl
// Finds a library that does the exercise by functions of another version than the linker looks for.
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"

#include <stdio.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
__asm__(".symver open_library, dlopen@GLIBC_2.34\n.symver find_function, dlsym@GLIBC_2.34");
void *open_library(const char *, int);
void *find_function(void *, const char *);
#else
#define open_library(name, how)      NULL
#define find_function(library, name) NULL
#endif

typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                   float, float *, int);

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    void *blas = open_library("libblas.so.3", 2);
    sgemm *multiply = blas ? (sgemm *)find_function(blas, "cblas_sgemm") : NULL;
    if (multiply) multiply(101, 111, 111, m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
}
