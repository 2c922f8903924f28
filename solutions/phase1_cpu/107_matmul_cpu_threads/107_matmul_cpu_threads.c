/*
 * 107_matmul_cpu_threads.c: every core computes some of the rows.
 *
 * The idea: a row of c needs one row of a and all of b, and no other row of c. So the rows are cut
 * into as many ranges as there are threads, and each thread runs 106 on its range. All read b, and
 * no two write to the same place: there is nothing to lock, and only the end to wait for.
 *
 * The cost it removes: one core works while the others are idle.
 * The cost it leaves: starting a thread and waiting for its end takes tens of microseconds, in
 * which 106 would be done with a product of 128 x 128 x 128. Each thread packs all of b for itself.
 * And a c of one row still uses only one core.
 */
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "107_matmul_cpu_threads/matmul_cpu_threads.h"
#include "not_implemented.h"
#include <pthread.h>
#include <stdbool.h>

/* SOLUTION: the most threads that are started; rows: the share of one thread (about 6 lines). */
#define THREADS_MAX 256

typedef struct rows {
    float *c;           /* [m x n], of this thread only */
    const float *a, *b; /* [m x k]; [k x n], the same for all */
    int m, n, k;
} rows;
/* END SOLUTION */

/* SOLUTION: count_of: how many threads share m rows: at least one, at most m and THREADS_MAX (about
   6 lines). */
static int count_of(int threads, int m)
{
    int count = threads < m ? threads : m;
    if (count > THREADS_MAX) return THREADS_MAX;
    return count > 1 ? count : 1;
}
/* END SOLUTION */

/* SOLUTION: multiply_rows: 106 on the rows of one thread, in the shape that pthread_create asks for
   (about 6 lines). */
static void *multiply_rows(void *told)
{
    const rows *r = told;
    matmul_cpu_vectorized(r->c, r->a, r->b, r->m, r->n, r->k);
    return NULL;
}
/* END SOLUTION */

void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    /* SOLUTION: range t is rows m * t / count .. m * (t + 1) / count - 1. Start a thread for each
       but the first; the caller computes that one, and those whose thread did not start; join
       (about 15 lines). */
    pthread_t thread[THREADS_MAX];
    rows range[THREADS_MAX]; /* one each: a thread may read its own after the loop has moved on */
    bool started[THREADS_MAX];
    int count = count_of(threads, m);

    for (int t = 0; t < count; t++) {
        int first = (int)((long long)m * t / count), end = (int)((long long)m * (t + 1) / count);
        range[t] = (rows){c + (size_t)first * n, a + (size_t)first * k, b, end - first, n, k};
        started[t] = t > 0 && pthread_create(&thread[t], NULL, multiply_rows, &range[t]) == 0;
    }
    for (int t = 0; t < count; t++) {
        if (!started[t]) multiply_rows(&range[t]);
    }
    for (int t = 0; t < count; t++) {
        if (started[t]) pthread_join(thread[t], NULL);
    }
    /* END SOLUTION */
}
