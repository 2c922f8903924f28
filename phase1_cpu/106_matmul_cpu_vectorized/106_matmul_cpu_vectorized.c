/*
 * 106_matmul_cpu_vectorized.c: a tile of c lives in vector registers.
 *
 * The idea: 6 rows by 2 vectors of c, 12 sums that stay in registers while p runs. One step loads
 * two vectors of b and six elements of a, and does twelve vector multiply-adds: more arithmetic
 * than loads, which is what the processor is built for. For these loads to be cheap, the strip of b
 * that a tile needs is first packed: copied to where its rows are contiguous.
 *
 * Edges need no special kernel. Columns past the end are packed as zeros, rows past the end repeat
 * the last row, and their results are not stored. Nothing past the end is ever read.
 *
 * The cost it removes: a load and a store of c for each multiplication of 104 and 105.
 * The cost it leaves: a is not packed, b is packed anew for each block of rows, the tile is too
 * small for machines with 32 registers, and only one core works.
 */
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "not_implemented.h"
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

/* TODO: the shape of a tile, a min, and load_vector: LANES floats from any address, by memcpy,
   which compiles to one instruction (about 15 lines). */

/* TODO: pack: copy `depth` rows of b, `cols` of COLS columns wide, into the strip; zeros in the
   other columns (about 7 lines). */

/* TODO: multiply_tile: tile[ROWS x COLS] = ROWS rows of a times the strip, all sums in
   registers (about 14 lines). */

/* TODO: add_strip: for every ROWS rows of a, multiply by the strip and add what lies inside c
   (about 15 lines). */

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    /* TODO: zero c; for BLOCK rows of a, and DEPTH rows and COLS columns of b at a time: pack,
       add_strip (about 14 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k);
}
