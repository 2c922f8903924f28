/*
 * 2c_radix_sort.cu: compaction, run-length encoding and a radix sort, each around the scan of 210.
 *
 * The idea: each of many threads has something to store, and none knows where. So all count first,
 * a scan of the counts says where each begins, and then all store. Compaction counts the kept
 * elements of each tile. Run-length encoding keeps the first element of each run, and its place:
 * the length is the distance to the next one. A pass of the sort has a counter for each tile and
 * digit, and scans this table digit after digit:
 *
 *     digit       0            1
 *     tile        0   1   2    0   1   2
 *     counted     3   1   2    2   2   0
 *     scanned     0   3   4    6   8  10      where the tile's keys with this digit go
 *
 * Four passes of 8 bits sort 32, the low bits first: each pass keeps the order of equal digits.
 *
 * In a tile a warp takes 32 neighbours at a time. Lanes that have the same digit find each other
 * (__match_any_sync), and one of them counts for all. Then the counts of the warps are scanned.
 *
 * The cost removed: a trip to memory per bit, and scattered stores. A tile is sorted in shared
 * memory before it is stored, so that neighbours with the same digit go to neighbours. The cost
 * left: keys are read twice per pass, and each pass waits for its scan. With the look-back of 2b a
 * pass reads them once (Onesweep).
 */
#include "210_scan/scan.h"
#include "2c_radix_sort/radix_sort.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#include <limits.h>

#define THREADS 256
#define WARPS   (THREADS / 32)
#define ROWS    16 /* of 32 neighbours, for each warp */
#define TILE    (THREADS * ROWS)
#define BITS    8
#define DIGITS  (1 << BITS) /* as many as threads: each has one */

/** The warp's element of this lane and row. Row after row, and warp after warp, they are in order.
 */
__device__ static unsigned place_of(int row)
{
    return blockIdx.x * TILE + threadIdx.x / 32 * (ROWS * 32) + row * 32 + threadIdx.x % 32;
}

/** The lanes below this one. */
__device__ static unsigned lanes_below(void)
{
    return (1u << threadIdx.x % 32) - 1;
}

/** As in 210: the sum of x over all threads before this one, and in *total over all of the block.
 */
__device__ static unsigned block_scan(unsigned x, unsigned *total)
{
    __shared__ unsigned sums[WARPS];
    unsigned lane = threadIdx.x % 32, sum = x, before = 0;
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned lower = __shfl_up_sync(0xffffffff, sum, distance);
        if (lane >= distance) sum += lower;
    }
    if (lane == 31) sums[threadIdx.x / 32] = sum;
    __syncthreads(); /* all sums are there */
    *total = 0;
    for (int warp = 0; warp < WARPS; warp++) {
        if (warp == threadIdx.x / 32) before = *total;
        *total += sums[warp];
    }
    __syncthreads(); /* ... and read, so that it may be called again */
    return before + sum - x;
}

/* ---- compaction and runs --------------------------------------------------------------------- */

/** Which elements are taken: those from low to high, or the first of each run. */
typedef struct choice {
    const unsigned *in; /* [n] */
    unsigned n, low, high;
    bool first_of_run;
} choice;

__device__ static bool is_taken(choice c, unsigned i)
{
    /* TODO: none beyond the end (about 3 lines). */
    return {};
}

/** count[tile] = how many are taken of each tile. */
__global__ static void count_kernel(unsigned *count, choice c)
{
    /* TODO: each thread its own, then all of the block (about 4 lines). */
}

/** The taken elements, one behind the other; their places in the array, unless place is NULL; and
 *  their *count. begin[tiles + 1]: how many are taken before each tile, and of all. */
__global__ static void take_kernel(unsigned *out, unsigned *place, unsigned *count,
                                   const unsigned *begin, choice c)
{
    /* TODO: each row's lanes by ballot; where the warp begins; store, row by row (about 16
       lines). */
}

/** Count, scan, take. */
static cudaError_t take(unsigned *out, unsigned *place, unsigned *count, choice c,
                        cudaStream_t stream)
{
    /* TODO: of nothing, a count of 0. One counter more than tiles, which a block beyond the end
       sets to 0: scanned, it is the count of all (about 11 lines). */
    NOT_IMPLEMENTED(out, place, count, c, stream);
    return cudaSuccess;
}

cudaError_t compact(unsigned *out, unsigned *count, const unsigned *in, size_t n, unsigned low,
                    unsigned high, cudaStream_t stream)
{
    /* TODO: what is refused; the choice (about 3 lines). */
    NOT_IMPLEMENTED(out, count, in, n, low, high, stream);
    return cudaSuccess;
}

/** lengths[r]: from where run r begins to where the next one does. begin [*runs]. Any number of
 *  blocks. */
__global__ static void lengths_kernel(unsigned *lengths, const unsigned *begin,
                                      const unsigned *runs, unsigned n)
{
    /* TODO: the last run ends with the array (about 4 lines). */
}

cudaError_t run_lengths(unsigned *values, unsigned *lengths, unsigned *runs, const unsigned *in,
                        size_t n, cudaStream_t stream)
{
    /* TODO: room for where each run begins; take; the lengths (about 12 lines). */
    NOT_IMPLEMENTED(values, lengths, runs, in, n, stream);
    return cudaSuccess;
}

/* ---- the sort -------------------------------------------------------------------------------- */

__device__ static unsigned digit_of(unsigned key, int shift)
{
    return key >> shift & (DIGITS - 1);
}

/** table[digit x tiles] = how often each tile has each digit. */
__global__ static void digits_kernel(unsigned *table, const unsigned *keys, unsigned n, int shift)
{
    /* TODO: count in shared memory (217), then each thread stores its digit (about 9 lines). */
}

/** How many with this digit the warp has had: in rows before, which count [DIGITS] has, and in
 * lower lanes. Then count has this row too. All lanes of the warp come. */
__device__ static unsigned rank_of(unsigned *count, unsigned digit)
{
    /* TODO: the lanes with this digit; the lowest of them counts them all (about 6 lines). */
    return {};
}

/** Thread d turns the counts of digit d, one per warp, into where the warp's keys with this digit
 *  go in the sorted tile. @return where the digit begins there */
__device__ static unsigned scan_digits(unsigned count[WARPS][DIGITS])
{
    /* TODO: behind all lower digits, and behind the warps before (about 9 lines). */
    return {};
}

/** A tile of pairs, sorted in shared memory, goes where table [digit x tiles] says its digits
 *  begin. */
__global__ static void move_kernel(unsigned *to_keys, unsigned *to_values, const unsigned *keys,
                                   const unsigned *values, const unsigned *table, unsigned n,
                                   int shift)
{
    __shared__ unsigned count[WARPS][DIGITS], begin[DIGITS];
    __shared__ uint2 sorted[TILE]; /* key, value */
    unsigned key[ROWS], rank[ROWS], *of_warp = count[threadIdx.x / 32];
    /* TODO: rank in the warp, digits and warps scanned, sorted, stored. A key of all ones
       stands for those beyond the end: it comes last (about 21 lines). */
}

/** A pass: count, scan, move, by the digit that begins at bit `shift`. */
static cudaError_t sort_digit(unsigned *to_keys, unsigned *to_values, const unsigned *keys,
                              const unsigned *values, unsigned *table, unsigned n, int shift,
                              cudaStream_t stream)
{
    /* TODO: a block per tile; the scan goes over the whole table (about 6 lines). */
    NOT_IMPLEMENTED(to_keys, to_values, keys, values, table, n, shift, stream);
    return cudaSuccess;
}

cudaError_t sort_pairs(unsigned *out_keys, unsigned *out_values, const unsigned *keys,
                       const unsigned *values, size_t n, cudaStream_t stream)
{
    /* TODO: room for the table and for n pairs more; four passes, from one place to the other,
       so that the last one ends in out (about 15 lines). */
    NOT_IMPLEMENTED(out_keys, out_values, keys, values, n, stream);
    return cudaSuccess;
}
