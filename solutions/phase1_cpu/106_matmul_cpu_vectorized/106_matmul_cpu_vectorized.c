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

/* SOLUTION: the shape of a tile, a min, and load_vector: LANES floats from any address, by memcpy,
   which compiles to one instruction (about 15 lines). */
#define ROWS  6
#define COLS  (2 * LANES) /* 12 vectors of sums, and 3 to work with: 15 of the 16 registers */
#define DEPTH 256         /* rows of a strip: 16 KiB with AVX2; 32 KiB, many an L1, with AVX-512 */
#define BLOCK 240         /* rows of a: 240 KiB of it wait in the L2 cache for the next strip */

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

/* SOLUTION: pack: copy `depth` rows of b, `cols` of COLS columns wide, into the strip; zeros in the
   other columns (about 7 lines). */
static void pack(float *strip, const float *b, int n, int depth, int cols)
{
    for (int p = 0; p < depth; p++) {
        for (int j = 0; j < COLS; j++) *strip++ = j < cols ? b[(size_t)p * n + j] : 0.0f;
    }
}
/* END SOLUTION */

/* SOLUTION: multiply_tile: tile[ROWS x COLS] = ROWS rows of a times the strip, all sums in
   registers (about 14 lines). */
static void multiply_tile(float *tile, const float *const row[ROWS], const float *strip, int depth)
{
    vector sum[ROWS][2] = {{{0}}};
    for (int p = 0; p < depth; p++) {
        vector left = load_vector(strip + p * COLS);
        vector right = load_vector(strip + p * COLS + LANES);
        for (int r = 0; r < ROWS; r++) { /* unrolled by the compiler: ROWS is a constant */
            sum[r][0] += row[r][p] * left;
            sum[r][1] += row[r][p] * right;
        }
    }
    memcpy(tile, sum, sizeof sum);
}
/* END SOLUTION */

/* SOLUTION: add_strip: for every ROWS rows of a, multiply by the strip and add what lies inside c
   (about 15 lines). */
static void add_strip(float *c, const float *a, const float *strip, int m, int n, int k, int depth,
                      int cols)
{
    for (int i = 0; i < m; i += ROWS) {
        const float *row[ROWS];
        for (int r = 0; r < ROWS; r++) row[r] = a + (size_t)min_int(i + r, m - 1) * k;

        float tile[ROWS * COLS];
        multiply_tile(tile, row, strip, depth);
        for (int r = 0; r < min_int(ROWS, m - i); r++) {
            float *c_row = c + (size_t)(i + r) * n;
            for (int j = 0; j < cols; j++) c_row[j] += tile[r * COLS + j];
        }
    }
}
/* END SOLUTION */

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    /* SOLUTION: zero c; for BLOCK rows of a, and DEPTH rows and COLS columns of b at a time: pack,
       add_strip (about 14 lines). */
    float strip[DEPTH * COLS];
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;

    for (int i = 0; i < m; i += BLOCK) {
        int rows = min_int(BLOCK, m - i);
        for (int p = 0; p < k; p += DEPTH) {
            int depth = min_int(DEPTH, k - p);
            for (int j = 0; j < n; j += COLS) {
                int cols = min_int(COLS, n - j);
                pack(strip, b + (size_t)p * n + j, n, depth, cols);
                add_strip(c + (size_t)i * n + j, a + (size_t)i * k + p, strip, rows, n, k, depth,
                          cols);
            }
        }
    }
    /* END SOLUTION */
}
