/* intrinsics_float.cu: f32 and f64 in every rounding, against the host's own rounding modes; signed
 * zeros, infinities, NaNs, denormals; conversions that clamp. */
#include "check.h"

#include <cfenv>
#include <climits>

static const double special[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 3.0,
                                 1e-3,
                                 -1e-3,
                                 0x1p-24,
                                 0x1p-25,
                                 1e30,
                                 -1e30,
                                 1e-30,
                                 3e38,
                                 1e-40,
                                 -1e-44,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0.1,
                                 1.5,
                                 -2.5,
                                 16777217.0,
                                 2147483648.0,
                                 -2147483649.0,
                                 4294967296.0,
                                 1e-310,
                                 9223372036854775808.0,
                                 18446744073709551616.0,
                                 1e300,
                                 255.5};
constexpr int VALUES = sizeof special / sizeof *special, PAIRS = VALUES * VALUES;

/* The same operation on both sides; on the host, `mode` is how it rounds. */
template <typename T> static bool same(T got, T want)
{
    return want != want ? got != got : got == want && std::signbit(got) == std::signbit(want);
}

#define DEFINE(name, T, device, host)                                                              \
    __global__ void run_##name(T *out, const T *in)                                                \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i >= PAIRS) return;                                                                    \
        T x = in[i / VALUES], y = in[i % VALUES], z = in[(i / VALUES + i) % VALUES];               \
        (void)y, (void)z;                                                                          \
        out[i] = device;                                                                           \
    }                                                                                              \
    static void try_##name(int mode)                                                               \
    {                                                                                              \
        std::vector<T> in(special, special + VALUES);                                              \
        T *out = device_array<T>(PAIRS);                                                           \
        run_##name<<<(PAIRS + 127) / 128, 128>>>(out, to_device(in));                              \
        SYNC();                                                                                    \
        std::vector<T> got = to_host(out, PAIRS);                                                  \
        for (int i = 0; i < PAIRS; i++) {                                                          \
            volatile T x = in[i / VALUES], y = in[i % VALUES];                                     \
            volatile T z = in[(i / VALUES + i) % VALUES];                                          \
            (void)y, (void)z;                                                                      \
            fesetround(mode);                                                                      \
            volatile T want = host;                                                                \
            fesetround(FE_TONEAREST);                                                              \
            if (same<T>(got[i], want)) continue;                                                   \
            printf(#name "(%.17g, %.17g, %.17g) is %.17g, not %.17g\n", (double)x, (double)y,      \
                   (double)z, (double)got[i], (double)want);                                       \
            failures++;                                                                            \
            return;                                                                                \
        }                                                                                          \
    }
#define EACH_MODE(name, T, intrinsic, host)                                                        \
    DEFINE(name##_rn, T, intrinsic(rn), host)                                                      \
    DEFINE(name##_rz, T, intrinsic(rz), host)                                                      \
    DEFINE(name##_rd, T, intrinsic(rd), host)                                                      \
    DEFINE(name##_ru, T, intrinsic(ru), host)                                                      \
    static void try_##name()                                                                       \
    {                                                                                              \
        try_##name##_rn(FE_TONEAREST);                                                             \
        try_##name##_rz(FE_TOWARDZERO);                                                            \
        try_##name##_rd(FE_DOWNWARD);                                                              \
        try_##name##_ru(FE_UPWARD);                                                                \
    }
#define FADD(r)  __fadd_##r(x, y)
#define FMUL(r)  __fmul_##r(x, y)
#define FMAF(r)  __fmaf_##r(x, y, z)
#define FDIV(r)  __fdiv_##r(x, y)
#define FSQRT(r) __fsqrt_##r(x)
#define FRCP(r)  __frcp_##r(x)
#define DADD(r)  __dadd_##r(x, y)
#define DMUL(r)  __dmul_##r(x, y)
#define DFMA(r)  __fma_##r(x, y, z)
#define DDIV(r)  __ddiv_##r(x, y)
#define DSQRT(r) __dsqrt_##r(x)
EACH_MODE(fadd, float, FADD, x + y)
EACH_MODE(fmul, float, FMUL, x *y)
EACH_MODE(fma32, float, FMAF, fmaf(x, y, z))
EACH_MODE(fdiv, float, FDIV, x / y)
EACH_MODE(fsqrt, float, FSQRT, sqrtf(x))
EACH_MODE(frcp, float, FRCP, 1 / x)
EACH_MODE(dadd, double, DADD, x + y)
EACH_MODE(dmul, double, DMUL, x *y)
EACH_MODE(fma64, double, DFMA, fma(x, y, z))
EACH_MODE(ddiv, double, DDIV, x / y)
EACH_MODE(dsqrt, double, DSQRT, sqrt(x))

CASE(floats_in_every_rounding)
{
    try_fadd(), try_fmul(), try_fma32(), try_fdiv(), try_fsqrt(), try_frcp();
}

CASE(doubles_in_every_rounding)
{
    try_dadd(), try_dmul(), try_fma64(), try_ddiv(), try_dsqrt();
}

/* A number beats a NaN; -0 is below +0. */
template <typename T> static T lesser(T x, T y)
{
    if (x != x) return y;
    if (y != y) return x;
    return x < y || (x == y && std::signbit(x)) ? x : y;
}

DEFINE(min32, float, fminf(x, y), (lesser<float>(x, y)))
DEFINE(max32, float, fmaxf(x, y), (-lesser<float>(-x, -y)))
DEFINE(min64, double, fmin(x, y), (lesser<double>(x, y)))
DEFINE(saturate, float, __saturatef(x), x > 0 ? x < 1 ? (float)x : 1.0f : 0.0f)
DEFINE(saturated_sum, float, __saturatef(x + y),
       (float)(x + y) > 0 ? (float)(x + y) < 1 ? (float)(x + y) : 1.0f : 0.0f)
DEFINE(remainders, double, fmod(x, y), fmod(x, y))
DEFINE(near, float, rintf(x), rintf(x))
DEFINE(below, double, floor(x), floor(x))
DEFINE(signs, float, copysignf(x, y), copysignf(x, y))

CASE(comparisons_and_signs)
{
    int nearest = FE_TONEAREST;
    try_min32(nearest), try_max32(nearest), try_min64(nearest);
    try_saturate(nearest), try_saturated_sum(nearest);
    try_remainders(nearest), try_near(nearest), try_below(nearest), try_signs(nearest);
}

/* ---- conversions ----------------------------------------------------------------------------- */

struct converted {
    float from_double[4], from_int[4], from_ull[4];
    int to_int[4];
    unsigned to_unsigned;
    long long to_long[2];
    unsigned long long to_ull;
    short to_short;
    unsigned char to_char;
};

__global__ void convert(converted *out, const double *in)
{
    double x = in[threadIdx.x];
    float f = (float)x;
    int i = 0x01234567 * (int)threadIdx.x + 16777217;
    unsigned long long u = 0xffffff7fffffffffull - threadIdx.x;
    *(out + threadIdx.x) = {
        {__double2float_rn(x), __double2float_rz(x), __double2float_rd(x), __double2float_ru(x)},
        {__int2float_rn(i), __int2float_rz(i), __int2float_rd(i), __int2float_ru(i)},
        {__ull2float_rn(u), __ull2float_rz(u), __ull2float_rd(u), __ull2float_ru(u)},
        {__float2int_rn(f), __float2int_rz(f), __float2int_rd(f), __float2int_ru(f)},
        __float2uint_rz(f),
        {__double2ll_rn(x), __float2ll_rd(f)},
        __double2ull_ru(x),
        0,
        0};
    asm("{.reg .s16 r; cvt.rzi.s16.f32 r, %1; mov.b16 %0, r;}"
        : "=h"(out[threadIdx.x].to_short)
        : "f"(f));
    unsigned byte;
    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(byte) : "f"(f));
    out[threadIdx.x].to_char = (unsigned char)byte;
}

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

template <typename T> static float rounded(T from, int mode)
{
    volatile T x = from;
    fesetround(mode);
    volatile float f = (float)x;
    fesetround(FE_TONEAREST);
    return f;
}

static double whole(double x, int mode)
{
    return mode == FE_TONEAREST    ? rint(x)
           : mode == FE_TOWARDZERO ? trunc(x)
           : mode == FE_DOWNWARD   ? floor(x)
                                   : ceil(x);
}

/* Too large: the nearest that there is. */
template <typename T> static T clamped(double x)
{
    if (x >= ldexp(1.0, 8 * sizeof(T) - ((T)-1 < 0))) return std::numeric_limits<T>::max();
    return x <= (double)std::numeric_limits<T>::min() ? std::numeric_limits<T>::min() : (T)x;
}

CASE(conversions)
{
    std::vector<double> in(special, special + VALUES);
    converted *out = device_array<converted>(VALUES);
    convert<<<1, VALUES>>>(out, to_device(in));
    SYNC();
    std::vector<converted> got = to_host(out, VALUES);
    for (int k = 0; k < VALUES; k++) {
        double x = in[k];
        float f = rounded(x, FE_TONEAREST);
        for (int m = 0; m < 4; m++) {
            CHECK(same(got[k].from_double[m], rounded(x, modes[m])));
            CHECK(got[k].from_int[m] == rounded(0x01234567 * k + 16777217, modes[m]));
            CHECK(got[k].from_ull[m] == rounded(0xffffff7fffffffffull - k, modes[m]));
            CHECK(got[k].to_int[m] == (f != f ? 0 : clamped<int>(whole(f, modes[m]))));
        }
        if (x != x) continue;
        CHECK(got[k].to_unsigned == clamped<unsigned>(trunc(f)));
        CHECK(got[k].to_long[0] == clamped<long long>(rint(x)));
        CHECK(got[k].to_long[1] == clamped<long long>(floorf(f)));
        CHECK(got[k].to_ull == clamped<unsigned long long>(ceil(x)));
        CHECK(got[k].to_short == clamped<short>(trunc(f)));
        CHECK(got[k].to_char == clamped<unsigned char>(trunc(f)));
    }
}

__global__ void quick_tanh(float *out, const float *in)
{
    asm("tanh.approx.f32 %0, %1;" : "=f"(out[threadIdx.x]) : "f"(in[threadIdx.x]));
}

/* As coarse as PTX allows a GPU to be, and no finer: what relies on more fails here too. */
CASE(tanh_approx)
{
    std::vector<float> in = {0.0f, -0.0f, 1e-3f, 0.1f, -0.5f, 0.7f, 1.0f, 3.0f, -20.0f, NAN};
    float *out = device_array<float>(in.size());
    double worst = 0.0;
    quick_tanh<<<1, in.size()>>>(out, to_device(in));
    SYNC();
    std::vector<float> got = to_host(out, in.size());
    for (size_t i = 2; i + 1 < in.size(); i++) {
        double want = tanh((double)in[i]);
        worst = fmax(worst, fabs(got[i] / want - 1.0));
    }
    CHECK(worst < 0x1p-11 && worst > 0x1p-14);
    CHECK(same(got[0], 0.0f) && same(got[1], -0.0f) && got[8] == -1.0f && got[9] != got[9]);
}
