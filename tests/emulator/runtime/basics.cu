/* basics.cu: grids, blocks and threads. */
#include "check.h"

__global__ void ids(int *out)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int size = blockDim.x * blockDim.y * blockDim.z;
    out[block * size + thread] = block * 1000 + thread;
}

static void check_ids(dim3 grid, dim3 block)
{
    int blocks = grid.x * grid.y * grid.z, threads = block.x * block.y * block.z;
    int *out = device_array<int>(blocks * threads);
    ids<<<grid, block>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, blocks * threads);
    for (int i = 0; i < blocks * threads; i++) CHECK(got[i] == i / threads * 1000 + i % threads);
}

CASE(two_dimensions)
{
    check_ids(dim3(3, 4), dim3(16, 8));
}

CASE(three_dimensions)
{
    check_ids(dim3(2, 3, 4), dim3(5, 3, 2));
}

CASE(block_of_one_thread)
{
    check_ids(dim3(7), dim3(1));
}

CASE(block_of_1024_threads)
{
    check_ids(dim3(2), dim3(32, 32));
}

CASE(partial_last_warp)
{
    check_ids(dim3(2), dim3(33));
}

CASE(many_blocks)
{
    check_ids(dim3(5000), dim3(32));
}

struct parameters {
    char tag;
    double scale;
    int offset[3];
    float *out;
};

__global__ void by_value(parameters p, char a, short b, long long c)
{
    p.out[threadIdx.x] =
        (float)(p.scale * threadIdx.x + p.offset[threadIdx.x % 3] + p.tag + a + b + c);
}

CASE(arguments_of_all_sizes)
{
    float *out = device_array<float>(32);
    by_value<<<1, 32>>>(parameters{1, 0.5, {10, 20, 30}, out}, 2, 3, 4);
    SYNC();
    std::vector<float> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(got[i] == 0.5f * i + 10 * (i % 3 + 1) + 10);
}

__global__ void nothing()
{
}

CASE(empty_kernel)
{
    nothing<<<100, 100>>>();
    SYNC();
}

__global__ void collatz(int *steps)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x + 1, count = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        count++;
    }
    steps[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

CASE(divergent_loops)
{
    int *steps = device_array<int>(256);
    collatz<<<4, 64>>>(steps);
    SYNC();
    std::vector<int> got = to_host(steps, 256);
    for (int i = 0; i < 256; i++) {
        int count = 0;
        for (int n = i + 1; n != 1; count++) n = n % 2 ? 3 * n + 1 : n / 2;
        CHECK(got[i] == count);
    }
}

__global__ void nested(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < t; i++) {
        if (i % 3 == 0) continue;
        if (i > 20) break;
        for (int j = i; j > 0; j -= 2) {
            if ((i ^ j) & 4)
                sum += j;
            else
                sum -= 1;
        }
    }
    out[t] = sum;
}

CASE(nested_divergence)
{
    int *out = device_array<int>(64);
    nested<<<1, 64>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 64);
    for (int t = 0; t < 64; t++) {
        int sum = 0;
        for (int i = 0; i < t; i++) {
            if (i % 3 == 0) continue;
            if (i > 20) break;
            for (int j = i; j > 0; j -= 2) sum += ((i ^ j) & 4) ? j : -1;
        }
        CHECK(got[t] == sum);
    }
}

__global__ void choose(int *out)
{
    int t = threadIdx.x, value;
    switch (t % 8) {
    case 0: value = 5; break;
    case 1: value = t * 3; break;
    case 2: value = -t; /* fall through */
    case 3: value = t + 100; break;
    case 5: value = t << 2; break;
    case 6: value = t & 12; break;
    default: value = 1000;
    }
    out[t] = value;
}

CASE(switch_statement)
{
    int *out = device_array<int>(64);
    choose<<<1, 64>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 64);
    for (int t = 0; t < 64; t++) {
        int want[8] = {5, t * 3, t + 100, t + 100, 1000, t << 2, t & 12, 1000};
        CHECK(got[t] == want[t % 8]);
    }
}

__global__ void ticks(long long *out)
{
    long long start = clock64();
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += i * threadIdx.x;
    out[threadIdx.x] = sum >= 0 ? clock64() - start : -1;
}

CASE(clock_advances)
{
    long long *out = device_array<long long>(32);
    ticks<<<1, 32>>>(out);
    SYNC();
    CHECK(to_host(out, 32)[0] > 0);
}
