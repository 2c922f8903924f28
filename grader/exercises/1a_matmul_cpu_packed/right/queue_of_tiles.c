// RIGHT: a list of squares of c; whoever is free takes the next; panels in memory of their own
#include "1a_matmul_cpu_packed/matmul_cpu_packed.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { EDGE = 192, DEEP = 128, HIGH = 4, WIDE = 16, HELPERS = 31 };

typedef float lanes __attribute__((vector_size(WIDE * sizeof(float))));

struct work {
    float *c;
    const float *a, *b;
    int m, n, k, across;
    long squares;
    atomic_long next;
};

struct room {
    float left[EDGE * DEEP], right[EDGE * DEEP];
    lanes sums[EDGE][EDGE / WIDE];
};

static void fill(struct room *r, const struct work *w, int y, int x, int p, int deep)
{
    for (int i = 0; i < EDGE; i++)
        for (int d = 0; d < deep; d++)
            r->left[i / HIGH * HIGH * DEEP + d * HIGH + i % HIGH] =
                y + i < w->m ? w->a[(size_t)(y + i) * w->k + p + d] : 0.0f;
    for (int d = 0; d < deep; d++)
        for (int j = 0; j < EDGE; j++)
            r->right[j / WIDE * WIDE * DEEP + d * WIDE + j % WIDE] =
                x + j < w->n ? w->b[(size_t)(p + d) * w->n + x + j] : 0.0f;
}

static void four_rows(lanes *s0, lanes *s1, lanes *s2, lanes *s3, const float *left,
                      const float *right, int deep)
{
    lanes t0 = *s0, t1 = *s1, t2 = *s2, t3 = *s3, v;
    for (int d = 0; d < deep; d++, left += HIGH, right += WIDE) {
        __builtin_memcpy(&v, right, sizeof v);
        t0 += left[0] * v;
        t1 += left[1] * v;
        t2 += left[2] * v;
        t3 += left[3] * v;
    }
    *s0 = t0, *s1 = t1, *s2 = t2, *s3 = t3;
}

static void square(struct room *r, const struct work *w, int y, int x)
{
    const int rows = w->m - y < EDGE ? w->m - y : EDGE, cols = w->n - x < EDGE ? w->n - x : EDGE;
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE / WIDE; j++) r->sums[i][j] = (lanes){0};
    for (int p = 0; p < w->k; p += DEEP) {
        const int deep = w->k - p < DEEP ? w->k - p : DEEP;
        fill(r, w, y, x, p, deep);
        for (int i = 0; i < rows; i += HIGH)
            for (int j = 0; j * WIDE < cols; j++)
                four_rows(&r->sums[i][j], &r->sums[i + 1][j], &r->sums[i + 2][j],
                          &r->sums[i + 3][j], r->left + i * DEEP, r->right + j * WIDE * DEEP, deep);
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            w->c[(size_t)(y + i) * w->n + x + j] = r->sums[i][j / WIDE][j % WIDE];
}

static void *help(void *argument)
{
    struct work *w = argument;
    struct room *r = aligned_alloc(64, sizeof *r);
    if (r == NULL) return NULL; /* the others take its squares */
    for (long s; (s = atomic_fetch_add(&w->next, 1)) < w->squares;)
        square(r, w, (int)(s / w->across) * EDGE, (int)(s % w->across) * EDGE);
    free(r);
    return w;
}

void matmul_cpu_packed(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    const int across = (n + EDGE - 1) / EDGE;
    struct work w = {c, a, b, m, n, k, across, (long)across * ((m + EDGE - 1) / EDGE), 0};
    pthread_t helper[HELPERS];
    int helpers = 0;
    while (helpers < HELPERS && helpers < threads - 1 && helpers < w.squares - 1 &&
           pthread_create(&helper[helpers], NULL, help, &w) == 0)
        helpers++;
    if (help(&w) == NULL) abort();
    while (helpers > 0) pthread_join(helper[--helpers], NULL);
}
