/*
 * 401_matmul_vectorized.cu: 214 with loads and stores of four floats at a time.
 *
 * The idea: a load of 16 bytes takes one issue slot, as one of 4 bytes does. A thread of 214 now
 * owns two groups of four neighbouring rows and two of four neighbouring columns, and fetches each
 * group by one load: 4 instructions per step along k instead of 16, for the same 64 multiply-adds.
 * The tiles are loaded, and c is stored, four floats at a time as well.
 *
 * Such an access must begin at a multiple of 16 bytes. A row of a begins there when a does and k is
 * a multiple of 4; b and c likewise with n. Otherwise, and at the edges, the four floats are moved
 * one by one: slower, but right.
 *
 * Addresses have 64 bits, and their arithmetic takes two slots where an int takes one. So each
 * thread computes once where its loads begin, and steps on from there; indices within a tile are
 * int.
 *
 * The cost removed: three quarters of the issue slots that loads took.
 * The cost left: a block loads a tile, waits, computes, waits. While memory answers, only the other
 * block on the same multiprocessor computes (2a).
 */
#include "401_matmul_vectorized/matmul_vectorized.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <stdint.h>

#define BM      128 /* BM x BN elements of c per block */
#define BN      128
#define BK      8
#define TM      8 /* TM x TN elements of c per thread, in groups of four */
#define TN      8 /* = TM: one loop loads the values of a and of b */
#define THREADS (BM / TM * (BN / TN))

/** Four neighbouring floats of a row. Those beyond its end are 0, and are not loaded.
 *  @param left columns from there to the end of the row, or 0 for a row that does not exist
 *  @param wide rows begin at multiples of 16 bytes */
__device__ __forceinline__ static float4 load_four(const float *at, int left, bool wide)
{
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    /* TODO: fill `four`: by one load of 16 bytes where rows are wide, else by up to four loads
       of 4 bytes (about 5 lines). */
    return four;
}

/** The same for a store: from[0 .. 3] to the row, as far as it goes. */
__device__ __forceinline__ static void store_four(float *at, int left, bool wide, const float *from)
{
    /* TODO: one store of 16 bytes where rows are wide, else up to four of 4 bytes. The loop
       over these must unroll, because `from` is in registers (about 9 lines). */
}

/** c = a * b. Block i computes tile i of c: the tiles lie row by row, (n - 1) / BN + 1 of them side
 *  by side.
 *  @param wide_a, wide_b, wide_c for each matrix: its rows begin at multiples of 16 bytes */
__global__ static void __launch_bounds__(THREADS, 2)
    matmul_vectorized_kernel(float *c, const float *a, const float *b, int m, int n, int k,
                             bool wide_a, bool wide_b, bool wide_c)
{
    __shared__ __align__(16) float a_tile[BK][BM + 4]; /* [k][row] */
    __shared__ __align__(16) float b_tile[BK][BN];     /* [k][column] */
    /* TODO: as in 214, in steps of BK along k: each thread loads four floats of a and four of b
       and stores them in the tiles; then each step of the tile loads TM values of a and TN of b,
       four at a time, for TM x TN multiply-adds; at the end c is stored four floats at a time. A
       thread's rows and columns are two groups of four neighbours, half a tile apart (about 47
       lines). */
}

/** Does each row of x[.. x cols] begin at a multiple of 16 bytes? */
static bool is_wide(const float *x, int cols)
{
    /* TODO: test the address, and the length of a row (1 line). */
    NOT_IMPLEMENTED(x, cols);
    return 0;
}

cudaError_t matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                              cudaStream_t stream)
{
    /* TODO: nothing if c is empty; else a block of THREADS threads per tile of c, rounding
       up, all of them along x; and which of the three matrices are wide (about 5 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}
