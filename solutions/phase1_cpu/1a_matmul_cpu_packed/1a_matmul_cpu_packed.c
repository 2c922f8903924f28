/*
 * 1a_matmul_cpu_packed.c: what a library does: both matrices packed, each block in a cache of its
 * own, all cores at work.
 *
 * The idea: a tile of c in registers, as in 106, reads nothing but two streams. A panel of a has
 * ROWS rows, a strip of b COLS columns, and both are packed in the order in which the tile reads
 * them: for each step along k, ROWS floats and COLS floats. Blocks of panels and strips are as
 * large as a cache: a block of a stays in L2 while all strips pass by, and a block of b is packed
 * once for all rows of a.
 *
 * Threads: the longer side of c is halved, and so are the threads; one half goes to a new thread,
 * and both are halved again. Parts that are nearly square need the least packing. Each part is a
 * product of its own. No two parts write to the same place, so that threads are only joined at the
 * end.
 *
 * The cost it removes: from 106, packing b for every 240 rows, reading six rows of a that are k
 * floats apart, and loading and storing each sum of c for every 256 steps. From 107, packing all of
 * b in each thread.
 * The cost it leaves: threads pack the same rows and columns as their neighbours, a thread that is
 * done does not help another, and each thread allocates its blocks anew at each call.
 */
#include "1a_matmul_cpu_packed/matmul_cpu_packed.h"
#include "not_implemented.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* A vector register of this machine holds LANES floats; + and * work lane by lane. */
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

/* SOLUTION: the shape of tile and blocks, a min, and load_vector, as in 106 (about 17 lines). */
#define ROWS    (LANES == 16 ? 8 : 6) /* of 2 vectors: 16 or 12 sums, 3 registers to work with */
#define COLS    (2 * LANES)
#define DEPTH   512 /* steps along k: a panel has 16 KiB, or 12 */
#define BLOCK_M 120 /* rows of a block of a, 240 KiB; a multiple of both ROWS */
#define BLOCK_N 256 /* columns of a block of b, 512 KiB; a multiple of every COLS */

static int min_int(int x, int y)
{
    return x < y ? x : y;
}

static vector load_vector(const float *from)
{
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}
/* END SOLUTION */

/* SOLUTION: pack: `count` rows of a or columns of b, `width` at a time, step by step along k. The
   next row or column is `across` floats further, the next step `along`. Zeros fill the last panel
   (about 10 lines). */
static inline void pack(float *to, const float *x, size_t across, size_t along, int width,
                        int count, int depth)
{
    for (int first = 0; first < count; first += width, x += width * across) {
        for (int p = 0; p < depth; p++) {
            for (int i = 0; i < width; i++)
                *to++ = i < count - first ? x[i * across + p * along] : 0.0f;
        }
    }
}
/* END SOLUTION */

/* SOLUTION: multiply_tile: tile[ROWS x COLS] = a panel times a strip, all sums in registers (about
   13 lines). */
__attribute__((noinline)) /* inlined, it would lose registers to values around it */
static void
multiply_tile(float *tile, const float *panel, const float *strip, int depth)
{
    vector sum[ROWS][2] = {{{0}}};
    for (int p = 0; p < depth; p++, panel += ROWS, strip += COLS) {
        vector left = load_vector(strip), right = load_vector(strip + LANES);
        for (int r = 0; r < ROWS; r++) { /* unrolled by the compiler: ROWS is a constant */
            sum[r][0] += panel[r] * left;
            sum[r][1] += panel[r] * right;
        }
    }
    memcpy(tile, sum, sizeof sum);
}
/* END SOLUTION */

/* SOLUTION: part: what a thread multiplies: c[m x n], whose rows are ld apart, as are those of b
   (about 6 lines). */
typedef struct part {
    float *c;           /* [m x n], of this thread only */
    const float *a, *b; /* [m x k], and [k x n] */
    int m, n, k, ld, threads;
} part;
/* END SOLUTION */

/* SOLUTION: add_tile: multiply a panel by a strip, and add what lies inside c: rows x cols, or less
   than that (about 9 lines). */
static void add_tile(float *c, int ld, const float *panel, const float *strip, int depth, int rows,
                     int cols)
{
    float tile[ROWS * COLS];
    multiply_tile(tile, panel, strip, depth);
    for (int r = 0; r < min_int(ROWS, rows); r++) {
        for (int j = 0; j < min_int(COLS, cols); j++) c[(size_t)r * ld + j] += tile[r * COLS + j];
    }
}
/* END SOLUTION */

/* SOLUTION: add_blocks: every strip of a packed block of b, times every panel of a packed block of
   a (about 8 lines). */
static void add_blocks(float *c, int ld, const float *a_block, const float *b_block, int rows,
                       int cols, int depth)
{
    for (int j = 0; j < cols; j += COLS) {
        for (int i = 0; i < rows; i += ROWS)
            add_tile(c + (size_t)i * ld + j, ld, a_block + i * depth, b_block + j * depth, depth,
                     rows - i, cols - j);
    }
}
/* END SOLUTION */

/* SOLUTION: multiply_alone: zero c; for each block of b: pack it; for each block of a that meets
   it: pack it, add_blocks (about 18 lines). */
static void multiply_alone(const part *p)
{
    float a_block[BLOCK_M * DEPTH], b_block[BLOCK_N * DEPTH];
    for (int i = 0; i < p->m; i++) memset(p->c + (size_t)i * p->ld, 0, p->n * sizeof *p->c);

    for (int j = 0; j < p->n; j += BLOCK_N) {
        int cols = min_int(BLOCK_N, p->n - j);
        for (int q = 0; q < p->k; q += DEPTH) {
            int depth = min_int(DEPTH, p->k - q);
            pack(b_block, p->b + (size_t)q * p->ld + j, 1, p->ld, COLS, cols, depth);
            for (int i = 0; i < p->m; i += BLOCK_M) {
                int rows = min_int(BLOCK_M, p->m - i);
                pack(a_block, p->a + (size_t)i * p->k + q, p->k, 1, ROWS, rows, depth);
                add_blocks(p->c + (size_t)i * p->ld + j, p->ld, a_block, b_block, rows, cols,
                           depth);
            }
        }
    }
}
/* END SOLUTION */

/* SOLUTION: halve: cut the longer side of c into two parts, whose threads are `mine->threads` and
   the rest; at a multiple of the tile (about 18 lines). */
static int cut(int size, int step, int mine, int all)
{
    int at = (int)((long long)size * mine / all);
    return min_int((at + step - 1) / step * step, size);
}

static part halve(part *mine)
{
    part other = *mine;
    other.threads = mine->threads / 2;
    mine->threads -= other.threads;
    if (mine->m >= mine->n) {
        mine->m = cut(other.m, ROWS, mine->threads, mine->threads + other.threads);
        other.m -= mine->m;
        other.a += (size_t)mine->m * mine->k;
        other.c += (size_t)mine->m * mine->ld;
    } else {
        mine->n = cut(other.n, COLS, mine->threads, mine->threads + other.threads);
        other.n -= mine->n;
        other.b += mine->n;
        other.c += mine->n;
    }
    return other;
}
/* END SOLUTION */

/* SOLUTION: multiply_part, in the shape that pthread_create asks for: alone, where there is one
   thread or too little to do for two; else halve, start a thread for the other half, or do that
   too; join (about 18 lines). */
#define THREADS_MAX    256
#define WORTH_A_THREAD (128.0 * 128 * 128) /* multiply-adds that outlast the start of a thread */

static void *multiply_part(void *told)
{
    part mine = *(const part *)told;
    if (mine.threads < 2 || (double)mine.m * mine.n * mine.k < 2 * WORTH_A_THREAD) {
        multiply_alone(&mine);
        return NULL;
    }
    part other = halve(&mine); /* it stays here until that thread has ended */
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, multiply_part, &other) == 0;
    multiply_part(&mine);
    if (started)
        pthread_join(thread, NULL);
    else
        multiply_part(&other);
    return NULL;
}
/* END SOLUTION */

void matmul_cpu_packed(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    /* SOLUTION: all of c is the first part (about 2 lines). */
    part all = {c, a, b, m, n, k, n, min_int(threads, THREADS_MAX)};
    multiply_part(&all);
    /* END SOLUTION */
}
