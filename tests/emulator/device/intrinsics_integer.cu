/* intrinsics_integer.cu: integer instructions against plain definitions of them on the host. */
#include "check.h"

#include <functional>

static const unsigned words[] = {0,          1,          2,          31,         32,
                                 33,         0x7f,       0x80,       0xff,       0x7fff,
                                 0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000,
                                 0x80000001, 0xffffffff, 0xfffffffe, 0x01234567, 0xdeadbeef};
constexpr int WORDS = sizeof words / sizeof *words, COUNT = WORDS * WORDS * WORDS;

/* Every triple of words. */
static unsigned operand(int i, int which)
{
    int index[] = {i % WORDS, i / WORDS % WORDS, i / WORDS / WORDS};
    return words[index[which]];
}

using definition = std::function<unsigned(unsigned, unsigned, unsigned)>;
using kernel = void (*)(unsigned *, const unsigned *, const unsigned *, const unsigned *, int);

static void compare(const char *name, kernel run, definition want)
{
    static unsigned *in[3], *out;
    if (!out) {
        for (int k = 0; k < 3; k++) {
            std::vector<unsigned> v(COUNT);
            for (int i = 0; i < COUNT; i++) v[i] = operand(i, k);
            in[k] = to_device(v);
        }
        out = device_array<unsigned>(COUNT);
    }
    run<<<(COUNT + 255) / 256, 256>>>(out, in[0], in[1], in[2], COUNT);
    SYNC();
    std::vector<unsigned> got = to_host(out, COUNT);
    for (int i = 0; i < COUNT; i++) {
        unsigned a = operand(i, 0), b = operand(i, 1), c = operand(i, 2), wanted = want(a, b, c);
        if (got[i] == wanted) continue;
        printf("%s(%x, %x, %x) is %x, not %x\n", name, a, b, c, got[i], wanted);
        failures++;
        return;
    }
}

#define DEFINE_KERNEL(name, expression)                                                            \
    __global__ void run_##name(unsigned *out, const unsigned *x, const unsigned *y,                \
                               const unsigned *z, int n)                                           \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i >= n) return;                                                                        \
        unsigned a = x[i], b = y[i], c = z[i], d = 0;                                              \
        expression;                                                                                \
        out[i] = d;                                                                                \
    }
#define ASM(name, text)                                                                            \
    DEFINE_KERNEL(name, asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)))
#define ASM2(name, text)                                                                           \
    DEFINE_KERNEL(name, asm(text " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); (void)c)
#define COMPARE(name, value)                                                                       \
    compare(#name, run_##name, [](unsigned a, unsigned b, unsigned c) -> unsigned {                \
        (void)a, (void)b, (void)c;                                                                 \
        return value;                                                                              \
    })

typedef long long s64;
typedef unsigned long long u64;

/* ---- bytes ----------------------------------------------------------------------------------- */

static unsigned byte_of(unsigned a, unsigned b, unsigned pick)
{
    return ((u64)b << 32 | a) >> 8 * (pick & 7) & 255;
}

static unsigned bytes(unsigned a, unsigned b, unsigned p0, unsigned p1, unsigned p2, unsigned p3)
{
    return byte_of(a, b, p0) | byte_of(a, b, p1) << 8 | byte_of(a, b, p2) << 16 |
           byte_of(a, b, p3) << 24;
}

static unsigned permute(unsigned a, unsigned b, unsigned c)
{
    unsigned result = 0;
    for (int k = 0; k < 4; k++) {
        unsigned pick = c >> 4 * k & 15, byte = byte_of(a, b, pick);
        if (pick & 8) byte = byte >> 7 ? 255 : 0;
        result |= byte << 8 * k;
    }
    return result;
}

ASM(prmt, "prmt.b32")
ASM(f4e, "prmt.b32.f4e")
ASM(b4e, "prmt.b32.b4e")
ASM(rc8, "prmt.b32.rc8")
ASM(ecl, "prmt.b32.ecl")
ASM(ecr, "prmt.b32.ecr")
ASM(rc16, "prmt.b32.rc16")

CASE(permute_bytes)
{
    COMPARE(prmt, permute(a, b, c));
    COMPARE(f4e, bytes(a, b, c % 4, c % 4 + 1, c % 4 + 2, c % 4 + 3));
    COMPARE(b4e, bytes(a, b, c % 4, c % 4 + 7, c % 4 + 6, c % 4 + 5));
    COMPARE(rc8, (c % 4 == 0   ? bytes(a, b, 0, 0, 0, 0)
                  : c % 4 == 1 ? bytes(a, b, 1, 1, 1, 1)
                  : c % 4 == 2 ? bytes(a, b, 2, 2, 2, 2)
                               : bytes(a, b, 3, 3, 3, 3)));
    COMPARE(ecl, (c % 4 == 0   ? a
                  : c % 4 == 1 ? bytes(a, b, 1, 1, 2, 3)
                  : c % 4 == 2 ? bytes(a, b, 2, 2, 2, 3)
                               : bytes(a, b, 3, 3, 3, 3)));
    COMPARE(ecr, (c % 4 == 0   ? bytes(a, b, 0, 0, 0, 0)
                  : c % 4 == 1 ? bytes(a, b, 0, 1, 1, 1)
                  : c % 4 == 2 ? bytes(a, b, 0, 1, 2, 2)
                               : a));
    COMPARE(rc16, (c % 2 ? bytes(a, b, 2, 3, 2, 3) : bytes(a, b, 0, 1, 0, 1)));
}

static unsigned differences(unsigned a, unsigned b, unsigned c, int width, bool sum)
{
    unsigned result = sum ? c : 0;
    for (int at = 0; at < 32; at += width) {
        s64 x = a >> at & ((1u << width) - 1), y = b >> at & ((1u << width) - 1);
        unsigned difference = (unsigned)llabs(x - y);
        result += sum ? difference : difference << at;
    }
    return result;
}

static int dot(unsigned a, unsigned b, unsigned c, bool a_signed, bool b_signed)
{
    unsigned sum = c;
    for (int k = 0; k < 32; k += 8) {
        int x = a_signed ? (int8_t)(a >> k) : (uint8_t)(a >> k);
        int y = b_signed ? (int8_t)(b >> k) : (uint8_t)(b >> k);
        sum += (unsigned)(x * y);
    }
    return (int)sum;
}

static int dot_of_two(unsigned a, unsigned b, unsigned c, bool a_signed, bool b_signed)
{
    unsigned sum = c;
    for (int k = 0; k < 2; k++) {
        int x = a_signed ? (int16_t)(a >> 16 * k) : (uint16_t)(a >> 16 * k);
        int y = b_signed ? (int8_t)(b >> 8 * k) : (uint8_t)(b >> 8 * k);
        sum += (unsigned)(x * y);
    }
    return (int)sum;
}

ASM(differences4, "vabsdiff4.u32.u32.u32")
ASM(sum4, "vabsdiff4.u32.u32.u32.add")
ASM(sum2, "vabsdiff2.u32.u32.u32.add")
ASM(dot_ss, "dp4a.s32.s32")
ASM(dot_us, "dp4a.u32.s32")
ASM(dot_su, "dp4a.s32.u32")
ASM(dot_uu, "dp4a.u32.u32")
ASM(two_lo_us, "dp2a.lo.u32.s32")
ASM(two_lo_ss, "dp2a.lo.s32.s32")
ASM(two_hi_su, "dp2a.hi.s32.u32")
ASM(two_hi_uu, "dp2a.hi.u32.u32")
DEFINE_KERNEL(add4, d = __vadd4(a, b) + (c & 0))
DEFINE_KERNEL(maxs2, d = __vmaxs2(a, b) + (c & 0))
DEFINE_KERNEL(avgu4, d = __vavgu4(a, b) + (c & 0))
DEFINE_KERNEL(addus4, d = __vaddus4(a, b) + (c & 0))

CASE(bytes_side_by_side)
{
    COMPARE(differences4, differences(a, b, c, 8, false));
    COMPARE(sum4, differences(a, b, c, 8, true));
    COMPARE(sum2, differences(a, b, c, 16, true));
    COMPARE(dot_ss, dot(a, b, c, true, true));
    COMPARE(dot_us, dot(a, b, c, false, true));
    COMPARE(dot_su, dot(a, b, c, true, false));
    COMPARE(dot_uu, dot(a, b, c, false, false));
    COMPARE(two_lo_us, dot_of_two(a, b, c, false, true));
    COMPARE(two_lo_ss, dot_of_two(a, b, c, true, true));
    COMPARE(two_hi_su, dot_of_two(a, b >> 16, c, true, false));
    COMPARE(two_hi_uu, dot_of_two(a, b >> 16, c, false, false));
}

static unsigned by_bytes(unsigned a, unsigned b, int (*f)(int, int))
{
    unsigned result = 0;
    for (int k = 0; k < 32; k += 8) result |= (unsigned)(f(a >> k & 255, b >> k & 255) & 255) << k;
    return result;
}

CASE(simd_in_a_word)
{
    COMPARE(add4, by_bytes(a, b, [](int x, int y) { return x + y; }));
    COMPARE(avgu4, by_bytes(a, b, [](int x, int y) { return (x + y + 1) / 2; }));
    COMPARE(addus4, by_bytes(a, b, [](int x, int y) { return x + y > 255 ? 255 : x + y; }));
    COMPARE(maxs2, ((unsigned)(uint16_t)std::max<int16_t>(a, b) |
                    (unsigned)(uint16_t)std::max<int16_t>(a >> 16, b >> 16) << 16));
}

/* ---- bits ------------------------------------------------------------------------------------ */

static unsigned nth_set(unsigned mask, unsigned base, int offset)
{
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1, count = abs(offset);
    for (s64 at = base; at >= 0 && at < 32; at += step) {
        if (mask >> at & 1 && --count == 0) return (unsigned)at;
    }
    return ~0u;
}

static u64 ones(unsigned count)
{
    return ((u64)1 << count) - 1;
}

static unsigned extended(unsigned a, unsigned bits)
{
    if (bits == 0) return 0;
    if (bits >= 32) return a;
    return (unsigned)((int)(a << (32 - bits)) >> (32 - bits));
}

static unsigned field(unsigned a, unsigned from, unsigned bits, bool is_signed)
{
    unsigned result = 0, sign = bits ? a >> std::min(from + bits - 1, 31u) & 1 : 0;
    for (unsigned i = 0; i < 32; i++) {
        bool inside = i < bits && from + i < 32;
        result |= (inside ? a >> (from + i) & 1 : is_signed ? sign : 0) << i;
    }
    return result;
}

ASM(fns, "fns.b32")
ASM2(bmsk_clamp, "bmsk.clamp.b32")
ASM2(bmsk_wrap, "bmsk.wrap.b32")
ASM2(szext_clamp, "szext.clamp.s32")
ASM2(szext_wrap, "szext.wrap.u32")
ASM(bfe_u, "bfe.u32")
ASM(bfe_s, "bfe.s32")
DEFINE_KERNEL(bfi, asm("bfi.b32 %0, %1, %2, %3, 5;" : "=r"(d) : "r"(a), "r"(b), "r"(c)))
ASM2(shl, "shl.b32")
ASM2(shr_u, "shr.u32")
ASM2(shr_s, "shr.s32")
ASM(shf_l, "shf.l.clamp.b32")
ASM(shf_r, "shf.r.wrap.b32")
DEFINE_KERNEL(lop3, asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(d) : "r"(a), "r"(b), "r"(c)))
DEFINE_KERNEL(bfind, asm("bfind.s32 %0, %1;" : "=r"(d) : "r"(a)); d += 0 * (b + c))
DEFINE_KERNEL(shiftamt, asm("bfind.shiftamt.s32 %0, %1;" : "=r"(d) : "r"(a)); d += 0 * (b + c))
DEFINE_KERNEL(low_bit, d = __ffs(a) + __clz(b) * 100 + __popc(c) * 10000)
DEFINE_KERNEL(reverse, d = __brev(a) ^ __byte_perm(b, c, 0x0123))

CASE(bit_fields)
{
    COMPARE(fns, nth_set(a, b, (int)c));
    COMPARE(bmsk_clamp, (unsigned)(a >= 32 ? 0 : ones(std::min(b, 32u)) << a));
    COMPARE(bmsk_wrap, (unsigned)(ones(b % 32) << a % 32));
    COMPARE(szext_clamp, extended(a, std::min(b, 32u)));
    COMPARE(szext_wrap, (unsigned)(a & ones(b % 32)));
    COMPARE(bfe_u, field(a, b & 255, c & 255, false));
    COMPARE(bfe_s, field(a, b & 255, c & 255, true));
    COMPARE(bfi, (unsigned)((c & 255) > 31
                                ? b
                                : (b & ~(31ull << (c & 255))) | ((u64)(a & 31) << (c & 255))));
}

CASE(shifts)
{
    COMPARE(shl, b > 31 ? 0 : a << b);
    COMPARE(shr_u, b > 31 ? 0 : a >> b);
    COMPARE(shr_s, (unsigned)((int)a >> std::min(b, 31u)));
    COMPARE(shf_l, (unsigned)(((u64)b << 32 | a) << std::min(c, 32u) >> 32));
    COMPARE(shf_r, (unsigned)(((u64)b << 32 | a) >> c % 32));
}

CASE(bits)
{
    COMPARE(lop3, (c ^ (a & b)));
    COMPARE(bfind, (unsigned)((int)a < 0 ? (~a ? 31 - __builtin_clz(~a) : -1)
                                         : (a ? 31 - __builtin_clz(a) : -1)));
    COMPARE(shiftamt,
            (unsigned)((int)a < 0 ? (~a ? __builtin_clz(~a) : -1) : (a ? __builtin_clz(a) : -1)));
    COMPARE(low_bit, (unsigned)(__builtin_ffs((int)a) + (b ? __builtin_clz(b) : 32) * 100 +
                                __builtin_popcount(c) * 10000));
    COMPARE(reverse, ([](unsigned x) {
                         unsigned r = 0;
                         for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
                         return r;
                     })(a) ^
                         __builtin_bswap32(b));
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static s64 low24(unsigned a)
{
    return (int)(a << 8) >> 8;
}

static int clamped(s64 x)
{
    return (int)std::min<s64>(std::max<s64>(x, INT32_MIN), INT32_MAX);
}

ASM2(add_sat, "add.sat.s32")
ASM2(sub_sat, "sub.sat.s32")
ASM(mad_hi_sat, "mad.hi.sat.s32")
ASM2(mul24_hi, "mul24.hi.s32")
ASM2(mul24_hi_u, "mul24.hi.u32")
ASM(mad24_hi_sat, "mad24.hi.sat.s32")
ASM(mad24_hi, "mad24.hi.u32")
ASM(sad_s, "sad.s32")
DEFINE_KERNEL(divide, d = (unsigned)((int)a / (int)b) ^ c)
DEFINE_KERNEL(remainder, d = (unsigned)((int)a % (int)b) ^ c)
DEFINE_KERNEL(divide_u, d = a / b + a % b + c)
DEFINE_KERNEL(average, d = (unsigned)__hadd((int)a, (int)b) ^ (unsigned)__rhadd((int)a, (int)b) ^ c)
DEFINE_KERNEL(wide, unsigned long long p = (unsigned long long)a * b + c;
              d = (unsigned)(p >> 32) ^ (unsigned)p)
ASM(pack, "cvt.pack.sat.s8.s32.b32")
ASM2(pack_u16, "cvt.pack.sat.u16.s32")

CASE(arithmetic)
{
    COMPARE(add_sat, (unsigned)clamped((s64)(int)a + (int)b));
    COMPARE(sub_sat, (unsigned)clamped((s64)(int)a - (int)b));
    COMPARE(mad_hi_sat, (unsigned)clamped(((s64)(int)a * (int)b >> 32) + (int)c));
    COMPARE(mul24_hi, (unsigned)(low24(a) * low24(b) >> 16));
    COMPARE(mul24_hi_u, (unsigned)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16));
    COMPARE(mad24_hi_sat, (unsigned)clamped((low24(a) * low24(b) >> 16) + (int)c));
    COMPARE(mad24_hi, (unsigned)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16) + c);
    COMPARE(sad_s, c + (unsigned)llabs((s64)(int)a - (int)b));
    COMPARE(average, ((unsigned)(((s64)(int)a + (int)b) >> 1) ^
                      (unsigned)(((s64)(int)a + (int)b + 1) >> 1) ^ c));
    COMPARE(wide, ((unsigned)(((u64)a * b + c) >> 32) ^ (unsigned)((u64)a * b + c)));
}

/* By zero: all ones, and the dividend is what remains. */
CASE(division)
{
    COMPARE(divide, ((unsigned)(b ? (s64)(int)a / (int)b : -1) ^ c));
    COMPARE(remainder, ((unsigned)(b ? (s64)(int)a % (int)b : (int)a) ^ c));
    COMPARE(divide_u, (b ? a / b + a % b : ~0u + a) + c);
}

static unsigned packed(unsigned x, int least, int most)
{
    return (unsigned)std::min(std::max((int)x, least), most);
}

CASE(packing)
{
    COMPARE(pack, (c << 16 | (packed(a, -128, 127) & 255) << 8 | (packed(b, -128, 127) & 255)));
    COMPARE(pack_u16, (packed(a, 0, 65535) << 16 | packed(b, 0, 65535)));
}

/* 128 bits by carries. */
__global__ void carries(u64 *out, u64 a, u64 b)
{
    unsigned __int128 x = (unsigned __int128)a << 64 | b, y = (unsigned __int128)b << 64 | a;
    unsigned __int128 sum = x + y, difference = x - y, product = x * y;
    out[0] = (u64)sum, out[1] = (u64)(sum >> 64);
    out[2] = (u64)difference, out[3] = (u64)(difference >> 64);
    out[4] = (u64)product, out[5] = (u64)(product >> 64);
    asm("mad.lo.cc.s64 %0, %2, %3, %3; madc.hi.s64 %1, %2, %3, 0;"
        : "=l"(out[6]), "=l"(out[7])
        : "l"(a), "l"(b));
}

CASE(wide_integers)
{
    u64 a = 0xfedcba9876543210, b = 0x8123456789abcdef;
    u64 *out = device_array<u64>(8);
    carries<<<1, 1>>>(out, a, b);
    SYNC();
    std::vector<u64> got = to_host(out, 8);
    unsigned __int128 x = (unsigned __int128)a << 64 | b, y = (unsigned __int128)b << 64 | a;
    unsigned __int128 want[] = {x + y, x - y, x * y};
    for (int i = 0; i < 3; i++)
        CHECK(got[2 * i] == (u64)want[i] && got[2 * i + 1] == (u64)(want[i] >> 64));
    __int128 product = (__int128)(s64)a * (s64)b;
    u64 low = (u64)product, carry = low + b < low;
    CHECK(got[6] == low + b && got[7] == (u64)(product >> 64) + carry);
}
