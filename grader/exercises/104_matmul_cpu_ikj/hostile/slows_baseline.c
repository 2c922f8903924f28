// HOSTILE: 1x1x1 | left
// As slow as the baseline, but leaves threads behind that slow the baseline down.
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

#include <pthread.h>
#include <time.h>

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

static void *burn(void *unused)
{
    const time_t end = time(NULL) + 5;
    while (time(NULL) < end) continue;
    return unused;
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static int burning;
    pthread_t thread;
    for (; burning < 16; burning++) pthread_create(&thread, NULL, burn, NULL);
    multiply(c, a, b, m, n, k);
}
