/* global_order.cu: accesses to global memory of which one comes before the other, or that do not
 * meet: nothing to report. */
#include "check.h"

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

CASE(in_place_grid_stride)
{
    const int n = 5000;
    float *y = to_device(std::vector<float>(n, 1));
    saxpy<<<8, 128>>>(y, to_device(std::vector<float>(n, 2)), 3, n);
    SYNC();
    CHECK(to_host(y, n)[4999] == 7);
}

CASE(the_same_array_twice)
{
    const int n = 1000;
    float *y = to_device(std::vector<float>(n, 1));
    saxpy<<<8, 128>>>(y, y, 3, n);
    SYNC();
    CHECK(to_host(y, n)[999] == 4);
}

/* All threads write, all fence, one counts. */
__global__ void rows_then_total(float *out, volatile float *rows, unsigned *done, int width)
{
    __shared__ bool last;
    rows[blockIdx.x * width + threadIdx.x] = (float)threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(done, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += rows[b * width + threadIdx.x];
    out[threadIdx.x] = sum;
}

CASE(volatile_rows)
{
    float *out = device_array<float>(64), *rows = device_array<float>(64 * 20);
    rows_then_total<<<20, 64>>>(out, rows, to_device(std::vector<unsigned>(1)), 64);
    SYNC();
    CHECK(to_host(out, 64)[2] == 40);
}

/* A block resets what all of its threads update, and others only behind its flag. */
__global__ void reset_and_count(int *count, int *flag)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *count = 0;
    __syncthreads();
    while (blockIdx.x > 0 && atomicAdd(flag, 0) == 0) continue;
    atomicAdd(count, 1);
    __threadfence();
    if (blockIdx.x == 0 && threadIdx.x == 0) atomicExch(flag, 1);
}

CASE(updates_behind_a_reset)
{
    int *count = to_device(std::vector<int>(1, 5));
    reset_and_count<<<3, 64>>>(count, to_device(std::vector<int>(1)));
    SYNC();
    CHECK(to_host(count, 1)[0] == 192);
}

__global__ void locked_updates(int *lock, int *data, int times)
{
    for (int i = 0; i < times; i++) {
        if (threadIdx.x == 0) {
            while (atomicCAS(lock, 0, 1) != 0) continue;
            __threadfence();
        }
        __syncthreads();
        data[threadIdx.x] += 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(lock, 0);
        }
        __syncthreads();
    }
}

// Often: whoever waits for the lock must not be told that nobody will open it, however the host's
// threads take turns.
CASE(spin_lock)
{
    int *lock = to_device(std::vector<int>(1)), *data = to_device(std::vector<int>(64));
    for (int launch = 0; launch < 100; launch++) locked_updates<<<12, 64>>>(lock, data, 5);
    SYNC();
    CHECK(to_host(data, 64)[63] == 6000);
}

__global__ void relax(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    to[i] = (from[i > 0 ? i - 1 : 0] + from[i < n - 1 ? i + 1 : i]) / 2;
}

/* Two halves of one allocation. */
CASE(halves_of_one_allocation)
{
    float *both = to_device(std::vector<float>(1000, 1));
    relax<<<4, 128>>>(both + 500, both, 500);
    SYNC();
    CHECK(to_host(both, 1000)[750] == 1);
}

__global__ void block_reduce_in_place(int *p)
{
    int *mine = p + blockIdx.x * blockDim.x;
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) mine[threadIdx.x] += mine[threadIdx.x + d];
        __syncthreads();
    }
}

CASE(barriers_in_global_memory)
{
    int *p = to_device(std::vector<int>(1024, 1));
    block_reduce_in_place<<<4, 256>>>(p);
    SYNC();
    CHECK(to_host(p, 1024)[768] == 256);
}

__global__ void warp_scan(int *p)
{
    int lane = threadIdx.x % 32, *mine = p + blockIdx.x * blockDim.x + threadIdx.x - lane;
    for (int d = 1; d < 32; d *= 2) {
        int other = lane >= d ? mine[lane - d] : 0;
        __syncwarp();
        mine[lane] += other;
        __syncwarp();
    }
}

CASE(warps_in_global_memory)
{
    int *p = to_device(std::vector<int>(256, 1));
    warp_scan<<<2, 128>>>(p);
    SYNC();
    CHECK(to_host(p, 256)[255] == 32);
}

__global__ void shuffle_then_read(int *p)
{
    int lane = threadIdx.x;
    p[lane] = lane;
    int from = __shfl_sync(~0u, lane, 31 - lane);
    int x = p[from];
    __syncwarp();
    p[lane] = x;
}

CASE(shuffle_orders_a_warp)
{
    int *p = device_array<int>(32);
    shuffle_then_read<<<1, 32>>>(p);
    SYNC();
    CHECK(to_host(p, 32)[0] == 31);
}

__global__ void invert(unsigned char *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = (unsigned char)(255 - p[i]);
}

__global__ void invert_shorts(short *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = (short)(-p[i]);
}

/* Blocks share words, but no bytes. */
CASE(neighbouring_bytes)
{
    unsigned char *p = to_device(std::vector<unsigned char>(301, 5));
    invert<<<13, 25>>>(p, 301);
    short *s = to_device(std::vector<short>(301, 5));
    invert_shorts<<<13, 25>>>(s, 301);
    SYNC();
    CHECK(to_host(p, 301)[300] == 250);
    CHECK(to_host(s, 301)[300] == -5);
}

__global__ void transpose_rows(float4 *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 x = p[i];
    p[i] = make_float4(x.w, x.z, x.y, x.x);
    ((float *)p)[4 * i] += 1;
}

CASE(vectors_and_parts_of_them)
{
    float4 *p = to_device(std::vector<float4>(200, make_float4(1, 2, 3, 4)));
    transpose_rows<<<4, 64>>>(p, 200);
    SYNC();
    CHECK(to_host(p, 200)[199].x == 5);
}

__global__ void early_out(int *best, const int *in)
{
    int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (x > atomicMax(best, 0)) atomicMax(best, x);
}

CASE(atomic_reads)
{
    std::vector<int> in(512);
    for (int i = 0; i < 512; i++) in[i] = i;
    int *best = to_device(std::vector<int>(1));
    early_out<<<8, 64>>>(best, to_device(in));
    SYNC();
    CHECK(to_host(best, 1)[0] == 511);
}

__global__ void multiply(double *product, int *shared_result)
{
    __shared__ int largest;
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    unsigned long long *p = (unsigned long long *)product, old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, __double_as_longlong(__longlong_as_double(seen) * 1.01));
    } while (old != seen);
    int most = largest, before, x = (int)threadIdx.x;
    do {
        before = most;
        most = atomicCAS(&largest, before, x > before ? x : before);
    } while (most != before);
    __syncthreads();
    if (threadIdx.x == 0) shared_result[blockIdx.x] = largest;
}

/* The first read of the loop is a guess. */
CASE(compare_and_swap_loops)
{
    double *product = to_device(std::vector<double>(1, 1));
    int *largest = device_array<int>(4);
    multiply<<<4, 64>>>(product, largest);
    SYNC();
    CHECK(near(to_host(product, 1)[0], pow(1.01, 256)));
    CHECK(to_host(largest, 4)[3] == 63);
}
