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

/* TODO: the shape of tile and blocks, a min, and load_vector, as in 106 (about 17 lines). */

/* TODO: pack: `count` rows of a or columns of b, `width` at a time, step by step along k. The
   next row or column is `across` floats further, the next step `along`. Zeros fill the last panel
   (about 10 lines). */

/* TODO: multiply_tile: tile[ROWS x COLS] = a panel times a strip, all sums in registers (about
   13 lines). */

/* TODO: part: what a thread multiplies: c[m x n], whose rows are ld apart, as are those of b
   (about 6 lines). */

/* TODO: add_tile: multiply a panel by a strip, and add what lies inside c: rows x cols, or less
   than that (about 9 lines). */

/* TODO: add_blocks: every strip of a packed block of b, times every panel of a packed block of
   a (about 8 lines). */

/* TODO: multiply_alone: zero c; for each block of b: pack it; for each block of a that meets
   it: pack it, add_blocks (about 18 lines). */

/* TODO: halve: cut the longer side of c into two parts, whose threads are `mine->threads` and
   the rest; at a multiple of the tile (about 18 lines). */

/* TODO: multiply_part, in the shape that pthread_create asks for: alone, where there is one
   thread or too little to do for two; else halve, start a thread for the other half, or do that
   too; join (about 18 lines). */

void matmul_cpu_packed(float *c, const float *a, const float *b, int m, int n, int k, int threads)
{
    /* TODO: all of c is the first part (about 2 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, threads);
}
