/*
 * cuda_awbarrier.h: the class around them that came before cuda::barrier.
 */
#ifndef SOFTGPU_CUDA_AWBARRIER_H
#define SOFTGPU_CUDA_AWBARRIER_H

#include "cuda_awbarrier_primitives.h"

#ifdef __CUDA__
namespace nvcuda
{
namespace experimental
{

/* clang-format off */
class awbarrier
{
    __mbarrier_t state;

  public:
    typedef __mbarrier_token_t arrival_token;

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    __device__ friend void init(awbarrier *b, uint32_t count) { __mbarrier_init(&b->state, count); }
    __device__ friend void inval(awbarrier *b) { __mbarrier_inval(&b->state); }
    __device__ friend uint32_t token_pending_count(arrival_token token) { return __mbarrier_token_pending_count(token); }
    __device__ static constexpr uint32_t max() { return (1 << 20) - 1; }
    __device__ arrival_token arrive() { return __mbarrier_arrive(&state); }
    __device__ void arrive_and_drop() { __mbarrier_arrive_and_drop(&state); }
    __device__ bool test_wait(arrival_token token) { return __mbarrier_test_wait(&state, token); }
    __device__ void wait(arrival_token token) { while (!test_wait(token)) continue; }
    __device__ void arrive_and_wait() { wait(arrive()); }
};
/* clang-format on */

} // namespace experimental
} // namespace nvcuda
#endif
#endif
