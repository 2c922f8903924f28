/* warp.cu: what the 32 threads of a warp do together. */
#include "check.h"

static const unsigned ALL = 0xffffffff;

__global__ void shuffles(int *out)
{
    int t = threadIdx.x, *o = out + t * 6;
    o[0] = __shfl_sync(ALL, t * 10, 5);
    o[1] = __shfl_up_sync(ALL, t, 3);
    o[2] = __shfl_down_sync(ALL, t, 3);
    o[3] = __shfl_xor_sync(ALL, t, 9);
    o[4] = __shfl_sync(ALL, t, 2, 8);
    o[5] = __shfl_down_sync(ALL, t, 2, 4);
}

CASE(shuffle)
{
    int *out = device_array<int>(32 * 6);
    shuffles<<<1, 32>>>(out);
    SYNC();
    std::vector<int> o = to_host(out, 32 * 6);
    for (int t = 0; t < 32; t++) {
        CHECK(o[t * 6] == 50);
        CHECK(o[t * 6 + 1] == (t < 3 ? t : t - 3));
        CHECK(o[t * 6 + 2] == (t + 3 > 31 ? t : t + 3));
        CHECK(o[t * 6 + 3] == (t ^ 9));
        CHECK(o[t * 6 + 4] == t / 8 * 8 + 2);
        CHECK(o[t * 6 + 5] == (t % 4 < 2 ? t + 2 : t));
    }
}

__global__ void wide_shuffles(double *d, long long *l, float *f)
{
    int t = threadIdx.x;
    d[t] = __shfl_xor_sync(ALL, t * 1.5, 1);
    l[t] = __shfl_down_sync(ALL, t * 10000000000ll, 1);
    f[t] = __shfl_up_sync(ALL, t * 0.5f, 1);
}

CASE(shuffle_of_other_types)
{
    double *d = device_array<double>(32);
    long long *l = device_array<long long>(32);
    float *f = device_array<float>(32);
    wide_shuffles<<<1, 32>>>(d, l, f);
    SYNC();
    CHECK(to_host(d, 32)[6] == 10.5 && to_host(l, 32)[6] == 70000000000ll &&
          to_host(f, 32)[6] == 2.5f);
}

__global__ void votes(unsigned *out)
{
    int t = threadIdx.x;
    unsigned *o = out + t * 6;
    o[0] = __ballot_sync(ALL, t % 3 == 0);
    o[1] = __any_sync(ALL, t == 31);
    o[2] = __all_sync(ALL, t < 31);
    o[3] = __activemask();
    o[4] = t < 10 ? __ballot_sync(0x3ff, t & 1) : 0;
    o[5] = __match_any_sync(ALL, t % 4);
}

CASE(vote)
{
    unsigned *out = device_array<unsigned>(32 * 6);
    votes<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> o = to_host(out, 32 * 6);
    for (int t = 0; t < 32; t++) {
        CHECK(o[t * 6] == 0x49249249u);
        CHECK(o[t * 6 + 1] == 1 && o[t * 6 + 2] == 0 && o[t * 6 + 3] == 0xffffffffu);
        CHECK(o[t * 6 + 4] == (t < 10 ? 0x2aau : 0));
        CHECK(o[t * 6 + 5] == 0x11111111u << t % 4);
    }
}

__global__ void reductions(unsigned *out)
{
    int t = threadIdx.x;
    unsigned *o = out + t * 5;
    o[0] = __reduce_add_sync(ALL, t);
    o[1] = __reduce_max_sync(ALL, t * 3);
    o[2] = __reduce_min_sync(ALL, t - 5);
    o[3] = __reduce_xor_sync(ALL, 1u << t % 7);
    o[4] = __reduce_or_sync(ALL, 1u << t % 7);
}

CASE(reduce_instructions)
{
    unsigned *out = device_array<unsigned>(32 * 5);
    reductions<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> o = to_host(out, 32 * 5);
    CHECK(o[0] == 496 && o[1] == 93 && (int)o[2] == -5 && o[4] == 0x7f);
    unsigned want = 0;
    for (int t = 0; t < 32; t++) want ^= 1u << t % 7;
    CHECK(o[3] == want);
}

__global__ void partial(int *out)
{
    int t = threadIdx.x;
    if (t < 20) {
        unsigned active = __activemask();
        out[t] = __shfl_sync(active, t, 7) + __popc(active);
    } else {
        out[t] = -1;
    }
}

CASE(part_of_a_warp)
{
    int *out = device_array<int>(32);
    partial<<<1, 32>>>(out);
    SYNC();
    CHECK(to_host(out, 32)[0] == 27 && to_host(out, 32)[20] == -1);
}

__global__ void scan(int *out)
{
    int t = threadIdx.x, lane = t % 32, x = t + 1;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(ALL, x, d);
        if (lane >= d) x += y;
    }
    out[t] = x;
}

CASE(prefix_sum)
{
    int *out = device_array<int>(64);
    scan<<<1, 64>>>(out);
    SYNC();
    CHECK(to_host(out, 64)[31] == 528 && to_host(out, 64)[33] == 33 + 34);
}
