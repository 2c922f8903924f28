// HOSTILE: 1x1x1 | left 300 threads
// Three hundred threads, for three seconds.
#include "103_matmul_cpu/matmul_cpu.h"

#include <pthread.h>
#include <unistd.h>

static void *doze(void *unused)
{
    sleep(3);
    return unused;
}

static int cheat(void)
{
    pthread_t thread;
    for (int i = 0; i < 300; i++) {
        if (pthread_create(&thread, NULL, doze, NULL) != 0) return 0;
    }
    return 1;
}

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (cheat()) multiply(c, a, b, m, n, k);
}
