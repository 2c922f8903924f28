// WRONG: deep | should be / of its norm
// Splits the sum over k instead of the rows: all threads add to all of c, and nothing keeps them
// apart.
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "107_matmul_cpu_threads/matmul_cpu_threads.h"
#include <pthread.h>

struct piece {
    float *c;
    const float *a, *b;
    int m, n, k, begin, end;
};

static void *add_piece(void *argument)
{
    struct piece *s = argument;
    for (int i = 0; i < s->m; i++) {
        for (int p = s->begin; p < s->end; p++) {
            float factor = s->a[(size_t)i * s->k + p];
            for (int j = 0; j < s->n; j++) {
                s->c[(size_t)i * s->n + j] += factor * s->b[(size_t)p * s->n + j];
            }
        }
    }
    return NULL;
}

void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    if (threads < 1) threads = 1;
    if (threads > 16) threads = 16;
    pthread_t helper[16];
    struct piece piece[16];
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int t = 0; t < threads; t++) {
        piece[t] = (struct piece){c, a, b, m, n, k, k * t / threads, k * (t + 1) / threads};
        pthread_create(&helper[t], NULL, add_piece, &piece[t]);
    }
    for (int t = 0; t < threads; t++) pthread_join(helper[t], NULL);
}
