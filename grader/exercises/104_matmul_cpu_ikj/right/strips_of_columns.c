// RIGHT: strips of 64 columns, whose row of c is summed in a local array and stored once
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

#define STRIP 64

static void strip_of_row(float *c, const float *a, const float *b, int width, int n, int k)
{
    float sum[STRIP] = {0.0f};
    for (const float *end = a + k; a < end; a++, b += n) {
        for (int j = 0; j < width; j++) sum[j] += *a * b[j];
    }
    for (int j = 0; j < width; j++) c[j] = sum[j];
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int first = 0; first < n; first += STRIP) {
        int width = n - first < STRIP ? n - first : STRIP;
        for (int i = 0; i < m; i++) {
            strip_of_row(c + (size_t)i * n + first, a + (size_t)i * k, b + first, width, n, k);
        }
    }
}
