/* cooperative_algorithms.cu: what cooperative groups compute together, in groups of every kind. */
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr int N = 64;

static std::vector<int> numbers()
{
    std::vector<int> v(N);
    for (int i = 0; i < N; i++) v[i] = i * 7 % 23 - 5;
    return v;
}

/* The values of the `size` lanes of i's tile. */
static std::vector<int> tile_of(const std::vector<int> &v, int i, int size)
{
    return std::vector<int>(v.begin() + i / size * size, v.begin() + i / size * size + size);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

template <int SIZE> __global__ void in_tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<SIZE>(block);
    int v = in[threadIdx.x], *o = out + 10 * threadIdx.x, all_equal;
    o[0] = cg::reduce(tile, v, cg::plus<int>());
    o[1] = cg::reduce(tile, v, cg::less<int>());
    o[2] = cg::reduce(tile, v, cg::bit_xor<int>());
    o[3] = cg::inclusive_scan(tile, v);
    o[4] = cg::exclusive_scan(tile, v, cg::plus<int>());
    o[5] = tile.shfl_down(v, 1);
    o[6] = (int)tile.ballot(v > 3);
    o[7] = (int)tile.match_any(v % 2);
    o[8] = tile.any(v == 2) * 2 + tile.all(v > -5);
    tile.match_all(v, all_equal);
    o[9] = (int)tile.meta_group_rank() * 100 + (int)tile.thread_rank() + 1000 * all_equal;
}

template <int SIZE> static void try_tiles()
{
    std::vector<int> v = numbers();
    int *out = device_array<int>(10 * N);
    in_tiles<SIZE><<<1, N>>>(to_device(v), out);
    SYNC();
    std::vector<int> got = to_host(out, 10 * N);
    for (int i = 0; i < N; i++) {
        std::vector<int> tile = tile_of(v, i, SIZE);
        int rank = i % SIZE, sum = 0, least = 99, x = 0, before = 0, large = 0, like = 0;
        bool any = false, all = true, equal = true;
        for (int k = 0; k < SIZE; k++) {
            sum += tile[k], least = std::min(least, tile[k]), x ^= tile[k];
            before += k < rank ? tile[k] : 0;
            large |= (tile[k] > 3) << k, like |= (tile[k] % 2 == v[i] % 2) << k;
            any |= tile[k] == 2, all &= tile[k] > -5, equal &= tile[k] == v[i];
        }
        const int *o = &got[10 * i];
        CHECK(o[0] == sum && o[1] == least && o[2] == x);
        CHECK(o[3] == before + v[i] && o[4] == before);
        CHECK(o[5] == (rank + 1 < SIZE ? tile[rank + 1] : v[i]));
        CHECK(o[6] == large && o[7] == like && o[8] == any * 2 + all);
        CHECK(o[9] == i / SIZE * 100 + rank + 1000 * equal);
    }
}

CASE(tiles)
{
    try_tiles<32>();
    try_tiles<16>();
    try_tiles<4>();
    try_tiles<2>();
    try_tiles<1>();
}

template <typename T> __global__ void reduce_type(const T *in, T *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    out[3 * threadIdx.x] = cg::reduce(tile, in[threadIdx.x], cg::plus<T>());
    out[3 * threadIdx.x + 1] = cg::reduce(tile, in[threadIdx.x], cg::greater<T>());
    out[3 * threadIdx.x + 2] = cg::inclusive_scan(tile, in[threadIdx.x]);
}

template <typename T> static void try_type()
{
    std::vector<T> v(32);
    for (int i = 0; i < 32; i++) v[i] = (T)(i * 5 % 32 + 1);
    T *out = device_array<T>(96);
    reduce_type<<<1, 32>>>(to_device(v), out);
    SYNC();
    std::vector<T> got = to_host(out, 96);
    T before = 0;
    for (int i = 0; i < 32; i++) {
        before += v[i];
        CHECK(got[3 * i] == 528 && got[3 * i + 1] == 32 && got[3 * i + 2] == before);
    }
}

CASE(types)
{
    try_type<float>();
    try_type<double>();
    try_type<unsigned>();
    try_type<long long>();
    try_type<unsigned long long>();
}

/* ---- groups of whoever is there -------------------------------------------------------------- */

__global__ void coalesced(const int *in, int *out)
{
    int v = in[threadIdx.x], *o = out + 6 * threadIdx.x;
    if (v <= 0) return;
    cg::coalesced_group here = cg::coalesced_threads();
    o[0] = (int)here.size() * 100 + (int)here.thread_rank();
    o[1] = here.shfl(v, 2);
    o[2] = here.shfl_up(v, 1);
    o[3] = cg::reduce(here, v, cg::plus<int>());
    o[4] = cg::exclusive_scan(here, v);
    o[5] = (int)here.ballot(v % 2);
}

CASE(coalesced_threads)
{
    std::vector<int> v = numbers();
    int *out = to_device(std::vector<int>(6 * N));
    coalesced<<<1, N>>>(to_device(v), out);
    SYNC();
    std::vector<int> got = to_host(out, 6 * N);
    for (int warp = 0; warp < N; warp += 32) {
        std::vector<int> there;
        int sum = 0, odd = 0, before = 0;
        for (int i = 0; i < 32; i++) {
            if (v[warp + i] <= 0) continue;
            odd |= v[warp + i] % 2 << there.size();
            there.push_back(v[warp + i]);
            sum += v[warp + i];
        }
        for (int i = 0, rank = 0; i < 32; i++) {
            if (v[warp + i] <= 0) continue;
            const int *o = &got[6 * (warp + i)];
            CHECK(o[0] == (int)there.size() * 100 + rank && o[1] == there[2]);
            CHECK(o[2] == there[rank ? rank - 1 : 0] && o[3] == sum && o[4] == before);
            CHECK(o[5] == odd);
            before += there[rank++];
        }
    }
}

__global__ void by_label(const int *in, int *out)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int v = in[threadIdx.x], *o = out + 3 * threadIdx.x;
    cg::coalesced_group alike = cg::labeled_partition(tile, (v + 5) % 3);
    o[0] = (int)alike.size();
    o[1] = cg::reduce(alike, v, cg::plus<int>());
    cg::coalesced_group odd = cg::binary_partition(tile, v % 2 != 0);
    o[2] = cg::reduce(odd, v, cg::less<int>());
}

CASE(partitions)
{
    std::vector<int> v = numbers();
    int *out = device_array<int>(3 * N);
    by_label<<<1, N>>>(to_device(v), out);
    SYNC();
    std::vector<int> got = to_host(out, 3 * N);
    for (int i = 0; i < N; i++) {
        int count = 0, sum = 0, least = 99;
        for (int x : tile_of(v, i, 32)) {
            bool alike = (x + 5) % 3 == (v[i] + 5) % 3;
            count += alike, sum += alike ? x : 0;
            if ((x % 2 != 0) == (v[i] % 2 != 0)) least = std::min(least, x);
        }
        CHECK(got[3 * i] == count && got[3 * i + 1] == sum && got[3 * i + 2] == least);
    }
}

/* ---- one for all ----------------------------------------------------------------------------- */

__global__ void one_for_all(int *counters, int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    cg::invoke_one(tile, [&] { atomicAdd(&counters[0], 1); });
    out[threadIdx.x] = cg::invoke_one_broadcast(tile, [&] { return atomicAdd(&counters[1], 1); });
}

CASE(invoke_one)
{
    int *counters = to_device(std::vector<int>(2)), *out = device_array<int>(N);
    one_for_all<<<1, N>>>(counters, out);
    SYNC();
    std::vector<int> got = to_host(out, N), count = to_host(counters, 2);
    CHECK(count[0] == N / 8 && count[1] == N / 8);
    int seen = 0;
    for (int i = 0; i < N; i++) CHECK(got[i] == got[i / 8 * 8]), seen |= 1 << got[i];
    CHECK(seen == 255);
}

__global__ void blocks(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ int s[N];
    s[block.thread_rank()] = (int)block.thread_rank();
    block.sync();
    int v = s[N - 1 - block.thread_rank()];
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    out[block.thread_rank()] = v + 1000 * (int)block.size() + (int)block.group_index().x;
}

CASE(block_group)
{
    int *out = device_array<int>(N);
    blocks<<<1, dim3(8, 4, 2)>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, N);
    for (int i = 0; i < N; i++) CHECK(got[i] == N - 1 - i + 1000 * N);
}
