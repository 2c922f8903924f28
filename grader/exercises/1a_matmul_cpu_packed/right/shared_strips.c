// RIGHT: all of b is packed first, by all threads; then each multiplies its rows, no vector types
#include "1a_matmul_cpu_packed/matmul_cpu_packed.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STRIP 32
#define TALL  4
#define CREW  16

struct crew {
    float *c, *packed; /* [strips x k x STRIP] */
    const float *a, *b;
    int m, n, k, size;
};

struct hand {
    struct crew *crew;
    int number;
};

static int share(int all, const struct hand *h, int more)
{
    return (int)((long long)all * (h->number + more) / h->crew->size);
}

static void pack_strip(const struct crew *w, int s)
{
    float *to = w->packed + (size_t)s * w->k * STRIP;
    const int here = w->n - s * STRIP < STRIP ? w->n - s * STRIP : STRIP;
    memset(to, 0, (size_t)w->k * STRIP * sizeof *to);
    for (int p = 0; p < w->k; p++)
        memcpy(to + (size_t)p * STRIP, w->b + (size_t)p * w->n + s * STRIP, here * sizeof *to);
}

static void rows_by_strip(const struct crew *w, int row, int rows, int s)
{
    const float *strip = w->packed + (size_t)s * w->k * STRIP;
    float sum[TALL][STRIP] = {{0}};
    for (int p = 0; p < w->k; p++) {
        for (int r = 0; r < TALL; r++) {
            const float factor = w->a[(size_t)(row + (r < rows ? r : 0)) * w->k + p];
            for (int j = 0; j < STRIP; j++) sum[r][j] += factor * strip[(size_t)p * STRIP + j];
        }
    }
    const int here = w->n - s * STRIP < STRIP ? w->n - s * STRIP : STRIP;
    for (int r = 0; r < rows; r++)
        memcpy(w->c + (size_t)(row + r) * w->n + s * STRIP, sum[r], here * sizeof(float));
}

static void *pack_share(void *argument)
{
    const struct hand *h = argument;
    const int strips = (h->crew->n + STRIP - 1) / STRIP;
    for (int s = share(strips, h, 0); s < share(strips, h, 1); s++) pack_strip(h->crew, s);
    return NULL;
}

static void *multiply_share(void *argument)
{
    const struct hand *h = argument;
    const int strips = (h->crew->n + STRIP - 1) / STRIP, end = share(h->crew->m, h, 1);
    for (int s = 0; s < strips; s++)
        for (int i = share(h->crew->m, h, 0); i < end; i += TALL)
            rows_by_strip(h->crew, i, end - i < TALL ? end - i : TALL, s);
    return NULL;
}

/* Everybody's share of one job; at the end all are done. */
static void everybody(struct crew *w, void *(*job)(void *))
{
    struct hand hand[CREW];
    pthread_t thread[CREW];
    int there = 1;
    for (int t = 0; t < w->size; t++) hand[t] = (struct hand){w, t};
    while (there < w->size && pthread_create(&thread[there], NULL, job, &hand[there]) == 0) there++;
    for (int t = there; t < w->size; t++) job(&hand[t]);
    job(&hand[0]);
    while (there > 1) pthread_join(thread[--there], NULL);
}

void matmul_cpu_packed(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    const size_t strips = ((size_t)n + STRIP - 1) / STRIP;
    struct crew w = {c, malloc((strips * k * STRIP + 1) * sizeof(float)), a, b, m, n, k, CREW};
    if (w.packed == NULL) abort();
    if (threads < CREW) w.size = threads < 1 ? 1 : threads;
    everybody(&w, pack_share);
    everybody(&w, multiply_share);
    free(w.packed);
}
