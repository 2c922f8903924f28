/*
 * cuda_pipeline.h: copies from global to shared memory that run on while the thread does not wait.
 */
#ifndef SOFTGPU_CUDA_PIPELINE_H
#define SOFTGPU_CUDA_PIPELINE_H

#include "cuda_runtime.h"

#ifdef __CUDA__

/** 4, 8 or 16 bytes, of which the last `zeros` are not read but set to 0. */
SOFTGPU_DEVICE void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes,
                                            size_t zeros = 0)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(shared), read = (unsigned)(bytes - zeros);
    size_t from = __cvta_generic_to_global(global);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(read)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(read)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(read)
                     : "memory");
}
SOFTGPU_DEVICE void __pipeline_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/** Until all but the last `count` commits are done; a constant. */
#define __pipeline_wait_prior(count) asm volatile("cp.async.wait_group %0;" ::"n"(count) : "memory")

#endif
#endif
