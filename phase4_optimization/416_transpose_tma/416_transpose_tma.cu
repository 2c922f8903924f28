/*
 * 416_transpose_tma.cu: a transpose whose tiles the TMA brings, each by one instruction of one
 * thread.
 *
 * 209's threads compute an address for every number, load it into a register and store it into
 * shared memory. A Hopper GPU has a unit for that, the TMA. The host describes the matrix once, in
 * a tensor map. Then one thread, the producer, says "the tile at row 64, column 32", and the unit
 * does the rest: addresses, copy, zeros beyond the matrix's ends.
 *
 * It works while the threads go on, so they have to wait for the tile. An *mbarrier* counts the
 * bytes that the TMA has written. When all are there, its phase is over, and the next one begins. A
 * wait names the parity of a phase, a bit that flips with each tile.
 *
 * The tile has no room for 209's padding: its rows are 128 bytes, one behind the other. Instead the
 * TMA *swizzles* them: the 16 bytes of chunk c of row r go to place c ^ r % 8. So the eight chunks
 * below each other lie in eight places side by side, which are all 32 banks. A thread takes a
 * chunk, four numbers of one row, and stores them into four rows of out; its neighbours have the
 * next rows of in, which are the next columns of out.
 *
 * The cost removed: registers, addresses, and a store to shared memory for each number. The cost
 * left: the block waits while its tile is on the way; only other blocks work meanwhile. 4b has a
 * ring of tiles.
 *
 * For compute capability 9.0, rows of whole 16 bytes; everything else goes to 209.
 */
#include "209_transpose/transpose.h"
#include "416_transpose_tma/transpose_tma.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <stdint.h>
#if defined(__NVCC__) /* another compiler knows the way to 209 alone */
#include <cudaTypedefs.h>
#define TENSOR_MAPS 1
#else
#define TENSOR_MAPS 0
#endif

#define COLS    32 /* of in, in a tile: 128 bytes, which the swizzle permutes */
#define ROWS    64
#define CHUNKS  (COLS / 4) /* of 16 bytes in a row */
#define THREADS (32 * CHUNKS)
#define BLOCKS  8 /* a multiprocessor */

#if TENSOR_MAPS && (!defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL))

/** What instructions take as an address of shared memory. */
__device__ __forceinline__ static uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/** Begin it: its phases wait for so many arrivals. By one thread; the TMA is to see it, too. */
__device__ __forceinline__ static void barrier_init(uint64_t *barrier, int arrivals)
{
    /* TODO: mbarrier.init.shared::cta.b64, then fence.mbarrier_init.release.cluster (about 4
       lines). */
}

/** Arrive, and let the phase last until so many bytes have been written, too. */
__device__ __forceinline__ static void barrier_expect(uint64_t *barrier, int bytes)
{
    /* TODO: mbarrier.arrive.expect_tx.shared::cta.b64, whose result nobody needs (about 3
       lines). */
}

/** Wait until the phase of this parity is over. */
__device__ __forceinline__ static void barrier_wait(uint64_t *barrier, int parity)
{
    /* TODO: mbarrier.try_wait.parity.shared::cta.b64, again and again: it may give up early
       (about 7 lines). */
}

/** Ask the TMA for the box whose corner is (row, col). It tells the barrier of the bytes. */
__device__ __forceinline__ static void copy_tile(void *to, const CUtensorMap *from,
                                                 uint64_t *barrier, int row, int col)
{
    /* TODO: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
       [to], [map, {col, row}], [barrier] (about 4 lines). */
}

/** The tile whose corner is (top, left) of in, to its place in out. */
__device__ static void turn(float *out, const float4 tile[ROWS][CHUNKS], int top, int left,
                            int rows, int cols)
{
    /* TODO: a warp takes one chunk of each row, a lane the rows 32 apart: find the chunk where
       the swizzle put it, and store its four numbers into four rows of out (about 10 lines). */
}

#endif

#if TENSOR_MAPS

/** Block b takes the tiles b, b + gridDim.x, ... of `tiles`, of which `across` lie in a row. */
__global__ static void __launch_bounds__(THREADS)
    transpose_tma_kernel(float *out, const __grid_constant__ CUtensorMap in, int rows, int cols,
                         int across, int tiles)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(1024) float4 tile[ROWS][CHUNKS]; /* the swizzle repeats every 8 rows */
    __shared__ uint64_t full;
    /* TODO: begin the barrier. Tile by tile: one thread expects its bytes and asks for it, all
       wait for the phase and turn it; it must not be overwritten before all have (about 15 lines).
     */
#endif
}

/** The driver's cuTensorMapEncodeTiled, which the runtime finds; NULL: it is not there. */
static PFN_cuTensorMapEncodeTiled_v12000 find_encoder(void)
{
    PFN_cuTensorMapEncodeTiled_v12000 encode = NULL;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    return error == cudaSuccess ? encode : NULL;
}

/** Describe x[rows x cols] to the TMA, in boxes of ROWS x COLS, swizzled. */
static cudaError_t describe(CUtensorMap *map, const float *x, int rows, int cols)
{
    const PFN_cuTensorMapEncodeTiled_v12000 encode = find_encoder();
    if (!encode) return cudaErrorNotSupported;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    /* TODO: sizes and box, the fastest dimension first; the bytes from row to row; each element
       (a step of 1); floats, no interleave, a swizzle of 128 bytes, zeros outside (about 8 lines).
     */
    NOT_IMPLEMENTED(map, x, rows, cols);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/** Of a device of compute capability 9.0: how many multiprocessors? 0: it is another one. */
static int hopper_multiprocessors(void)
{
    int device, major, minor, count;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 0;
    return major == 9 && minor == 0 ? count : 0;
}

static cudaError_t launch(float *out, const float *in, int rows, int cols, int multiprocessors,
                          cudaStream_t stream)
{
    CUtensorMap map;
    const cudaError_t error = describe(&map, in, rows, cols);
    if (error != cudaSuccess) return error;
    /* TODO: a block for each tile, but no more than BLOCKS a multiprocessor (about 4 lines). */
    NOT_IMPLEMENTED(out, in, rows, cols, multiprocessors, stream);
    return cudaGetLastError();
}

#endif

cudaError_t transpose_tma(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    /* TODO: by the TMA where the device has it and rows of in are whole 16 bytes; else by 209
       (about 8 lines). */
    NOT_IMPLEMENTED(out, in, rows, cols, stream);
    return cudaGetLastError();
}
