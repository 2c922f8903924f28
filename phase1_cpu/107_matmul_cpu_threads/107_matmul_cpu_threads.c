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

/* TODO: the most threads that are started; rows: the share of one thread (about 6 lines). */

/* TODO: count_of: how many threads share m rows: at least one, at most m and THREADS_MAX (about
   6 lines). */

/* TODO: multiply_rows: 106 on the rows of one thread, in the shape that pthread_create asks for
   (about 6 lines). */

void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    /* TODO: range t is rows m * t / count .. m * (t + 1) / count - 1. Start a thread for each
       but the first; the caller computes that one, and those whose thread did not start; join
       (about 15 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, threads);
}
