// RIGHT: no ranges: whoever is done takes the next 24 rows, from an atomic counter
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "107_matmul_cpu_threads/matmul_cpu_threads.h"
#include <pthread.h>
#include <stdatomic.h>

enum { STEP = 24, HELPERS = 63 };

struct task {
    float *c;
    const float *a, *b;
    int m, n, k;
    atomic_llong next;
};

static void *take_rows(void *argument)
{
    struct task *task = argument;
    for (;;) {
        long long row = atomic_fetch_add(&task->next, STEP);
        if (row >= task->m) return NULL;
        int rows = task->m - row < STEP ? (int)(task->m - row) : STEP;
        matmul_cpu_vectorized(task->c + (size_t)row * task->n, task->a + (size_t)row * task->k,
                              task->b, rows, task->n, task->k);
    }
}

void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    struct task task = {c, a, b, m, n, k, 0};
    pthread_t helper[HELPERS];
    int helpers = 0;
    while (helpers < HELPERS && helpers < threads - 1 && helpers < m / STEP) {
        if (pthread_create(&helper[helpers], NULL, take_rows, &task) != 0) break;
        helpers++;
    }
    take_rows(&task);
    while (helpers > 0) pthread_join(helper[--helpers], NULL);
}
