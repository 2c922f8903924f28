/*
 * 210_scan.cu: at each place, the sum of all elements before it.
 *
 * The idea: each result needs the one before, and yet all can be computed in parallel. Cut the
 * input into one segment per block. A segment needs only a single number from those before it:
 * their sum. So first every block sums its segment; then one block scans these few sums; then every
 * block scans its own segment, starting from its number. (reduce, scan, scan)
 *
 * Inside a segment a block goes tile by tile. In a tile the lanes of a warp scan 32 neighbours by
 * shuffles, in five steps: after step d each lane has the sum of the 2d up to itself. The warps
 * then meet in shared memory.
 *
 * What it costs: the input is read twice and the output written once, 12 bytes per element where a
 * copy moves 8. A single pass is possible (2b): each block looks back at the sums that the blocks
 * before it have so far, and must not wait for one that has not begun.
 */
#include "210_scan/scan.h"
#include "not_implemented.h"

/* TODO: threads per block, the most blocks, the elements of a tile, and the array for the sums
   of the segments (about 6 lines). */

/* TODO: warp_scan: five shuffles up; lane i ends with the sum of lanes 0 .. i (about 7 lines).
 */

/* TODO: block_scan: the sum of x over all threads before this warp, and in *total over all of
   the block; every thread brings the sum of its warp (about 11 lines). */

/* TODO: sum_kernel: offset[block] = the sum of the block's segment of `segment` elements (about
   12 lines). */

/* TODO: offset_kernel, one block: each sum becomes the sum of those before it (about 11 lines).
 */

/* TODO: scan_kernel: the block's segment by tiles; each warp scans ROWS rows of 32, one after
   the other, then adds what comes before it (about 26 lines). */

cudaError_t exclusive_scan(int *out, const int *in, size_t n, cudaStream_t stream)
{
    /* TODO: segments of whole tiles, at most BLOCKS of them; then the three kernels (about 8
       lines). */
    NOT_IMPLEMENTED(out, in, n, stream);
    return cudaGetLastError();
}
