// RIGHT: p outermost in pairs, so that each pass over a row of c adds two rows of b
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"
#include <string.h>

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (m == 0 || n == 0) return;
    memset(c, 0, (size_t)m * n * sizeof *c);
    for (int i = 0; i < m; i++, a += k, c += n) {
        const float *row = b;
        int p = 0;
        for (; p + 1 < k; p += 2, row += 2 * (size_t)n) {
            for (int j = 0; j < n; j++) c[j] += a[p] * row[j] + a[p + 1] * row[n + j];
        }
        if (p < k) {
            for (int j = 0; j < n; j++) c[j] += a[p] * row[j];
        }
    }
}
