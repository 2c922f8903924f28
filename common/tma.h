/*
 * tma.h: the TMA of a Hopper GPU, a unit that copies whole tiles.
 *
 *   describe, describe_3d, encode_pitched     on the host: a tensor map, which describes a matrix
 *   copy_tile, copy_tile_3d, copy_tile_4d     a box of the matrix to shared memory
 *   copy_tile_to_blocks                       the same box to several blocks of a cluster
 *   store_tile                                a box from shared memory to the matrix
 *   store_commit, store_wait, store_wait_all  waiting for such stores
 *   fence_async                               before a unit reads what threads wrote
 *
 * You write the first copy yourself in 416. hopper.h says when these may be called, and has the
 * mbarriers that wait for copies.
 *
 * A kernel gets the tensor map as a parameter, `const __grid_constant__ CUtensorMap`. One thread
 * asks for a box by the coordinates of its corner; the TMA finds addresses by itself. Outside of
 * the matrix it reads zeros and stores nothing.
 *
 * A box is dense in shared memory: its rows follow each other. With a swizzle of 128 bytes, a row
 * has 128 bytes, and its 16-byte chunk c is at place c ^ (row % 8), so that columns meet no bank
 * conflicts.
 */
#ifndef COURSE_TMA_H
#define COURSE_TMA_H

#include "hopper.h"

#if TENSOR_MAPS

#include <cudaTypedefs.h>

/* ---- host ------------------------------------------------------------------------------------ */

/** The bytes of an element; int8 and fp8 are UINT8. */
static inline cuuint64_t bytes_of(CUtensorMapDataType type)
{
    const bool two =
        type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    return type == CU_TENSOR_MAP_DATA_TYPE_UINT8 ? 1 : two ? 2 : 4;
}

/**
 * By the driver's encoder, which the runtime finds, so that nothing has to be linked.
 * @param sizes, box [rank] the fastest first. @param pitch [rank - 1] bytes from a row to the next,
 *                          from a plane to the next, ...: multiples of 16
 */
static inline cudaError_t encode_pitched(CUtensorMap *map, CUtensorMapDataType type, int rank,
                                         const void *x, const cuuint64_t sizes[],
                                         const cuuint64_t pitch[], const cuuint32_t box[],
                                         CUtensorMapSwizzle swizzle)
{
    PFN_cuTensorMapEncodeTiled_v12000 encode = NULL;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    const cuuint32_t every[5] = {1, 1, 1, 1, 1};
    const CUresult result =
        encode(map, type, (cuuint32_t)rank, (void *)x, sizes, pitch, box, every,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/** Of rows and planes that follow each other. */
static inline cudaError_t encode_map(CUtensorMap *map, CUtensorMapDataType type, int rank,
                                     const void *x, const cuuint64_t sizes[],
                                     const cuuint32_t box[], CUtensorMapSwizzle swizzle)
{
    const cuuint64_t row = sizes[0] * bytes_of(type), pitch[2] = {row, row * sizes[1]};
    return encode_pitched(map, type, rank, x, sizes, pitch, box, swizzle);
}

/**
 * Describe x[rows x cols] to the TMA, in boxes of box_rows x box_cols (each at most 256).
 * @param type    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, ..._UINT8, ..._FLOAT32
 * @param x       16-byte aligned; so are the rows
 * @param swizzle CU_TENSOR_MAP_SWIZZLE_128B, where box_cols are 128 bytes, or ..._NONE
 */
static inline cudaError_t describe(CUtensorMap *map, CUtensorMapDataType type, const void *x,
                                   int rows, int cols, int box_rows, int box_cols,
                                   CUtensorMapSwizzle swizzle)
{
    const cuuint64_t sizes[2] = {(cuuint64_t)cols, (cuuint64_t)rows}; /* the fastest first */
    const cuuint32_t box[2] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows};
    return encode_map(map, type, 2, x, sizes, box, swizzle);
}

/** The same for x[planes x rows x cols], in boxes of one plane: no box reaches into the next. */
static inline cudaError_t describe_3d(CUtensorMap *map, CUtensorMapDataType type, const void *x,
                                      int planes, int rows, int cols, int box_rows, int box_cols,
                                      CUtensorMapSwizzle swizzle)
{
    const cuuint64_t sizes[3] = {(cuuint64_t)cols, (cuuint64_t)rows, (cuuint64_t)planes};
    const cuuint32_t box[3] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows, 1};
    return encode_map(map, type, 3, x, sizes, box, swizzle);
}

/* ---- to shared memory ------------------------------------------------------------------------ */

#define TMA_COPY(rank)                                                                             \
    "cp.async.bulk.tensor." rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"

/**
 * Ask for the box whose corner is (row, col). The TMA reports its bytes to the mbarrier, all of the
 * box, also those outside of the matrix: barrier_expect them first. By one thread.
 * @param to a shared_address: a multiple of 1024 with a swizzle of 128 bytes, else of 128
 */
__device__ __forceinline__ static void copy_tile(uint32_t to, const CUtensorMap *from,
                                                 uint32_t barrier, int row, int col)
{
    asm volatile(TMA_COPY("2") " [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(from), "r"(barrier),
                 "r"(col), "r"(row)
                 : "memory");
}

/** The same, from a plane. */
__device__ __forceinline__ static void copy_tile_3d(uint32_t to, const CUtensorMap *from,
                                                    uint32_t barrier, int plane, int row, int col)
{
    asm volatile(TMA_COPY("3") " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to), "l"(from),
                 "r"(barrier), "r"(col), "r"(row), "r"(plane)
                 : "memory");
}

/** The same, from images of pixels: the corner is (row, col) of an image, from its element `at` on. */
__device__ __forceinline__ static void copy_tile_4d(uint32_t to, const CUtensorMap *from,
                                                    uint32_t barrier, int image, int row, int col,
                                                    int at)
{
    asm volatile(TMA_COPY("4") " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(from),
                 "r"(barrier), "r"(at), "r"(col), "r"(row), "r"(image)
                 : "memory");
}

/** Multicast: the box, and the report to the mbarrier, arrive at the same addresses in each block i
 *  of the cluster for which bit i of `blocks` is set. */
__device__ __forceinline__ static void copy_tile_to_blocks(uint32_t to, const CUtensorMap *from,
                                                           uint32_t barrier, int row, int col,
                                                           int blocks)
{
    asm volatile(TMA_COPY("2") ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
                 "l"(from), "r"(barrier), "r"(col), "r"(row), "h"((uint16_t)blocks)
                 : "memory");
}

/* ---- to global memory ------------------------------------------------------------------------ */

/** What this thread wrote to shared memory is seen by the TMA and by wgmma. All threads that wrote
 * a box call it; then a barrier; then one of them stores the box. */
__device__ __forceinline__ static void fence_async(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/** Begin to store the box whose corner is (row, col). By one thread. */
__device__ __forceinline__ static void store_tile(const CUtensorMap *to, uint32_t from, int row,
                                                  int col)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            to),
        "r"(from), "r"(col), "r"(row)
        : "memory");
}

/** Make a group of this thread's stores since its last commit. */
__device__ __forceinline__ static void store_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/** Wait until at most GROUPS of this thread's groups still read shared memory: the boxes of older
 *  ones may be written again. */
template <int GROUPS> __device__ __forceinline__ static void store_wait(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory");
}

/** Wait until all of this thread's groups are in global memory. */
__device__ __forceinline__ static void store_wait_all(void)
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif

#endif
