/* mma.cu: mma.sync in inline assembly, with the layouts of fragments that PTX documents, spelt out
 * here per shape as the documentation does; ldmatrix, movmatrix. */
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* Which element of A (m, k), B (k, n) or C (m, n) is the i-th of a lane. */
struct at {
    int row, column;
};

struct m16n8k16_half {
    static constexpr int K = 16, A = 8, B = 4;
    __host__ __device__ static at a(int lane, int i)
    {
        bool low = i < 2 || (4 <= i && i < 6);
        return {lane / 4 + (low ? 0 : 8), lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    }
    __host__ __device__ static at b(int lane, int i)
    {
        return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4};
    }
};

struct m16n8k8_half {
    static constexpr int K = 8, A = 4, B = 2;
    __host__ __device__ static at a(int lane, int i)
    {
        return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
    }
    __host__ __device__ static at b(int lane, int i)
    {
        return {lane % 4 * 2 + i, lane / 4};
    }
};

struct m16n8k8_tf32 {
    static constexpr int K = 8, A = 4, B = 2;
    __host__ __device__ static at a(int lane, int i)
    {
        return {lane / 4 + (i == 0 || i == 2 ? 0 : 8), lane % 4 + (i < 2 ? 0 : 4)};
    }
    __host__ __device__ static at b(int lane, int i)
    {
        return {lane % 4 + (i == 0 ? 0 : 4), lane / 4};
    }
};

struct m16n8k32_byte {
    static constexpr int K = 32, A = 16, B = 8;
    __host__ __device__ static at a(int lane, int i)
    {
        bool low = i < 4 || (8 <= i && i < 12);
        return {lane / 4 + (low ? 0 : 8), lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    }
    __host__ __device__ static at b(int lane, int i)
    {
        return {lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane / 4};
    }
};

__host__ __device__ static at sum_at(int lane, int i)
{
    return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

__device__ static void multiply(float *d, const unsigned *a, const unsigned *b, m16n8k16_half, half)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ static void multiply(float *d, const unsigned *a, const unsigned *b, m16n8k16_half,
                                __nv_bfloat16)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ static void multiply(float *d, const unsigned *a, const unsigned *b, m16n8k8_half, half)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

__device__ static void multiply(float *d, const unsigned *a, const unsigned *b, m16n8k8_tf32, float)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ static void multiply(int *d, const unsigned *a, const unsigned *b, m16n8k32_byte,
                                signed char)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* One product: every lane picks its elements as the layout says. */
template <typename L, typename T, typename S>
__global__ void product(const T *a, const T *b, const S *c, S *d)
{
    int lane = threadIdx.x;
    union {
        T element[L::A];
        unsigned word[L::A * sizeof(T) / 4];
    } fa;
    union {
        T element[L::B];
        unsigned word[L::B * sizeof(T) / 4];
    } fb;
    S sum[4];
    for (int i = 0; i < L::A; i++)
        fa.element[i] = a[L::a(lane, i).row * L::K + L::a(lane, i).column];
    for (int i = 0; i < L::B; i++) fb.element[i] = b[L::b(lane, i).row * 8 + L::b(lane, i).column];
    for (int i = 0; i < 4; i++) sum[i] = c[sum_at(lane, i).row * 8 + sum_at(lane, i).column];
    multiply(sum, fa.word, fb.word, L(), T());
    for (int i = 0; i < 4; i++) d[sum_at(lane, i).row * 8 + sum_at(lane, i).column] = sum[i];
}

template <typename L, typename T, typename S> static void try_product()
{
    std::vector<T> a(16 * L::K), b(L::K * 8);
    std::vector<S> c(16 * 8);
    for (size_t i = 0; i < a.size(); i++) a[i] = (T)(float)((int)(i * 7 % 11) - 5);
    for (size_t i = 0; i < b.size(); i++) b[i] = (T)(float)((int)(i * 5 % 13) - 6);
    for (size_t i = 0; i < c.size(); i++) c[i] = (S)(i % 17);
    S *d = device_array<S>(c.size());
    product<L><<<1, 32>>>(to_device(a), to_device(b), to_device(c), d);
    SYNC();
    std::vector<S> got = to_host(d, c.size());
    for (int m = 0; m < 16; m++) {
        for (int n = 0; n < 8; n++) {
            double sum = c[m * 8 + n];
            for (int k = 0; k < L::K; k++) sum += (float)a[m * L::K + k] * (float)b[k * 8 + n];
            CHECK(got[m * 8 + n] == sum);
        }
    }
}

CASE(half_16)
{
    try_product<m16n8k16_half, half, float>();
}

CASE(bfloat_16)
{
    try_product<m16n8k16_half, __nv_bfloat16, float>();
}

CASE(half_8)
{
    try_product<m16n8k8_half, half, float>();
}

CASE(tf32_8)
{
    try_product<m16n8k8_tf32, float, float>();
}

CASE(byte_32)
{
    try_product<m16n8k32_byte, signed char, int>();
}

/* ---- sums of half, double, saturation -------------------------------------------------------- */

/* c0 and c1 share the first register, c2 and c3 the second. */
__global__ void half_sums(half2 *out)
{
    unsigned a = threadIdx.x / 4 == 3 ? 0x3c003c00 : 0, b = 0x3c003c00, d[2];
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a), "r"(0), "r"(b), "r"(0x38003c00));
    out[2 * threadIdx.x] = *(half2 *)&d[0];
    out[2 * threadIdx.x + 1] = *(half2 *)&d[1];
}

CASE(half_sums)
{
    half2 *out = device_array<half2>(64);
    half_sums<<<1, 32>>>(out);
    SYNC();
    std::vector<half2> got = to_host(out, 64);
    for (int lane = 0; lane < 32; lane++) {
        float more = lane / 4 == 3 ? 8 : 0;
        CHECK(__low2float(got[2 * lane]) == 1 + more && __high2float(got[2 * lane]) == 0.5f + more);
        CHECK(__low2float(got[2 * lane + 1]) == 1 && __high2float(got[2 * lane + 1]) == 0.5f);
    }
}

/* A: row lane / 4, column lane % 4; B: row lane % 4, column lane / 4; C: two neighbours of a row.
 */
__global__ void doubles(double *d)
{
    int lane = threadIdx.x;
    double a = 10 * (lane / 4) + lane % 4, b = lane % 4 == lane / 4 ? 1 : 0, c[2] = {0.25, 0.5};
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
    d[2 * lane] = c[0];
    d[2 * lane + 1] = c[1];
}

CASE(doubles)
{
    double *d = device_array<double>(64);
    doubles<<<1, 32>>>(d);
    SYNC();
    std::vector<double> got = to_host(d, 64);
    for (int i = 0; i < 64; i++) {
        int row = i / 8, column = i % 8;
        CHECK(got[i] == (i % 2 ? 0.5 : 0.25) + (column < 4 ? 10 * row + column : 0));
    }
}

__global__ void at_the_limit(int *out)
{
    unsigned ones = 0x01010101;
    int wraps[2] = {0x7fffffff, -5}, stays[2] = {0x7fffffff, -5};
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%2}, {%0,%1};"
        : "+r"(wraps[0]), "+r"(wraps[1])
        : "r"(ones));
    asm("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0,%1}, {%2}, {%2}, {%0,%1};"
        : "+r"(stays[0]), "+r"(stays[1])
        : "r"(ones));
    if (threadIdx.x) return;
    out[0] = wraps[0], out[1] = wraps[1], out[2] = stays[0], out[3] = stays[1];
}

CASE(saturation)
{
    int *out = device_array<int>(4);
    at_the_limit<<<1, 32>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 4);
    CHECK(got[0] == INT32_MIN + 15 && got[1] == 11);
    CHECK(got[2] == INT32_MAX && got[3] == 11);
}

/* ---- ldmatrix, movmatrix --------------------------------------------------------------------- */

__device__ static unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Row r of matrix k is row 8 k + r of the tile; 8 halves a row. */
template <bool transposed> __global__ void load_four(unsigned *out)
{
    __shared__ __align__(16) unsigned short tile[32][8];
    for (int i = 0; i < 8; i++) tile[threadIdx.x][i] = (unsigned short)(threadIdx.x * 100 + i);
    __syncwarp();
    unsigned r[4], where = shared_address(tile[threadIdx.x]);
    if (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(where));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(where));
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = r[k];
}

static unsigned pair(int k, int row0, int column0, int row1, int column1)
{
    unsigned low = (8 * k + row0) * 100 + column0, high = (8 * k + row1) * 100 + column1;
    return low | high << 16;
}

CASE(ldmatrix_x4)
{
    unsigned *out = device_array<unsigned>(128);
    load_four<false><<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 128);
    for (int i = 0; i < 128; i++) {
        int line = i / 4 / 4, at = i / 4 % 4 * 2;
        CHECK(got[i] == pair(i % 4, line, at, line, at + 1));
    }
}

CASE(ldmatrix_trans)
{
    unsigned *out = device_array<unsigned>(128);
    load_four<true><<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 128);
    for (int i = 0; i < 128; i++) {
        int line = i / 4 / 4, at = i / 4 % 4 * 2;
        CHECK(got[i] == pair(i % 4, at, line, at + 1, line));
    }
}

/* x1 and x2 look at the addresses of 8 and 16 lanes alone. */
__global__ void load_fewer(unsigned *out)
{
    __shared__ __align__(16) unsigned short tile[16][8];
    if (threadIdx.x < 16)
        for (int i = 0; i < 8; i++) tile[threadIdx.x][i] = (unsigned short)(threadIdx.x * 100 + i);
    __syncwarp();
    unsigned one, r[2], where = threadIdx.x < 16 ? shared_address(tile[threadIdx.x]) : 3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(one) : "r"(where));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(where));
    out[threadIdx.x] = one == r[0] ? r[1] : 0;
}

CASE(ldmatrix_x2)
{
    unsigned *out = device_array<unsigned>(32);
    load_fewer<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(got[i] == pair(1, i / 4, i % 4 * 2, i / 4, i % 4 * 2 + 1));
}

__global__ void transpose(unsigned *out)
{
    unsigned at = threadIdx.x / 4 * 100 + threadIdx.x % 4 * 2, mine = at | (at + 1) << 16, turned;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(mine));
    out[threadIdx.x] = turned;
}

CASE(movmatrix)
{
    unsigned *out = device_array<unsigned>(32);
    transpose<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(got[i] == pair(0, i % 4 * 2, i / 4, i % 4 * 2 + 1, i / 4));
}

/* ---- what is wrong is found ------------------------------------------------------------------ */

__device__ static unsigned load_one(const unsigned short *from)
{
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r)
                 : "r"(shared_address(from)));
    return r;
}

__global__ void faults(unsigned *out, int step, int written)
{
    __shared__ __align__(16) unsigned short tile[8 * 8];
    if (threadIdx.x < written) tile[threadIdx.x] = tile[threadIdx.x + 32] = 1;
    __syncthreads();
    out[threadIdx.x] = load_one(&tile[threadIdx.x * step]);
}

// STDERR past: reads 16 bytes, just past the end of the 128-byte shared array
CASE(past)
{
    faults<<<1, 32>>>(device_array<unsigned>(32), 16, 32);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

// STDERR odd: reads 16 bytes at an address that is not a multiple of 16
CASE(odd)
{
    faults<<<1, 32>>>(device_array<unsigned>(32), 4, 32);
    FAILS(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
}

// STDERR unwritten: reads 16 bytes of shared memory that nothing in this block has written
CASE(unwritten)
{
    faults<<<1, 32>>>(device_array<unsigned>(32), 8, 16);
    SYNC();
}

// STDERR apart: only 31 threads of the warp execute this matrix operation
__global__ void without_one(unsigned *out)
{
    __shared__ __align__(16) unsigned short tile[8 * 8];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = 1;
    __syncthreads();
    if (threadIdx.x != 9) out[threadIdx.x] = load_one(&tile[threadIdx.x % 8 * 8]);
}

CASE(apart)
{
    without_one<<<1, 32>>>(device_array<unsigned>(32));
    SYNC();
}
