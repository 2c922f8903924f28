/* types.cu: arithmetic of every type, against the same expressions on the host. */
#include "check.h"

#include <climits>
#include <cstdint>

/* One expression, evaluated by 64 threads on the device and by the host. */
#define SAME(name, type, expression)                                                               \
    __global__ void name##_kernel(type *out)                                                       \
    {                                                                                              \
        int t = threadIdx.x;                                                                       \
        out[t] = (type)(expression);                                                               \
    }                                                                                              \
    static void name()                                                                             \
    {                                                                                              \
        type *out = device_array<type>(64);                                                        \
        name##_kernel<<<1, 64>>>(out);                                                             \
        SYNC();                                                                                    \
        std::vector<type> got = to_host(out, 64);                                                  \
        for (int t = 0; t < 64; t++)                                                               \
            check(near((double)got[t], (double)(type)(expression)), #name, __LINE__);              \
    }

SAME(int_arithmetic, int, (t * 12345 - 77) / (t + 1) + (t * 991) % 17 - (t ^ 0x55))
SAME(int_shifts, int, ((t - 32) >> 2) + ((1 << (t % 31)) >> 3) + (int)((unsigned)(t - 40) >> 5))
SAME(unsigned_arithmetic, unsigned, (t * 2654435761u) / 7u + (t * 2654435761u) % 13u)
SAME(long_arithmetic, int64_t, ((int64_t)t * 1234567891011ll - 5) / (t + 3) + (int64_t)t % 7)
SAME(unsigned_long, uint64_t, ((uint64_t)t * 0x9e3779b97f4a7c15ull) >> (t % 40))
SAME(constant_division, int, (t - 30) / 7 + (t - 30) % 7 + (t - 20) / 10)
SAME(signed_bytes, signed char, (signed char)(t * 5) + (signed char)(t * 3))
SAME(unsigned_bytes, unsigned char, t * 5 + 3)
SAME(shorts, short, (short)(t * 1000) * 3)
SAME(bools, char, (t % 3 == 0 && t > 5) || t == 1)
SAME(float_arithmetic, float, (t + 0.5f) * 1.25f / (t - 31.3f) - 3.0f)
SAME(double_arithmetic, double, (t + 0.5) * 1.25 / (t - 31.3) - 1e-9 * t)
SAME(float_to_int, int, (t - 32) * 1.7f)
SAME(double_to_long, int64_t, (t - 32) * 1e11 + 0.7)
SAME(int_to_float, float, t * 16777217)
SAME(long_to_double, double, (int64_t)t * 1234567890123ll)
SAME(unsigned_to_float, float, 4000000000u + t)
SAME(mixed_compare, int, (t < 20.5f) + 2 * ((unsigned)t > 40u) + 4 * (t - 30ll < 0))
SAME(square_roots, float, sqrtf((float)t) + 1 / sqrtf(t + 1.0f))
SAME(exponentials, float, expf(t * 0.1f - 3) + exp2f(t * 0.1f) + log2f(t + 1.0f) + logf(t + 0.5f))
SAME(trigonometry, float, sinf(t * 0.3f) + cosf(t * 0.2f) + tanf(t * 0.01f) + atan2f(t, 3.0f))
SAME(hyperbolic, float, tanhf(t * 0.1f - 3) + erff(t * 0.05f))
SAME(powers, float, powf(t + 1.0f, 1.5f) + cbrtf((float)t))
SAME(rounding, float,
     floorf(t * 0.7f) + ceilf(t * 0.3f) + roundf(t * 0.45f) + truncf(-t * 0.6f) + rintf(t * 0.5f))
SAME(minmax, float, fminf(t, 30.0f) + fmaxf(t - 60.0f, -3.0f) + fabsf(t - 32.0f) + fmodf(t, 7.0f))
SAME(double_math, double,
     sqrt((double)t) + exp(t * 0.1) + log(t + 1.0) + sin(t * 0.3) + pow(t + 1.0, 0.3))
SAME(fused, float, fmaf(t, 1.5f, -3.0f) + (float)fma((double)t, 0.1, 2.0))

CASE(integers)
{
    int_arithmetic(), int_shifts(), unsigned_arithmetic(), long_arithmetic(), unsigned_long();
    constant_division(), signed_bytes(), unsigned_bytes(), shorts(), bools();
}

CASE(floats)
{
    float_arithmetic(), double_arithmetic(), minmax(), fused();
}

CASE(conversions)
{
    float_to_int(), double_to_long(), int_to_float(), long_to_double(), unsigned_to_float();
    mixed_compare(), rounding();
}

CASE(mathematics)
{
    square_roots(), exponentials(), trigonometry(), hyperbolic(), powers(), double_math();
}

__global__ void special(float *out)
{
    float zero = threadIdx.x * 0.0f;
    out[0] = 1 / zero;
    out[1] = zero / zero;
    out[2] = fmaxf(out[1], 3.0f);
    out[3] = isnan(out[1]) ? 1 : 0;
    out[4] = (float)(int)(1e20f + zero);
    out[5] = -1 / zero;
    out[6] = isinf(out[5]) ? 1 : 0;
    out[7] = __saturatef(1.5f) + __saturatef(-1.0f);
}

CASE(special_values)
{
    float *out = device_array<float>(8);
    special<<<1, 1>>>(out);
    SYNC();
    std::vector<float> got = to_host(out, 8);
    CHECK(std::isinf(got[0]) && got[0] > 0);
    CHECK(std::isnan(got[1]));
    CHECK(got[2] == 3 && got[3] == 1 && got[6] == 1 && got[7] == 1);
    CHECK(got[4] == (float)INT_MAX);
    CHECK(std::isinf(got[5]) && got[5] < 0);
}

__global__ void intrinsics(unsigned *out, unsigned x, unsigned y)
{
    out[0] = __popc(x), out[1] = __clz(x), out[2] = __ffs(x), out[3] = __brev(x);
    out[4] = __umulhi(x, y), out[5] = __byte_perm(x, y, 0x5140), out[6] = __funnelshift_l(x, y, 9);
    out[7] = __float_as_uint(1.5f), out[8] = __float2int_rn(2.5f), out[9] = __float2int_ru(2.1f);
    out[10] = __popcll(0x123456789abcdefull), out[11] = __clzll(1ll << 40),
    out[12] = __sad(3, 9, 5u);
    out[13] = __mul24(5, 7), out[14] = min(x, y) == x, out[15] = max(-3, 5);
    out[16] = __dp4a(0x01020304, 0x01010101, 5), out[17] = abs(-9);
}

CASE(integer_intrinsics)
{
    unsigned x = 0x00f0a5c3, y = 0x80000101;
    unsigned *out = device_array<unsigned>(18);
    intrinsics<<<1, 1>>>(out, x, y);
    SYNC();
    std::vector<unsigned> got = to_host(out, 18);
    unsigned want[18] = {12, 8,  1,          0xc3a50f00, (unsigned)((uint64_t)x * y >> 32),
                         0,  0,  0x3fc00000, 2,          3,
                         32, 23, 11,         35,         1,
                         5,  15, 9};
    want[5] = (y >> 8 & 0xff) << 24 | (x >> 8 & 0xff) << 16 | (y & 0xff) << 8 | (x & 0xff);
    want[6] = (unsigned)(((uint64_t)y << 32 | x) << 9 >> 32);
    for (int i = 0; i < 18; i++)
        if (got[i] != want[i])
            printf("intrinsic %d: %x instead of %x\n", i, got[i], want[i]), failures++;
}

__global__ void vectors(float4 *f, double2 *d, int2 *i, uchar4 *c, short2 *s)
{
    int t = threadIdx.x;
    float4 v = f[t];
    f[t] = make_float4(v.w, v.z, v.y, v.x + t);
    d[t] = make_double2(d[t].y * 2, d[t].x);
    i[t] = make_int2(i[t].y, t);
    c[t] = make_uchar4(c[t].w, c[t].z, t, 255);
    s[t] = make_short2(s[t].y, -t);
}

CASE(vector_types)
{
    const int n = 32;
    float4 *f = to_device(std::vector<float4>(n, make_float4(1, 2, 3, 4)));
    double2 *d = to_device(std::vector<double2>(n, make_double2(5, 6)));
    int2 *i = to_device(std::vector<int2>(n, make_int2(7, 8)));
    uchar4 *c = to_device(std::vector<uchar4>(n, make_uchar4(9, 10, 11, 12)));
    short2 *s = to_device(std::vector<short2>(n, make_short2(13, 14)));
    vectors<<<1, 32>>>(f, d, i, c, s);
    SYNC();
    float4 gf = to_host(f, n)[9];
    double2 gd = to_host(d, n)[9];
    int2 gi = to_host(i, n)[9];
    uchar4 gc = to_host(c, n)[9];
    short2 gs = to_host(s, n)[9];
    CHECK(gf.x == 4 && gf.y == 3 && gf.z == 2 && gf.w == 10);
    CHECK(gd.x == 12 && gd.y == 5);
    CHECK(gi.x == 8 && gi.y == 9);
    CHECK(gc.x == 12 && gc.y == 11 && gc.z == 9 && gc.w == 255);
    CHECK(gs.x == 14 && gs.y == -9);
}
