/*
 * tensor_core.h: the instructions that feed tensor cores, one function each.
 *
 *   shared_address                                     an address in the form that they take
 *   cp_async_cg, cp_async_ca                           16 bytes from global to shared memory
 *   cp_async_commit, cp_async_wait, cp_async_wait_all  waiting for such copies
 *   ldmatrix, ldmatrix_trans                           from shared memory into fragments
 *   mma_bf16, mma_f16, mma_tf32, mma_s8                sum += a b
 *
 * You write them yourself where they are taught: cp.async in 2a and 402, ldmatrix and mma in 4a.
 * Other exercises call these. They need compute capability 8.0 or newer, or softgpu.
 *
 * A copy belongs to its thread. ldmatrix and mma belong to the warp: all of its 32 lanes call them
 * together.
 *
 * A *fragment* is a small matrix that a warp holds together. It is made of matrices of 8 rows of 16
 * bytes. Each lane has one word, 4 bytes, of each such matrix:
 *
 *     bytes    0-3  4-7  8-11 12-15
 *     row 0     0    1    2    3         lane l: row l / 4, bytes 4 (l % 4) to 4 (l % 4) + 3
 *     row 1     4    5    6    7
 *     ...
 *     row 7    28   29   30   31
 *
 * The operands of mma are a[16 x k] and b[k x 8]. k is 32 bytes: 16 bf16 or halfs, 8 floats of
 * TF32, or 32 int8. The rows of a run along k, and so do the columns of b. Word i of a lane belongs
 * to matrix i:
 *
 *     a:  bytes 0-15   16-31         b:  bytes 0-15   16-31         sum[16 x 8]:
 *         +----------+----------+        +----------+----------+        +---------------+
 *   rows  |   a[0]   |   a[2]   | cols   |   b[0]   |   b[1]   |  rows  | sum[0] sum[1] |
 *   0-7   +----------+----------+ 0-7    +----------+----------+  0-7   +---------------+
 *   8-15  |   a[1]   |   a[3]   |                                 8-15  | sum[2] sum[3] |
 *         +----------+----------+                                       +---------------+
 *
 * A sum is a whole word, so a row of 8 takes two words of each lane: lane l has columns 2 (l % 4)
 * and 2 (l % 4) + 1 of row l / 4, and the same columns of row l / 4 + 8.
 */
#ifndef COURSE_TENSOR_CORE_H
#define COURSE_TENSOR_CORE_H

#include <stdint.h>

/** The address in shared memory that p points to: 32 bits, in bytes. */
__device__ __forceinline__ static uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/**
 * Start to copy 16 bytes to shared memory, not by way of registers. If `inside` is false, it stores
 * 16 zeros and reads nothing. The copy goes on while the thread does other things. `cg` uses L2
 * only: right for data that a multiprocessor reads once.
 * @param to, from multiples of 16
 */
__device__ __forceinline__ static void cp_async_cg(uint32_t to, const void *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

/** The same, but through L1 too: right for data that the multiprocessor soon reads again. */
__device__ __forceinline__ static void cp_async_ca(uint32_t to, const void *from, bool inside)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 16 : 0)
                 : "memory");
}

/** Make a group of this thread's copies since its last commit. An empty group counts, too. */
__device__ __forceinline__ static void cp_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/**
 * Wait until at most GROUPS of this thread's groups are on their way: all but the newest GROUPS
 * have arrived. It does not wait for copies of other threads, so a barrier must follow before a
 * thread reads what another one copied.
 */
template <int GROUPS> __device__ __forceinline__ static void cp_async_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

/** Wait for all copies of this thread, in a group or not. Here, too, a barrier must follow. */
__device__ __forceinline__ static void cp_async_wait_all(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* ---- fragments ------------------------------------------------------------------------------- */

/**
 * Load four matrices of 8 rows of 16 bytes: to[i] is this lane's word of matrix i. The rows may be
 * anywhere: lanes 8 i to 8 i + 7 give the addresses of those of matrix i. Eight rows that begin in
 * eight different groups of four banks are read at once, others in turn: hence swizzle or padding.
 *
 * Lane l gives the address of
 *     for a                  row l % 16, from byte l / 16 * 16 on: to is a
 *     for 16 columns of b    column l / 16 * 8 + l % 8, from byte l / 8 % 2 * 16 on:
 *                            to[0], to[1] are b of columns 0-7, to[2], to[3] of columns 8-15
 *
 * @param address in shared memory, a multiple of 16
 */
__device__ __forceinline__ static void ldmatrix(uint32_t to[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

/**
 * The same for matrices of 8 x 8 elements of 2 bytes, each transposed. So b[k x n], whose rows run
 * across k in memory, arrives as columns along k. For 16 columns of b, lane l gives the address of
 * row l % 16, from column l / 16 * 8 on. Elements of 1 or 4 bytes cannot be transposed: pairs of
 * them, or halves, would move.
 */
__device__ __forceinline__ static void ldmatrix_trans(uint32_t to[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

/* ---- products -------------------------------------------------------------------------------- */

/** sum[16 x 8] += a[16 x 16] b[16 x 8] of bf16. Products are exact; sums are fp32, truncated. */
__device__ __forceinline__ static void mma_bf16(float sum[4], const uint32_t a[4],
                                                const uint32_t b[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/** sum[16 x 8] += a[16 x 16] b[16 x 8] of halfs. */
__device__ __forceinline__ static void mma_f16(float sum[4], const uint32_t a[4],
                                               const uint32_t b[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/** sum[16 x 8] += a[16 x 8] b[8 x 8] of floats, whose last 13 bits are ignored: the caller rounds
 *  them. */
__device__ __forceinline__ static void mma_tf32(float sum[4], const uint32_t a[4],
                                                const uint32_t b[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/** sum[16 x 8] += a[16 x 32] b[32 x 8] of int8, in ints: exact. */
__device__ __forceinline__ static void mma_s8(int sum[4], const uint32_t a[4], const uint32_t b[2])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif
