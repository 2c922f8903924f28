// RIGHT: halves of halves: each call gives half of its rows and of its threads to a new thread
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "107_matmul_cpu_threads/matmul_cpu_threads.h"
#include <pthread.h>

typedef struct {
    float *c;
    const float *a, *b;
    int m, n, k, threads;
} half;

static void *run_half(void *argument)
{
    half *h = argument;
    matmul_cpu_threads(h->c, h->a, h->b, h->m, h->n, h->k, h->threads);
    return NULL;
}

void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    if (threads > m) threads = m;
    if (threads <= 1) {
        matmul_cpu_vectorized(c, a, b, m, n, k);
        return;
    }
    int upper = m / 2;
    half lower = {c + (size_t)upper * n, a + (size_t)upper * k, b, m - upper, n, k,
                  threads - threads / 2};
    pthread_t helper;
    int failed = pthread_create(&helper, NULL, run_half, &lower);
    matmul_cpu_threads(c, a, b, upper, n, k, threads / 2);
    if (failed)
        run_half(&lower);
    else
        pthread_join(helper, NULL);
}
