/* wgmma.cu: products of a warp group, every type, layout and swizzle. The host lays operands out as
 * the documentation of PTX draws them: row by row and chunk by chunk, not by the descriptor. */
// FLAGS: -arch=sm_90a
// NEEDS: nvcc, clang 14 does not know wgmma
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

enum { M = 64, IMAGE = 64 << 10 };

/* ---- an operand in shared memory ------------------------------------------------------------- */

/* Rows of `width` bytes, 16 without a swizzle. Turned: the rows are those of k. `skip`: bytes of a
 * row in front of the operand; `base`: bytes by which the pattern of the swizzle begins late. */
struct layout {
    int width;
    bool turned;
    int skip, base;
};

struct place {
    int start, lead, stride;
};

static unsigned long long descriptor(layout l, place p)
{
    const unsigned long long mode = l.width == 128 ? 1 : l.width == 64 ? 2 : l.width == 32 ? 3 : 0;
    return (unsigned long long)(p.start + l.skip) >> 4 | (unsigned long long)(p.lead >> 4) << 16 |
           (unsigned long long)(p.stride >> 4) << 32 | (unsigned long long)(l.base / 128) << 49 |
           mode << 62;
}

/* Chunks of 16 bytes of a row change places with each other: which, its number in the pattern says. */
static int swizzled(layout l, int row, int at)
{
    const int chunks = l.width / 16, per = 8 / chunks;
    return l.width == 16 ? at : (at / 16 ^ row / per % chunks) * 16 + at % 16;
}

/* Eight rows are a block, blocks of one column follow each other, then comes the next column. */
static int at(layout l, place *p, int rows, int row, int byte)
{
    const int blocks = (rows + 7) / 8, block = 8 * l.width, column = byte / l.width;
    const bool plain = l.width == 16;
    p->stride = block;
    p->lead = blocks * block;
    if (plain && l.turned) {
        p->stride = blocks * block;
        p->lead = block;
    }
    return p->start + column * blocks * block + row / 8 * block + row % 8 * l.width +
           swizzled(l, row % 8, byte % l.width);
}

/* x: (outer, depth), elements of `size` bytes */
static unsigned long long lay_out(unsigned char *image, int start, layout l, const unsigned char *x,
                                  int outer, int depth, int size)
{
    place p = {start + l.base, 16, 16};
    for (int o = 0; o < outer; o++)
        for (int k = 0; k < depth; k++) {
            const int row = l.turned ? k : o, byte = (l.turned ? o : k) * size;
            memcpy(image + at(l, &p, l.turned ? depth : outer, row, byte + l.skip),
                   x + (o * depth + k) * size, size);
        }
    return descriptor(l, p);
}

/* ---- kernels --------------------------------------------------------------------------------- */

#define R4(i)   "%" #i "0, %" #i "1, %" #i "2, %" #i "3"
#define TEN(i)  R4(i) ", %" #i "4, %" #i "5, %" #i "6, %" #i "7, %" #i "8, %" #i "9"
#define LIST_4  "%0, %1, %2, %3"
#define LIST_12 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11"
#define LIST_20 LIST_12 ", %12, %13, %14, %15, %16, %17, %18, %19"
#define LIST_64                                                                                    \
    LIST_20 ", " TEN(2) ", " TEN(3) ", " TEN(4) ", " TEN(5) ", " R4(6)
#define LIST_128                                                                                   \
    LIST_20 ", " TEN(2) ", " TEN(3) ", " TEN(4) ", " TEN(5) ", " TEN(6) ", " TEN(7) ", " TEN(      \
        8) ", " TEN(9) ", " TEN(10) ", " TEN(11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define D4(c, i)   c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define D16(c, i)  D4(c, i), D4(c, i + 4), D4(c, i + 8), D4(c, i + 12)
#define D64(c, i)  D16(c, i), D16(c, i + 16), D16(c, i + 32), D16(c, i + 48)
#define SUMS_4(c)   D4(c, 0)
#define SUMS_12(c)  D4(c, 0), D4(c, 4), D4(c, 8)
#define SUMS_64(c)  D64(c, 0)
#define SUMS_128(c) D64(c, 0), D64(c, 64)
#define FLOATS(x) "+f"(x)
#define WORDS(x)  "+r"(x)

#define BEGIN(T, count)                                                                            \
    extern __shared__ __align__(1024) unsigned char shared[];                                      \
    T d[count];                                                                                    \
    for (int i = threadIdx.x; i < IMAGE; i += blockDim.x) shared[i] = image[i];                    \
    for (int i = 0; i < count; i++) d[i] = sums[threadIdx.x * count + i];                          \
    asm volatile("fence.proxy.async;" ::: "memory");                                               \
    __syncthreads();                                                                               \
    const unsigned long long base = __cvta_generic_to_shared(shared) >> 4;                         \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define FINISH(count)                                                                              \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                 \
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");                                 \
    for (int i = 0; i < count; i++) sums[threadIdx.x * count + i] = d[i]
/* Behind the sums, the number of an operand. */
#define AT_4_0 "%4"
#define AT_4_1 "%5"
#define AT_4_2 "%6"
#define AT_4_3 "%7"
#define AT_4_4 "%8"
#define AT_4_5 "%9"
#define AT_12_0 "%12"
#define AT_12_1 "%13"
#define AT_12_2 "%14"
#define AT_12_3 "%15"
#define AT_12_4 "%16"
#define AT_12_5 "%17"
#define AT_64_0 "%64"
#define AT_64_1 "%65"
#define AT_64_2 "%66"
#define AT_64_3 "%67"
#define AT_64_4 "%68"
#define AT_64_5 "%69"
#define AT_128_0 "%128"
#define AT_128_1 "%129"
#define AT_128_2 "%130"
#define AT_128_3 "%131"
#define AT_128_4 "%132"
#define AT_128_5 "%133"
#define PREDICATE(add) "{.reg .pred p; setp.ne.b32 p, " add ", 0; wgmma.mma_async.sync.aligned."

#define BOTH_SHARED(name, shape, T, count, constraint, tail)                                       \
    __global__ static void name(T *sums, const unsigned char *image, unsigned long long a,         \
                                unsigned long long b, int add)                                     \
    {                                                                                              \
        BEGIN(T, count);                                                                           \
        asm volatile(PREDICATE(AT_##count##_2) shape " {" LIST_##count "}, " AT_##count##_0 ", "   \
                     AT_##count##_1 ", p" tail ";}"                                                \
                     : SUMS_##count(constraint)                                                    \
                     : "l"(a + base), "l"(b + base), "r"(add));                                    \
        FINISH(count);                                                                             \
    }
#define A_HELD(name, shape, T, count, constraint, tail)                                            \
    __global__ static void name(T *sums, const unsigned char *image, const uint4 *held,            \
                                unsigned long long b, int add)                                     \
    {                                                                                              \
        const uint4 a = held[threadIdx.x];                                                         \
        BEGIN(T, count);                                                                           \
        asm volatile(PREDICATE(AT_##count##_5) shape " {" LIST_##count "}, {" AT_##count##_0 ", "  \
                     AT_##count##_1 ", " AT_##count##_2 ", " AT_##count##_3 "}, " AT_##count##_4   \
                     ", p" tail ";}"                                                               \
                     : SUMS_##count(constraint)                                                    \
                     : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(b + base), "r"(add));           \
        FINISH(count);                                                                             \
    }

BOTH_SHARED(bf16_n8, "m64n8k16.f32.bf16.bf16", float, 4, FLOATS, ", 1, 1, 0, 0")
BOTH_SHARED(bf16_n24, "m64n24k16.f32.bf16.bf16", float, 12, FLOATS, ", 1, 1, 0, 0")
BOTH_SHARED(bf16_n128, "m64n128k16.f32.bf16.bf16", float, 64, FLOATS, ", 1, 1, 0, 0")
BOTH_SHARED(bf16_n256, "m64n256k16.f32.bf16.bf16", float, 128, FLOATS, ", 1, 1, 0, 0")
BOTH_SHARED(bf16_n128_b_turned, "m64n128k16.f32.bf16.bf16", float, 64, FLOATS, ", 1, 1, 0, 1")
BOTH_SHARED(bf16_n128_a_turned, "m64n128k16.f32.bf16.bf16", float, 64, FLOATS, ", 1, 1, 1, 0")
BOTH_SHARED(bf16_n256_turned, "m64n256k16.f32.bf16.bf16", float, 128, FLOATS, ", 1, 1, 1, 1")
BOTH_SHARED(bf16_minus_a, "m64n8k16.f32.bf16.bf16", float, 4, FLOATS, ", -1, 1, 0, 0")
BOTH_SHARED(bf16_minus_b, "m64n8k16.f32.bf16.bf16", float, 4, FLOATS, ", 1, -1, 0, 0")
BOTH_SHARED(bf16_minus_both, "m64n8k16.f32.bf16.bf16", float, 4, FLOATS, ", -1, -1, 0, 0")
BOTH_SHARED(half_n8, "m64n8k16.f32.f16.f16", float, 4, FLOATS, ", 1, 1, 0, 0")
BOTH_SHARED(half_in_half_n16, "m64n16k16.f16.f16.f16", unsigned, 4, WORDS, ", 1, 1, 0, 0")
BOTH_SHARED(tf32_n8, "m64n8k8.f32.tf32.tf32", float, 4, FLOATS, ", 1, 1")
BOTH_SHARED(e4m3_n8, "m64n8k32.f32.e4m3.e4m3", float, 4, FLOATS, ", 1, 1")
BOTH_SHARED(e4m3_e5m2_n8, "m64n8k32.f32.e4m3.e5m2", float, 4, FLOATS, ", 1, 1")
BOTH_SHARED(e5m2_in_half_n16, "m64n16k32.f16.e5m2.e4m3", unsigned, 4, WORDS, ", 1, 1")
BOTH_SHARED(s8_n8, "m64n8k32.s32.s8.s8", int, 4, WORDS, "")
BOTH_SHARED(u8_s8_n24, "m64n24k32.s32.u8.s8", int, 12, WORDS, "")
A_HELD(bf16_held_n24, "m64n24k16.f32.bf16.bf16", float, 12, FLOATS, ", 1, 1, 0")
A_HELD(bf16_held_turned, "m64n24k16.f32.bf16.bf16", float, 12, FLOATS, ", 1, 1, 1")
A_HELD(tf32_held_n8, "m64n8k8.f32.tf32.tf32", float, 4, FLOATS, ", 1, 1")
A_HELD(s8_held_n8, "m64n8k32.s32.s8.s8", int, 4, WORDS, "")

/* ---- elements -------------------------------------------------------------------------------- */

struct bf16 {
    typedef __nv_bfloat16 type;
    static double value(type x) { return __bfloat162float(x); }
    static type make(int x) { return __float2bfloat16(x / 4.f); }
};
struct fp16 {
    typedef __half type;
    static double value(type x) { return __half2float(x); }
    static type make(int x) { return __float2half(x / 4.f); }
};
struct tf32 {
    typedef float type;
    static double value(type x) { return x; }
    static type make(int x) { return x / 4.f; }
};
struct e4m3 {
    typedef __nv_fp8_e4m3 type;
    static double value(type x) { return (double)(float)x; }
    static type make(int x) { return type(x / 4.f); }
};
struct e5m2 {
    typedef __nv_fp8_e5m2 type;
    static double value(type x) { return (double)(float)x; }
    static type make(int x) { return type(x / 4.f); }
};
struct s8 {
    typedef signed char type;
    static double value(type x) { return x; }
    static type make(int x) { return (type)x; }
};
struct u8 {
    typedef unsigned char type;
    static double value(type x) { return x; }
    static type make(int x) { return (type)(x + 100); }
};

template <class T> static std::vector<typename T::type> numbers(int count, int seed)
{
    std::vector<typename T::type> x;
    for (int i = 0; i < count; i++) x.push_back(T::make((i * 37 + seed * 11 + i / 7) % 33 - 16));
    return x;
}

/* Sum i of a thread, and how many of them are in a register. */
static double sum_of(const float *d, int i) { return d[i]; }
static double sum_of(const int *d, int i) { return d[i]; }
static double sum_of(const unsigned *d, int i) { return __half2float(((const __half *)d)[i]); }
static double rounded(unsigned, double sum) { return __half2float(__double2half(sum)); }
template <class S> static double rounded(S, double sum) { return sum; }
static float make_sum(float, int i) { return i / 2.f; }
static int make_sum(int, int i) { return i; }
static unsigned make_sum(unsigned, int i)
{
    const __half two[2] = {__float2half(i / 2.f), __float2half(-i)};
    unsigned word;
    memcpy(&word, two, 4);
    return word;
}

template <class T> static T *on_device(const std::vector<T> &x)
{
    T *p;
    OK(cudaMalloc(&p, x.size() * sizeof(T)));
    OK(cudaMemcpy(p, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* As documented: thread t has, for each 8 columns, two of row t / 32 * 16 + t % 32 / 4 and two of the
 * row 8 below. */
template <class A, class B, class S>
static void compare(const std::vector<S> &before, const std::vector<S> &after, int n,
                    const std::vector<typename A::type> &a, const std::vector<typename B::type> &b,
                    int k, bool add, int sign)
{
    const int count = (int)before.size() / 128, each = n / 2;
    int wrong = 0;
    for (int t = 0; t < 128; t++)
        for (int i = 0; i < each; i++) {
            const int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, col = i / 4 * 8 + t % 4 * 2 + i % 2;
            double sum = add ? sum_of(&before[t * count], i) : 0;
            for (int q = 0; q < k; q++)
                sum += sign * A::value(a[row * k + q]) * B::value(b[col * k + q]);
            wrong += sum_of(&after[t * count], i) != rounded(S(), sum);
        }
    CHECK(wrong == 0);
}

template <class S> static std::vector<S> first_sums(int count)
{
    std::vector<S> x;
    for (int i = 0; i < 128 * count; i++) x.push_back(make_sum(S(), i % 29 - 14));
    return x;
}

template <class S> static std::vector<S> from_device(const S *p, size_t count)
{
    std::vector<S> x(count);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(x.data(), p, count * sizeof(S), cudaMemcpyDeviceToHost));
    return x;
}

/* count: registers of sums of a thread */
template <class A, class B, class S>
static void multiply(void (*kernel)(S *, const unsigned char *, unsigned long long,
                                    unsigned long long, int),
                     int count, int n, layout la, layout lb, bool add = true, int sign = 1)
{
    const int size = sizeof(typename A::type), k = 32 / size;
    auto a = numbers<A>(M * k, 1);
    auto b = numbers<B>(n * k, 2);
    std::vector<unsigned char> image(IMAGE);
    auto da = lay_out(image.data(), 0, la, (unsigned char *)a.data(), M, k, size);
    auto db = lay_out(image.data(), IMAGE / 2, lb, (unsigned char *)b.data(), n, k, size);
    auto before = first_sums<S>(count);
    S *sums = on_device(before);
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE));
    kernel<<<1, 128, IMAGE>>>(sums, on_device(image), da, db, add);
    compare<A, B>(before, from_device(sums, before.size()), n, a, b, k, add, sign);
}

/* A thread's registers of A: rows r and r + 8, the first and the second half of k. */
template <class A, class B, class S>
static void multiply_held(void (*kernel)(S *, const unsigned char *, const uint4 *,
                                         unsigned long long, int),
                          int count, int n, layout lb)
{
    const int size = sizeof(typename A::type), k = 32 / size, word = 4 / size;
    auto a = numbers<A>(M * k, 1);
    auto b = numbers<B>(n * k, 2);
    std::vector<unsigned char> image(IMAGE);
    auto db = lay_out(image.data(), 0, lb, (unsigned char *)b.data(), n, k, size);
    std::vector<uint4> held(128);
    for (int t = 0; t < 128; t++)
        for (int i = 0; i < 4; i++) {
            const int row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8;
            memcpy((unsigned *)&held[t] + i, &a[row * k + i / 2 * k / 2 + t % 4 * word], 4);
        }
    auto before = first_sums<S>(count);
    S *sums = on_device(before);
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, IMAGE));
    kernel<<<1, 128, IMAGE>>>(sums, on_device(image), on_device(held), db, true);
    compare<A, B>(before, from_device(sums, before.size()), n, a, b, k, true, 1);
}

static const layout plain = {16, false, 0, 0}, turned = {16, true, 0, 0};
static const int widths[] = {16, 32, 64, 128};

CASE(every_number_of_columns)
{
    multiply<bf16, bf16>(bf16_n8, 4, 8, plain, plain);
    multiply<bf16, bf16>(bf16_n24, 12, 24, plain, plain);
    multiply<bf16, bf16>(bf16_n128, 64, 128, plain, plain);
    multiply<bf16, bf16>(bf16_n256, 128, 256, plain, plain);
}

CASE(rows_along_k_swizzled)
{
    for (int a : widths)
        for (int b : widths)
            multiply<bf16, bf16>(bf16_n128, 64, 128, {a, false, 0, 0}, {b, false, 0, 0});
}

CASE(a_later_part_of_swizzled_rows)
{
    multiply<bf16, bf16>(bf16_n24, 12, 24, {128, false, 32, 0}, {128, false, 96, 0});
    multiply<bf16, bf16>(bf16_n24, 12, 24, {64, false, 32, 0}, {128, false, 64, 0});
}

CASE(rows_across_swizzled)
{
    for (int width : widths) {
        multiply<bf16, bf16>(bf16_n128_b_turned, 64, 128, plain, {width, true, 0, 0});
        multiply<bf16, bf16>(bf16_n128_a_turned, 64, 128, {width, true, 0, 0}, plain);
        multiply<bf16, bf16>(bf16_n256_turned, 128, 256, turned, {width, true, 0, 0});
    }
}

CASE(a_pattern_that_begins_late)
{
    multiply<bf16, bf16>(bf16_n24, 12, 24, {128, false, 0, 384}, {128, false, 0, 128});
}

CASE(every_type)
{
    multiply<fp16, fp16>(half_n8, 4, 8, plain, {128, false, 0, 0});
    multiply<fp16, fp16>(half_in_half_n16, 4, 16, {64, false, 0, 0}, plain);
    multiply<tf32, tf32>(tf32_n8, 4, 8, plain, {64, false, 0, 0});
    multiply<e4m3, e4m3>(e4m3_n8, 4, 8, {128, false, 0, 0}, plain);
    multiply<e4m3, e5m2>(e4m3_e5m2_n8, 4, 8, plain, plain);
    multiply<e5m2, e4m3>(e5m2_in_half_n16, 4, 16, plain, plain);
    multiply<s8, s8>(s8_n8, 4, 8, {32, false, 0, 0}, plain);
    multiply<u8, s8>(u8_s8_n24, 12, 24, plain, {128, false, 0, 0});
}

CASE(a_in_registers)
{
    multiply_held<bf16, bf16>(bf16_held_n24, 12, 24, {128, false, 0, 0});
    multiply_held<bf16, bf16>(bf16_held_turned, 12, 24, {128, true, 0, 0});
    multiply_held<tf32, tf32>(tf32_held_n8, 4, 8, plain);
    multiply_held<s8, s8>(s8_held_n8, 4, 8, plain);
}

CASE(signs_and_no_sum_before)
{
    multiply<bf16, bf16>(bf16_n8, 4, 8, plain, plain, false);
    multiply<bf16, bf16>(bf16_minus_a, 4, 8, plain, plain, true, -1);
    multiply<bf16, bf16>(bf16_minus_b, 4, 8, plain, plain, true, -1);
    multiply<bf16, bf16>(bf16_minus_both, 4, 8, plain, plain, true, 1);
}
