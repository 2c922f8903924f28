/*
 * 1a_matmul_cpu_packed.c: what 1a is measured against: packed panels and strips, and a thread for
 * each range of columns or rows, whichever c has more of.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#define ROWS  8
#elif defined(__AVX__)
#define LANES 8
#define ROWS  6
#else
#define LANES 4
#define ROWS  6
#endif
#define COLS        (2 * LANES)
#define DEPTH       512
#define BLOCK_M     120
#define BLOCK_N     256
#define THREADS_MAX 64

typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

typedef struct range {
    float *c;
    const float *a, *b;
    int m, n, k, ld;
} range;

static int least(int x, int y)
{
    return x < y ? x : y;
}

static void pack_a(float *to, const float *a, int rows, int depth, int k)
{
    for (int i = 0; i < rows; i += ROWS) {
        for (int p = 0; p < depth; p++) {
            for (int r = i; r < i + ROWS; r++) *to++ = r < rows ? a[(size_t)r * k + p] : 0.0f;
        }
    }
}

static void pack_b(float *to, const float *b, int cols, int depth, int ld)
{
    for (int j = 0; j < cols; j += COLS) {
        for (int p = 0; p < depth; p++, to += COLS) {
            const int there = least(COLS, cols - j);
            memset(to, 0, COLS * sizeof *to);
            memcpy(to, b + (size_t)p * ld + j, there * sizeof *to);
        }
    }
}

__attribute__((noinline)) static void multiply_tile(float *tile, const float *panel,
                                                    const float *strip, int depth)
{
    vector sum[ROWS][2] = {{{0}}}, left, right;
    for (int p = 0; p < depth; p++) {
        memcpy(&left, strip + p * COLS, sizeof left);
        memcpy(&right, strip + p * COLS + LANES, sizeof right);
        for (int r = 0; r < ROWS; r++) {
            sum[r][0] += panel[p * ROWS + r] * left;
            sum[r][1] += panel[p * ROWS + r] * right;
        }
    }
    memcpy(tile, sum, sizeof sum);
}

static void multiply_blocks(float *c, int ld, const float *a, const float *b, int rows, int cols,
                            int depth)
{
    for (int j = 0; j < cols; j += COLS) {
        for (int i = 0; i < rows; i += ROWS) {
            float tile[ROWS * COLS];
            multiply_tile(tile, a + i * depth, b + j * depth, depth);
            for (int r = 0; r < least(ROWS, rows - i); r++) {
                float *to = c + (size_t)(i + r) * ld + j;
                for (int x = 0; x < least(COLS, cols - j); x++) to[x] += tile[r * COLS + x];
            }
        }
    }
}

static void *multiply(void *told)
{
    const range *t = told;
    float a[BLOCK_M * DEPTH], b[BLOCK_N * DEPTH];
    for (int i = 0; i < t->m; i++) memset(t->c + (size_t)i * t->ld, 0, t->n * sizeof *t->c);
    for (int j = 0; j < t->n; j += BLOCK_N) {
        for (int p = 0; p < t->k; p += DEPTH) {
            const int cols = least(BLOCK_N, t->n - j), depth = least(DEPTH, t->k - p);
            pack_b(b, t->b + (size_t)p * t->ld + j, cols, depth, t->ld);
            for (int i = 0; i < t->m; i += BLOCK_M) {
                const int rows = least(BLOCK_M, t->m - i);
                pack_a(a, t->a + (size_t)i * t->k + p, rows, depth, t->k);
                multiply_blocks(t->c + (size_t)i * t->ld + j, t->ld, a, b, rows, cols, depth);
            }
        }
    }
    return NULL;
}

/* A share of the rows where c is tall, else of the columns. */
static range share(const range *all, int t, int threads)
{
    range r = *all;
    const int first = (int)((long long)(r.m > r.n ? r.m : r.n) * t / threads);
    const int end = (int)((long long)(r.m > r.n ? r.m : r.n) * (t + 1) / threads);
    if (r.m > r.n) {
        r.c += (size_t)first * r.ld, r.a += (size_t)first * r.k, r.m = end - first;
    } else {
        r.c += first, r.b += first, r.n = end - first;
    }
    return r;
}

void baseline_matmul_packed(float *c, const float *a, const float *b, int m, int n, int k,
                            int threads)
{
    const range all = {c, a, b, m, n, k, n};
    range part[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    int started[THREADS_MAX];
    threads = threads < 1 ? 1 : least(threads, THREADS_MAX);
    for (int t = 0; t < threads; t++) {
        part[t] = share(&all, t, threads);
        started[t] = t > 0 && pthread_create(&thread[t], NULL, multiply, &part[t]) == 0;
    }
    for (int t = 0; t < threads; t++) {
        if (!started[t]) multiply(&part[t]);
    }
    for (int t = 0; t < threads; t++) {
        if (started[t]) pthread_join(thread[t], NULL);
    }
}
