/* wmma.cu: products of matrices by nvcuda::wmma, in every shape, type and layout. */
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

/* Small whole numbers: every product and sum is exact in every type. */
template <typename T> static T number(int i)
{
    return (T)(float)(i * 7 % 5 - (std::is_unsigned<T>::value ? 0 : 2));
}

template <typename T> static float real(T x)
{
    return (float)x;
}

constexpr int PAD = 16; /* elements between lines */

template <int M, int N, int K, typename T, typename A_LAYOUT, typename B_LAYOUT, typename S,
          typename IN>
__global__ void product(const IN *a, const IN *b, S *c, int lda, int ldb, int ldc,
                        wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, A_LAYOUT> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, B_LAYOUT> fb;
    wmma::fragment<wmma::accumulator, M, N, K, S> fc;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, layout);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, ldc, layout);
}

/* C becomes 2 C + A B. */
template <int M, int N, int K, typename T, typename A_LAYOUT, typename B_LAYOUT, typename S,
          typename IN>
static void try_layout(wmma::layout_t layout)
{
    bool a_row = std::is_same<A_LAYOUT, wmma::row_major>::value;
    bool b_row = std::is_same<B_LAYOUT, wmma::row_major>::value;
    bool c_row = layout == wmma::mem_row_major;
    int lda = (a_row ? K : M) + PAD, ldb = (b_row ? N : K) + PAD, ldc = (c_row ? N : M) + PAD;
    std::vector<IN> a((a_row ? M : K) * lda), b((b_row ? K : N) * ldb);
    std::vector<S> c((c_row ? M : N) * ldc);
    for (size_t i = 0; i < a.size(); i++) a[i] = number<IN>(i);
    for (size_t i = 0; i < b.size(); i++) b[i] = number<IN>(3 * i + 1);
    for (size_t i = 0; i < c.size(); i++) c[i] = number<S>(2 * i + 1);
    S *d_c = to_device(c);
    product<M, N, K, T, A_LAYOUT, B_LAYOUT>
        <<<1, 32>>>(to_device(a), to_device(b), d_c, lda, ldb, ldc, layout);
    SYNC();
    std::vector<S> got = to_host(d_c, c.size());
    int wrong = 0;
    for (int m = 0; m < M; m++) {
        for (int n = 0; n < N; n++) {
            int at = c_row ? m * ldc + n : n * ldc + m;
            double sum = 2 * real(c[at]);
            for (int k = 0; k < K; k++)
                sum += real(a[a_row ? m * lda + k : k * lda + m]) *
                       real(b[b_row ? k * ldb + n : n * ldb + k]);
            wrong += !(real(got[at]) == sum);
            c[at] = got[at];
        }
    }
    CHECK(wrong == 0);
    CHECK(!memcmp(got.data(), c.data(), c.size() * sizeof(S))); /* nothing between the lines */
}

template <int M, int N, int K, typename T, typename S, typename IN = T> static void try_shape()
{
    using row = wmma::row_major;
    using col = wmma::col_major;
    try_layout<M, N, K, T, row, row, S, IN>(wmma::mem_row_major);
    try_layout<M, N, K, T, row, col, S, IN>(wmma::mem_col_major);
    try_layout<M, N, K, T, col, row, S, IN>(wmma::mem_row_major);
    try_layout<M, N, K, T, col, col, S, IN>(wmma::mem_col_major);
}

template <typename T, typename S> static void try_shapes()
{
    try_shape<16, 16, 16, T, S>();
    try_shape<32, 8, 16, T, S>();
    try_shape<8, 32, 16, T, S>();
}

CASE(half_to_float)
{
    try_shapes<half, float>();
}

CASE(half_to_half)
{
    try_shapes<half, half>();
}

CASE(bfloat)
{
    try_shapes<__nv_bfloat16, float>();
}

CASE(bytes)
{
    try_shapes<signed char, int>();
    try_shapes<unsigned char, int>();
}

CASE(tf32)
{
    try_shape<16, 16, 8, wmma::precision::tf32, float, float>();
}

CASE(doubles)
{
    try_shape<8, 8, 4, double, double>();
}

/* ---- four bits, one bit ---------------------------------------------------------------------- */

template <typename P> __global__ void nibbles(const void *a, const void *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 32, P, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, P, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::fill_fragment(fc, 5);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}

static int nibble(const std::vector<uint8_t> &v, int i, bool is_signed)
{
    int x = v[i / 2] >> 4 * (i % 2) & 15;
    return is_signed && x > 7 ? x - 16 : x;
}

CASE(four_bits)
{
    std::vector<uint8_t> a(128), b(128);
    for (int i = 0; i < 128; i++) a[i] = i * 37 + 5, b[i] = i * 91 + 17;
    int *c = device_array<int>(64);
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        if (is_signed)
            nibbles<wmma::experimental::precision::s4><<<1, 32>>>(to_device(a), to_device(b), c);
        else
            nibbles<wmma::experimental::precision::u4><<<1, 32>>>(to_device(a), to_device(b), c);
        SYNC();
        std::vector<int> got = to_host(c, 64);
        for (int m = 0; m < 8; m++) {
            for (int n = 0; n < 8; n++) {
                int want = 5;
                for (int k = 0; k < 32; k++)
                    want += nibble(a, m * 32 + k, is_signed) * nibble(b, n * 32 + k, is_signed);
                CHECK(got[m * 8 + n] == want);
            }
        }
    }
}

__global__ void bits(const void *a, const void *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major>
        fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major>
        fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> differ, both;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::fill_fragment(differ, 0);
    wmma::fill_fragment(both, 1);
    wmma::bmma_sync(differ, fa, fb, differ);
    wmma::bmma_sync(both, fa, fb, both, wmma::experimental::bmmaBitOpAND);
    wmma::store_matrix_sync(c, differ, 8, wmma::mem_row_major);
    wmma::store_matrix_sync(c + 64, both, 8, wmma::mem_col_major);
}

CASE(one_bit)
{
    std::vector<uint32_t> a(32), b(32);
    for (int i = 0; i < 32; i++) a[i] = i * 2654435761u + 12345, b[i] = i * 40503u * 65537u + 99;
    int *c = device_array<int>(128);
    bits<<<1, 32>>>(to_device(a), to_device(b), c);
    SYNC();
    std::vector<int> got = to_host(c, 128);
    for (int m = 0; m < 8; m++) {
        for (int n = 0; n < 8; n++) {
            int differ = 0, both = 1;
            for (int k = 0; k < 4; k++) {
                differ += __builtin_popcount(a[m * 4 + k] ^ b[n * 4 + k]);
                both += __builtin_popcount(a[m * 4 + k] & b[n * 4 + k]);
            }
            CHECK(got[m * 8 + n] == differ);
            CHECK(got[64 + n * 8 + m] == both);
        }
    }
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

template <typename T, typename S, int K, typename IN>
__global__ void plain(const IN *a, const IN *b, S *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, K, S> fc;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

/* 16 products of 2^-25 are 2^-21; a sum in f32 that rounds at every step would stay 1. */
CASE(one_rounding)
{
    std::vector<half> a(256, __float2half(0)), b(256, __float2half(0));
    for (int k = 0; k < 16; k++) a[k] = __float2half(0x1p-12f), b[k] = __float2half(0x1p-13f);
    float *d_c = to_device(std::vector<float>(256, 1.0f));
    plain<half, float, 16><<<1, 32>>>(to_device(a), to_device(b), d_c);
    SYNC();
    std::vector<float> got = to_host(d_c, 256);
    CHECK(got[0] == 1 + 0x1p-21f && got[1] == 1);
}

/* A product in half is rounded to half once, ties to even. */
CASE(rounds_to_half)
{
    std::vector<half> a(256, __float2half(0)), b(256, __float2half(0)), c(256, __float2half(0));
    a[0] = __float2half(2048), b[0] = __float2half(1);
    a[1] = __float2half(1), b[1] = __float2half(1);
    a[16] = __float2half(2048), a[17] = __float2half(1), a[18] = __float2half(0x1p-14f);
    b[2] = __float2half(0x1p-14f);
    half *d_c = to_device(c);
    plain<half, half, 16><<<1, 32>>>(to_device(a), to_device(b), d_c);
    SYNC();
    std::vector<half> got = to_host(d_c, 256);
    CHECK(__half2float(got[0]) == 2048);  /* 2049 is a tie */
    CHECK(__half2float(got[16]) == 2050); /* 2049 and a little is none, though a float loses it */
}

CASE(tf32_looks_at_19_bits)
{
    std::vector<float> a(128, 0.0f), b(128, 0.0f), c(256, 0.0f);
    a[0] = 1 + 0x1p-10f + 0x1p-11f, b[0] = 1;
    float *d_c = to_device(c);
    plain<wmma::precision::tf32, float, 8><<<1, 32>>>(to_device(a), to_device(b), d_c);
    SYNC();
    CHECK(to_host(d_c, 1)[0] == 1 + 0x1p-10f);
}

/* Within the error of sums in f32 in any order: 16 terms of at most 1. */
CASE(random_halves)
{
    std::vector<half> a(256), b(256);
    std::vector<float> c(256);
    for (int i = 0; i < 256; i++) {
        a[i] = __float2half(sinf(i));
        b[i] = __float2half(cosf(3 * i));
        c[i] = sinf(5 * i);
    }
    float *d_c = to_device(c);
    plain<half, float, 16><<<1, 32>>>(to_device(a), to_device(b), d_c);
    SYNC();
    std::vector<float> got = to_host(d_c, 256);
    for (int i = 0; i < 256; i++) {
        double sum = c[i];
        for (int k = 0; k < 16; k++)
            sum += (double)__half2float(a[i / 16 * 16 + k]) * __half2float(b[i % 16 * 16 + k]);
        CHECK(fabs(got[i] - sum) <= 17 * 17 * 0x1p-24);
    }
}

CASE(not_a_number)
{
    std::vector<half> a(256, __float2half(0)), b(256, __float2half(1));
    std::vector<float> c(256, 1.0f);
    a[16] = __float2half(INFINITY), a[17] = __float2half(-INFINITY);
    a[32] = __float2half(INFINITY);
    float *d_c = to_device(c);
    plain<half, float, 16><<<1, 32>>>(to_device(a), to_device(b), d_c);
    SYNC();
    std::vector<float> got = to_host(d_c, 256);
    CHECK(got[0] == 1 && std::isnan(got[16]) && got[32] == INFINITY);
}

/* ---- what is wrong is found ------------------------------------------------------------------ */

__global__ void tiled(const half *a, float *c, bool sync)
{
    __shared__ __align__(32) half tile[256];
    for (int i = threadIdx.x; i < 256 && threadIdx.x < 32; i += 32) tile[i] = a[i];
    if (sync) __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, tile, 16); // FINDING race: race
    wmma::load_matrix_sync(fb, tile, 16); // MAYBE race: race
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c + 256 * (threadIdx.x / 32), fc, 16, wmma::mem_row_major);
}

static void run_tiled(bool sync)
{
    std::vector<half> a(256, __float2half(1));
    float *c = device_array<float>(512);
    tiled<<<1, 64>>>(to_device(a), c, sync);
    SYNC();
    if (sync) CHECK(to_host(c, 512)[511] == 16);
}

CASE(shared_memory)
{
    run_tiled(true);
}

CASE(race)
{
    run_tiled(false);
}

using sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
constexpr wmma::layout_t ROWS = wmma::mem_row_major;

__global__ void unwritten(float *c)
{
    __shared__ __align__(32) float tile[256];
    tile[threadIdx.x] = 1;
    __syncthreads();
    sums fc;
    wmma::load_matrix_sync(fc, tile, 16, ROWS); // FINDING uninitialised: uninitialised
    wmma::store_matrix_sync(c, fc, 16, ROWS);
}

CASE(uninitialised)
{
    unwritten<<<1, 32>>>(device_array<float>(256));
    SYNC();
}

__global__ void store(float *c, int ld)
{
    sums fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::store_matrix_sync(c, fc, ld, ROWS); // FINDING past_the_end: out-of-bounds
}

CASE(past_the_end)
{
    store<<<1, 32>>>(device_array<float>(16 * 16 - 4), 16);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void store_by_17(float *c)
{
    sums fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::store_matrix_sync(c, fc, 17, ROWS); // FINDING odd_stride: misaligned
}

CASE(odd_stride)
{
    store_by_17<<<1, 32>>>(device_array<float>(16 * 17));
    FAILS(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
}

__global__ void half_a_warp(float *c)
{
    sums fc;
    wmma::fill_fragment(fc, 1.0f);
    if (threadIdx.x >= 16) return;
    wmma::store_matrix_sync(c, fc, 16, ROWS); // FINDING divergent: divergent-barrier
}

CASE(divergent)
{
    half_a_warp<<<1, 32>>>(device_array<float>(256));
    SYNC();
}
