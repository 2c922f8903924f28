/*
 * cuda_awbarrier_primitives.h: barriers that are 8-byte objects in shared memory, as the device has
 * them.
 */
#ifndef SOFTGPU_CUDA_AWBARRIER_PRIMITIVES_H
#define SOFTGPU_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_runtime.h"

#include <stdint.h>

#ifdef __CUDA__

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

/* clang-format off */

SOFTGPU_DEVICE unsigned softgpu_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

SOFTGPU_DEVICE uint32_t __mbarrier_maximum_count() { return (1 << 20) - 1; }
SOFTGPU_DEVICE void __mbarrier_init(__mbarrier_t *b, uint32_t count)
{ asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(softgpu_shared(b)), "r"(count) : "memory"); }
SOFTGPU_DEVICE void __mbarrier_inval(__mbarrier_t *b)
{ asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(softgpu_shared(b)) : "memory"); }

#define ARRIVE(name, op)                                                                           \
    SOFTGPU_DEVICE __mbarrier_token_t name(__mbarrier_t *b)                                        \
    {                                                                                              \
        __mbarrier_token_t before;                                                                 \
        asm volatile(op " %0, [%1];" : "=l"(before) : "r"(softgpu_shared(b)) : "memory");          \
        return before;                                                                             \
    }
ARRIVE(__mbarrier_arrive, "mbarrier.arrive.shared.b64")
ARRIVE(__mbarrier_arrive_and_drop, "mbarrier.arrive_drop.shared.b64")
#undef ARRIVE

#define WAIT(name, T, r, op)                                                                       \
    SOFTGPU_DEVICE bool name(__mbarrier_t *b, T what)                                              \
    {                                                                                              \
        unsigned done;                                                                             \
        asm volatile("{.reg .pred p; " op " p, [%1], %2; selp.u32 %0, 1, 0, p;}"                   \
                     : "=r"(done) : "r"(softgpu_shared(b)), r(what) : "memory");                   \
        return done;                                                                               \
    }
WAIT(__mbarrier_test_wait, __mbarrier_token_t, "l", "mbarrier.test_wait.shared.b64")
WAIT(softgpu_test_parity, unsigned, "r", "mbarrier.test_wait.parity.shared.b64")
#undef WAIT
SOFTGPU_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity)
{ return softgpu_test_parity(b, parity); }

SOFTGPU_DEVICE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    uint32_t count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}

/** The copies that this thread has begun arrive when they are done. */
SOFTGPU_DEVICE void softgpu_arrive_after_copies(__mbarrier_t *b)
{ asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(softgpu_shared(b)) : "memory"); }

/* clang-format on */
#endif
#endif
