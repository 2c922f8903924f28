/*
 * hopper.h: barriers and registers of a Hopper GPU (compute capability 9.0), one function for each
 * instruction. tma.h has its copies of tiles, wgmma.h its products.
 *
 *   barrier_init, fence_barriers     an mbarrier; the TMA and other blocks see it
 *   barrier_expect, barrier_arrive   announce bytes; arrive here, or at another block's mbarrier
 *   barrier_wait                     wait until a phase is over
 *   cluster_sync                     all threads of a cluster
 *   group_sync, group_arrive         some warps of a block
 *   take_registers, give_registers   the groups of a block exchange registers
 *   hopper_multiprocessors           on the host: is this device a Hopper?
 *
 * You write the mbarrier yourself where it is taught, in 416. Other exercises call these. They need
 * nvcc with -arch=sm_90a. TENSOR_MAPS is 0 if another compiler reads the file. ON_HOPPER is 0 also
 * while nvcc compiles for another GPU: keep code that calls these functions in #if ON_HOPPER.
 *
 * An *mbarrier* is a counter of 64 bits in shared memory. Its phase is over when as many threads
 * have arrived as barrier_init said, and all bytes are written that barrier_expect announced. The
 * next phase then begins by itself. A wait names the parity of the phase that has to be over.
 * Before the first phase, parity 1 counts as over.
 */
#ifndef COURSE_HOPPER_H
#define COURSE_HOPPER_H

#include "tensor_core.h"
#include <cuda_runtime_api.h>
#include <stdint.h>

#if defined(__NVCC__)
#define TENSOR_MAPS 1
#else
#define TENSOR_MAPS 0
#endif

#if TENSOR_MAPS && (!defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL))
#define ON_HOPPER 1
#else
#define ON_HOPPER 0
#endif

/* ---- mbarriers ------------------------------------------------------------------------------- */

/** Begin an mbarrier whose phases wait for so many arrivals. By one thread.
 *  @param barrier its shared_address, a multiple of 8; so in all functions below */
__device__ __forceinline__ static void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

/** By the same thread, after the last barrier_init: the TMA and other blocks see the mbarriers. A
 *  __syncthreads or cluster_sync must follow before other threads use them. */
__device__ __forceinline__ static void fence_barriers(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/** Arrive, and let the phase last until so many more bytes have been written. */
__device__ __forceinline__ static void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/** Arrive. A thread that waits for the phase then sees what this thread wrote before. */
__device__ __forceinline__ static void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/** Arrive at the same mbarrier of block `block` of the cluster. It promises that block nothing of
 *  what this thread wrote: right for a thread that has only read. */
__device__ __forceinline__ static void barrier_arrive(uint32_t barrier, int block)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(barrier),
                 "r"(block)
                 : "memory");
}

/** Wait until the phase of this parity, 0 or 1, is over. */
__device__ __forceinline__ static void barrier_wait(uint32_t barrier, int parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* ---- barriers of threads --------------------------------------------------------------------- */

/** All threads of all blocks of the cluster wait for each other. */
__device__ __forceinline__ static void cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}

/** As __syncthreads, for only `threads` threads of the block, whole warps. Barrier `name` is 1 to
 *  15; __syncthreads has barrier 0. */
__device__ __forceinline__ static void group_sync(int name, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

/** Count as one of these threads, but go on without waiting. */
__device__ __forceinline__ static void group_arrive(int name, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

/* ---- registers ------------------------------------------------------------------------------- */

/** Keep only COUNT registers per thread, a multiple of 8, of those that the kernel began with. All
 *  warps of a group of 128 threads call it. */
template <int COUNT> __device__ __forceinline__ static void give_registers(void)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/** Have COUNT registers per thread; it waits until other groups of the block have given enough. */
template <int COUNT> __device__ __forceinline__ static void take_registers(void)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/* ---- host ------------------------------------------------------------------------------------ */

/** @return how many multiprocessors the device has; 0 if it is not of compute capability 9.0 */
__host__ __forceinline__ static int hopper_multiprocessors(void)
{
    int device, major, minor, count;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 0;
    return major == 9 && minor == 0 ? count : 0;
}

#endif
