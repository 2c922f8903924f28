/* grid_sync.cu: cooperative launches: all blocks of a grid wait for each other. */
#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* Every round reads what the neighbouring block wrote in the round before. */
__global__ void pass_on(int *from, int *to, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int round = 0; round < rounds; round++) {
        to[i] = from[(i + blockDim.x) % n] + 1;
        grid.sync();
        int *swap = from;
        from = to;
        to = swap;
    }
}

static void rounds(int blocks, int threads)
{
    int n = blocks * threads, count = 10;
    std::vector<int> start(n);
    for (int i = 0; i < n; i++) start[i] = 1000 * i;
    int *from = to_device(start), *to = to_device(start);
    void *args[] = {&from, &to, &count};
    OK(cudaLaunchCooperativeKernel((void *)pass_on, blocks, threads, args, 0, 0));
    SYNC();
    std::vector<int> end = to_host(from, n);
    for (int i = 0; i < n; i++) CHECK(end[i] == start[(i + count * threads) % n] + count);
}

CASE(neighbours)
{
    rounds(1, 32);
    rounds(8, 32);
    rounds(16, 1024);
}

// ENV one_host_thread: SOFTGPU_THREADS=1
CASE(one_host_thread)
{
    rounds(3, 64);
    rounds(32, 100);
}

// ENV many_host_threads: SOFTGPU_THREADS=7
CASE(many_host_threads)
{
    rounds(20, 256);
}

/* As many blocks as fit at once, by the occupancy calculator, as the textbooks do it. */
CASE(as_many_as_fit)
{
    int each, processors, cooperative;
    OK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, pass_on, 64, 0));
    CHECK(cooperative && each * processors >= 64);
    rounds(each * processors, 64);
    int *p = nullptr, count = 0;
    void *args[] = {&p, &p, &count};
    FAILS(cudaLaunchCooperativeKernel((void *)pass_on, each * processors + 1, 64, args, 0, 0),
          cudaErrorCooperativeLaunchTooLarge);
    OK(cudaLaunchCooperativeKernel((void *)pass_on, 2, 64, args, 0, 0));
    FAILS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
}

__global__ void sum(const int *in, int *out, int n)
{
    extern __shared__ int part[];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int mine = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) mine += in[i];
    part[block.thread_rank()] = mine;
    for (int half = block.size() / 2; half > 0; half /= 2) {
        block.sync();
        if (block.thread_rank() < half)
            part[block.thread_rank()] += part[block.thread_rank() + half];
    }
    if (block.thread_rank() == 0) out[1 + grid.block_rank()] = part[0];
    grid.sync();
    if (grid.thread_rank() == 0) {
        int all = 0;
        for (int b = 0; b < grid.num_blocks(); b++) all += out[1 + b];
        out[0] = grid.is_valid() ? all : -1;
    }
}

/* Each block has shared memory of its own; a launch by attributes does the same. */
CASE(reduction)
{
    const int n = 100000, blocks = 12, threads = 128;
    std::vector<int> in(n, 3);
    int *device = to_device(in), *out = device_array<int>(1 + blocks);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = blocks, config.blockDim = threads;
    config.dynamicSmemBytes = threads * sizeof(int);
    config.attrs = &attribute, config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, sum, (const int *)device, out, n));
    SYNC();
    CHECK(to_host(out, 1)[0] == 3 * n);
}

__global__ void arrive_then_wait(int *count, int *seen)
{
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) atomicAdd(count, 1);
    cg::grid_group::arrival_token token = grid.barrier_arrive();
    int local = 0;
    for (int i = 0; i < 100 * (int)blockIdx.x; i++) local += i;
    grid.barrier_wait(std::move(token));
    if (threadIdx.x == 0) seen[blockIdx.x] = atomicAdd(count, 0) + (local < 0);
}

CASE(split_barrier)
{
    std::vector<int> zero(16);
    int *count = to_device(zero), *seen = to_device(zero);
    void *args[] = {&count, &seen};
    OK(cudaLaunchCooperativeKernel((void *)arrive_then_wait, 16, 64, args, 0, 0));
    SYNC();
    for (int got : to_host(seen, 16)) CHECK(got == 16);
}

__global__ void sync_once(int *p)
{
    p[blockIdx.x] = 1;
    cg::this_grid().sync(); // FINDING not_cooperative: trap
}

// STDERR not_cooperative: cudaLaunchCooperativeKernel
CASE(not_cooperative)
{
    sync_once<<<4, 32>>>(device_array<int>(4));
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

__global__ void one_block_stays_away(int *p)
{
    if (blockIdx.x == 2) return;
    p[blockIdx.x] = 1;
    cg::this_grid().sync(); // FINDING a_block_is_missing: deadlock
}

// STDERR a_block_is_missing: waits for ever for the whole grid: 1 of 4 blocks
CASE(a_block_is_missing)
{
    int *p = device_array<int>(4);
    void *args[] = {&p};
    FAILS(cudaLaunchCooperativeKernel((void *)one_block_stays_away, 4, 64, args, 0, 0),
          cudaErrorLaunchFailure);
}

__global__ void uneven(int *p)
{
    for (int i = 0; i <= (int)blockIdx.x; i++) {
        p[blockIdx.x * 8 + i] = i;
        cg::this_grid().sync(); // FINDING uneven_rounds: deadlock
    }
}

CASE(uneven_rounds)
{
    int *p = device_array<int>(64);
    void *args[] = {&p};
    FAILS(cudaLaunchCooperativeKernel((void *)uneven, 4, 64, args, 0, 0), cudaErrorLaunchFailure);
}

/* A barrier written by hand: works when all blocks are there, and ends when they cannot be. */
__global__ void by_hand(volatile int *gate, int blocks)
{
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd((int *)gate, 1);
        while (*gate < blocks) continue; // FINDING by_hand_without_residence: endless-loop
    }
    __syncthreads();
}

CASE(by_hand_cooperative)
{
    int blocks = 24, *gate = to_device(std::vector<int>(1));
    void *args[] = {&gate, &blocks};
    OK(cudaLaunchCooperativeKernel((void *)by_hand, blocks, 64, args, 0, 0));
    SYNC();
    CHECK(to_host(gate, 1)[0] == blocks);
}

// ENV by_hand_without_residence: SOFTGPU_BUDGET=10M
CASE(by_hand_without_residence)
{
    by_hand<<<24, 64>>>(to_device(std::vector<int>(1)), 24);
    FAILS(cudaGetLastError(), cudaErrorLaunchTimeout);
}

__device__ __noinline__ void meet(cg::grid_group &grid)
{
    grid.sync();
}

__global__ void through_a_call(int *p, int *q)
{
    cg::grid_group grid = cg::this_grid();
    p[grid.block_rank()] = grid.block_rank();
    meet(grid);
    q[grid.block_rank()] = p[(grid.block_rank() + 1) % grid.num_blocks()];
}

CASE(sync_in_a_function)
{
    int *p = device_array<int>(8), *q = device_array<int>(8);
    void *args[] = {&p, &q};
    OK(cudaLaunchCooperativeKernel((void *)through_a_call, 8, 32, args, 0, 0));
    SYNC();
    for (int b = 0; b < 8; b++) CHECK(to_host(q, 8)[b] == (b + 1) % 8);
}
