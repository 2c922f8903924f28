/* intrinsics_half.cu: 16-bit floats, bit by bit: conversions in every rounding, arithmetic that is
 * rounded once, saturation, NaNs. */
#include "check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned short bits;

/* Local types may not go into templates of kernels, so each function gets a name of its own. */
#define CONVERSION(function, T)                                                                    \
    struct run_##function {                                                                        \
        static const char *name()                                                                  \
        {                                                                                          \
            return #function;                                                                      \
        }                                                                                          \
        __host__ __device__ static bits run(T x)                                                   \
        {                                                                                          \
            auto result = function(x);                                                             \
            bits b;                                                                                \
            memcpy(&b, &result, sizeof b);                                                         \
            return b;                                                                              \
        }                                                                                          \
    };

/* Floats around every edge of both formats: halfway, a little off, denormal, too large, none. */
static std::vector<float> edges()
{
    std::vector<float> v = {0.0f,     1e-8f,    0x1p-25f, 0x1.000002p-25f, 0x1p-24f, 0x1.8p-24f,
                            65503.9f, 65504.0f, 65519.0f, 65520.0f,        65535.0f, 70000.0f,
                            1e30f,    3.3e38f,  3.4e38f,  INFINITY,        1e-40f,   1e-45f};
    for (int i = 0; i < 2000; i++) {
        uint32_t word = 0x38000000 + i * 0x4b17 + (i % 3 == 0 ? 0x1000 : i % 3 == 1 ? 0x8000 : 0);
        float f;
        memcpy(&f, &word, 4);
        v.push_back(f);
    }
    size_t n = v.size();
    for (size_t i = 0; i < n; i++) v.push_back(-v[i]);
    return v;
}

/* What the header computes on the host is the reference. */
template <typename F, typename IN> __global__ void apply(bits *out, const IN *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = F::run(in[i]);
}

template <typename F, typename IN> static void compare(const std::vector<IN> &in)
{
    int n = (int)in.size();
    bits *out = device_array<bits>(n);
    apply<F><<<(n + 127) / 128, 128>>>(out, to_device(in), n);
    SYNC();
    std::vector<bits> got = to_host(out, n);
    for (int i = 0; i < n; i++) {
        bits want = F::run(in[i]);
        if (got[i] == want) continue;
        printf("%s(%.9g) is %04x, not %04x\n", F::name(), (double)in[i], got[i], want);
        failures++;
        return;
    }
}

CONVERSION(__float2half_rn, float)
CONVERSION(__float2half_rz, float)
CONVERSION(__float2half_rd, float)
CONVERSION(__float2half_ru, float)
CONVERSION(__float2bfloat16_rn, float)
CONVERSION(__float2bfloat16_rz, float)
CONVERSION(__float2bfloat16_rd, float)
CONVERSION(__float2bfloat16_ru, float)
CONVERSION(__double2half, double)
CONVERSION(__double2bfloat16, double)

CASE(from_float)
{
    compare<run___float2half_rn>(edges());
    compare<run___float2half_rz>(edges());
    compare<run___float2half_rd>(edges());
    compare<run___float2half_ru>(edges());
    compare<run___float2bfloat16_rn>(edges());
    compare<run___float2bfloat16_rz>(edges());
    compare<run___float2bfloat16_rd>(edges());
    compare<run___float2bfloat16_ru>(edges());
}

/* Doubles next to a tie of the narrow format, nearer than a float can tell. */
CASE(from_double)
{
    std::vector<double> in;
    for (float x : edges()) {
        in.push_back(x);
        in.push_back(x * (1 + 0x1p-40));
        in.push_back(x * (1 - 0x1p-40));
    }
    compare<run___double2half>(in);
    compare<run___double2bfloat16>(in);
}

CONVERSION(__int2half_rn, int)
CONVERSION(__int2half_rz, int)
CONVERSION(__int2half_rd, int)
CONVERSION(__int2half_ru, int)
CONVERSION(__uint2half_rn, unsigned)
CONVERSION(__ll2half_rn, long long)
CONVERSION(__int2bfloat16_rn, int)
CONVERSION(__ull2bfloat16_rn, unsigned long long)

template <typename T> static std::vector<T> integers()
{
    std::vector<T> v;
    for (int bit = 0; bit < 8 * (int)sizeof(T); bit++) {
        for (int i = -5; i <= 5; i++) {
            T x = ((T)1 << bit) + (T)i;
            v.push_back(x);
            v.push_back((T)(x + (x >> 9) + (x >> 12)));
            v.push_back((T)-x);
        }
    }
    return v;
}

CASE(from_integers)
{
    compare<run___int2half_rn>(integers<int>());
    compare<run___int2half_rz>(integers<int>());
    compare<run___int2half_rd>(integers<int>());
    compare<run___int2half_ru>(integers<int>());
    compare<run___uint2half_rn>(integers<unsigned>());
    compare<run___ll2half_rn>(integers<long long>());
    compare<run___int2bfloat16_rn>(integers<int>());
    compare<run___ull2bfloat16_rn>(integers<unsigned long long>());
}

/* ---- every half ------------------------------------------------------------------------------ */

__global__ void to_others(float *f, int *i, short *s, unsigned char *c, long long *l)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    half x = __ushort_as_half((bits)at);
    f[at] = __half2float(x);
    i[at] = __half2int_rd(x);
    s[at] = __half2short_rn(x);
    c[at] = __half2uchar_rz(x);
    l[at] = __half2ll_ru(x);
}

CASE(every_half)
{
    float *f = device_array<float>(65536);
    int *i = device_array<int>(65536);
    short *s = device_array<short>(65536);
    unsigned char *c = device_array<unsigned char>(65536);
    long long *l = device_array<long long>(65536);
    to_others<<<256, 256>>>(f, i, s, c, l);
    SYNC();
    std::vector<float> floats = to_host(f, 65536);
    std::vector<int> ints = to_host(i, 65536);
    std::vector<short> shorts = to_host(s, 65536);
    std::vector<unsigned char> chars = to_host(c, 65536);
    std::vector<long long> longs = to_host(l, 65536);
    int wrong = 0;
    for (int k = 0; k < 65536; k++) {
        half x = __ushort_as_half((bits)k);
        float value = __half2float(x);
        bool none = value != value;
        wrong += !(floats[k] == value || (none && floats[k] != floats[k]));
        if (none || std::isinf(value)) continue;
        wrong += ints[k] != (int)floorf(value);
        wrong += shorts[k] != (short)std::min(std::max(rintf(value), -32768.0f), 32767.0f);
        wrong += chars[k] != (unsigned char)std::min(std::max(truncf(value), 0.0f), 255.0f);
        wrong += longs[k] != (long long)ceilf(value);
    }
    CHECK(wrong == 0);
}

/* ---- arithmetic: exact integers on the host -------------------------------------------------- */

/* A sum in units of 2^-48, rounded to `precision` bits, ties to even; `least`: the smallest step.
 */
static double rounded(__int128 sum, int precision, int least)
{
    bool negative = sum < 0;
    unsigned __int128 rest = negative ? -sum : sum;
    int step = least;
    while (rest >> step >> precision) step++;
    unsigned __int128 whole = rest >> step, lost = rest - (whole << step);
    unsigned __int128 tie = (unsigned __int128)1 << step >> 1;
    if (lost > tie || (lost == tie && whole & 1)) whole++;
    double value = ldexp((double)(unsigned long long)whole, step - 48);
    return negative ? -value : value;
}

template <typename T> __global__ void multiply_add(T *out, const T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __hfma(x[i], x[(i + 1) % n], x[(i + 2) % n]);
}

template <typename T> static void try_fma(const std::vector<T> &x, int precision, int least)
{
    int n = (int)x.size();
    T *out = device_array<T>(n);
    multiply_add<<<(n + 127) / 128, 128>>>(out, to_device(x), n);
    SYNC();
    std::vector<T> got = to_host(out, n);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        __int128 term[3];
        for (int k = 0; k < 3; k++) term[k] = (__int128)ldexp((float)x[(i + k) % n], 24);
        double want = rounded(term[0] * term[1] + (term[2] << 24), precision, least);
        if (fabs(want) < 65520) wrong += !((float)got[i] == want);
    }
    CHECK(wrong == 0);
}

CASE(fma_is_rounded_once)
{
    std::vector<half> x;
    std::vector<__nv_bfloat16> y;
    uint32_t seed = 1;
    for (int i = 0; i < 60000; i++) {
        seed = seed * 1664525 + 1013904223;
        x.push_back(__ushort_as_half((bits)((seed >> 8 & 0x83ff) | (seed >> 9) % 24 << 10)));
        y.push_back(
            __ushort_as_bfloat16((bits)((seed >> 8 & 0x807f) | (120 + (seed >> 9) % 16) << 7)));
    }
    try_fma(x, 11, 24);
    try_fma(y, 8, 0);
}

__global__ void operations(half *out, const half *x, const half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half2 both = __halves2half2(x[i], y[i]), turned = __halves2half2(y[i], x[i]);
    half *o = out + 8 * i;
    o[0] = __hadd(x[i], y[i]);
    o[1] = __hmul(x[i], y[i]);
    o[2] = __low2half(__hsub2(both, turned));
    o[3] = __high2half(__hsub2(both, turned));
    o[4] = __hadd_sat(x[i], y[i]);
    o[5] = __low2half(__hmul2_sat(both, turned));
    o[6] = __hmin(x[i], y[i]);
    o[7] = __hmax_nan(x[i], y[i]);
}

static bool same(half got, float want)
{
    float value = __half2float(got);
    return want != want ? value != value : value == __half2float(__float2half_rn(want));
}

/* Two halves, added or multiplied in double, are exact. */
CASE(operations)
{
    std::vector<half> x, y;
    for (int i = 0; i < 256; i++) {
        for (int k = 0; k < 256; k++) {
            x.push_back(__ushort_as_half((bits)(i * 257 + 3)));
            y.push_back(__ushort_as_half((bits)(k * 259 + 1)));
        }
    }
    int n = (int)x.size(), wrong[8] = {0};
    half *out = device_array<half>(8 * n);
    operations<<<n / 256, 256>>>(out, to_device(x), to_device(y), n);
    SYNC();
    std::vector<half> got = to_host(out, 8 * n);
    for (int i = 0; i < n; i++) {
        float a = __half2float(x[i]), b = __half2float(y[i]);
        float sum = __half2float(__double2half((double)a + b));
        float product = __half2float(__double2half((double)a * b));
        float want[] = {sum,
                        product,
                        __half2float(__double2half((double)a - b)),
                        __half2float(__double2half((double)b - a)),
                        sum > 0 ? std::min(sum, 1.0f) : 0,
                        product > 0 ? std::min(product, 1.0f) : 0,
                        fminf(a, b),
                        a != a || b != b ? NAN : std::max(a, b)};
        for (int k = 0; k < 8; k++) wrong[k] += !same(got[8 * i + k], want[k]);
    }
    for (int k = 0; k < 8; k++) CHECK(wrong[k] == 0);
}

__global__ void with_relu(unsigned *out)
{
    half2 x = __floats2half2_rn(2, -3), y = __floats2half2_rn(1, NAN);
    __nv_bfloat162 p = __floats2bfloat162_rn(2, -3), q = __floats2bfloat162_rn(-5, 1);
    half2 r = __hfma2_relu(x, x, __floats2half2_rn(-5, -20));
    __nv_bfloat162 s = __hfma2_relu(p, p, q);
    half2 t = __hmin2_nan(x, y);
    memcpy(&out[0], &r, 4);
    memcpy(&out[1], &s, 4);
    memcpy(&out[2], &t, 4);
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(out[3]) : "f"(-1.5f), "f"(1.5f));
    asm("cvt.rz.bf16x2.f32 %0, %1, %2;" : "=r"(out[4]) : "f"(-1.999999f), "f"(1.999999f));
}

CASE(relu_and_nan)
{
    unsigned *out = device_array<unsigned>(5);
    with_relu<<<1, 1>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 5);
    CHECK(got[0] == 0x00000000); /* 4 - 5, 9 - 20 */
    CHECK(got[1] == 0x41200000); /* 4 - 5, 9 + 1 */
    CHECK(got[2] == 0x7fff3c00); /* 1, NaN */
    CHECK(got[3] == 0x00003e00); /* 0, 1.5 */
    CHECK(got[4] == 0xbfff3fff);
}
