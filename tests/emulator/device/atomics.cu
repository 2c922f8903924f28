/* atomics.cu: read-modify-write of every kind, in global and in shared memory. */
#include "check.h"

__global__ void many(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], t);
    atomicSub(&i[1], 2);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicAdd(&u[0], 3u);
    atomicAnd(&u[1], ~(1u << t % 16));
    atomicOr(&u[2], 1u << t % 9);
    atomicXor(&u[3], 1u << t % 5);
    atomicInc(&u[4], 9u);
    atomicDec(&u[5], 9u);
    atomicMax(&u[6], 0x80000000u + t);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)t << 35);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}

CASE(global_atomics)
{
    const int n = 256;
    int *i = to_device(std::vector<int>(4, 0));
    unsigned *u = to_device(std::vector<unsigned>{0, 0xffffffffu, 0, 0, 0, 0, 0});
    unsigned long long *l = to_device(std::vector<unsigned long long>(2, 0));
    float *f = to_device(std::vector<float>(1, 0));
    double *d = to_device(std::vector<double>(1, 0));
    many<<<4, 64>>>(i, u, l, f, d);
    SYNC();
    std::vector<int> gi = to_host(i, 4);
    std::vector<unsigned> gu = to_host(u, 7);
    std::vector<unsigned long long> gl = to_host(l, 2);
    CHECK(gi[0] == n * (n - 1) / 2 && gi[1] == -2 * n && gi[2] == 1 - n && gi[3] == n - 1);
    CHECK(gu[0] == 3u * n && gu[1] == 0xffff0000u && gu[2] == 0x1ff && gu[4] == n % 10);
    CHECK(gu[3] == 0x1e && gu[5] == 4);
    CHECK(gu[6] == 0x80000000u + n - 1);
    CHECK(gl[0] == (unsigned long long)n << 33 && gl[1] == (unsigned long long)(n - 1) << 35);
    CHECK(to_host(f, 1)[0] == n * 0.5f && to_host(d, 1)[0] == n * 0.25);
}

__global__ void order(int *next, int *seen)
{
    seen[atomicAdd(next, 1)] = 1;
}

CASE(returned_values_are_unique)
{
    int *seen = to_device(std::vector<int>(512, 0));
    order<<<8, 64>>>(to_device(std::vector<int>(1, 0)), seen);
    SYNC();
    CHECK(to_host(seen, 512) == std::vector<int>(512, 1));
}

__device__ float atomic_max_float(float *address, float value)
{
    int *bits = (int *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void largest(float *max, const float *in)
{
    atomic_max_float(max, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

CASE(compare_and_swap_loop)
{
    std::vector<float> in(256);
    for (int i = 0; i < 256; i++) in[i] = sinf(i) * 100;
    float *max = to_device(std::vector<float>(1, -1e30f));
    largest<<<2, 128>>>(max, to_device(in));
    SYNC();
    float want = -1e30f;
    for (float x : in) want = fmaxf(want, x);
    CHECK(to_host(max, 1)[0] == want);
}

__global__ void scoped(int *i)
{
    atomicAdd_block(&i[0], 1);
    atomicAdd_system(&i[1], 1);
    atomicExch(&i[2], 7);
}

CASE(scopes)
{
    int *i = to_device(std::vector<int>(3, 0));
    scoped<<<1, 64>>>(i);
    SYNC();
    CHECK(to_host(i, 3)[0] == 64 && to_host(i, 3)[1] == 64 && to_host(i, 3)[2] == 7);
}
