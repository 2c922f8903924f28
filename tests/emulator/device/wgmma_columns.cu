/* wgmma_columns.cu: products of a warp group with every number of columns that PTX allows: halves
 * with a step of 8, bytes with a step of 16 from 32 on. The sums have names of PTX, for no list of
 * C++ operands is as long. wgmma.cu has types, layouts and signs. */
// FLAGS: -arch=sm_90a
// NEEDS: nvcc, clang 14 does not know wgmma
#include "check.h"

#include <cuda_bf16.h>

enum { M = 64, MOST = 256 };

/* d0 to d(n / 2 - 1) */
#define SUMS_8 "d0, d1, d2, d3"
#define SUMS_16 SUMS_8 ", d4, d5, d6, d7"
#define SUMS_24 SUMS_16 ", d8, d9, d10, d11"
#define SUMS_32 SUMS_24 ", d12, d13, d14, d15"
#define SUMS_40 SUMS_32 ", d16, d17, d18, d19"
#define SUMS_48 SUMS_40 ", d20, d21, d22, d23"
#define SUMS_56 SUMS_48 ", d24, d25, d26, d27"
#define SUMS_64 SUMS_56 ", d28, d29, d30, d31"
#define SUMS_72 SUMS_64 ", d32, d33, d34, d35"
#define SUMS_80 SUMS_72 ", d36, d37, d38, d39"
#define SUMS_88 SUMS_80 ", d40, d41, d42, d43"
#define SUMS_96 SUMS_88 ", d44, d45, d46, d47"
#define SUMS_104 SUMS_96 ", d48, d49, d50, d51"
#define SUMS_112 SUMS_104 ", d52, d53, d54, d55"
#define SUMS_120 SUMS_112 ", d56, d57, d58, d59"
#define SUMS_128 SUMS_120 ", d60, d61, d62, d63"
#define SUMS_136 SUMS_128 ", d64, d65, d66, d67"
#define SUMS_144 SUMS_136 ", d68, d69, d70, d71"
#define SUMS_152 SUMS_144 ", d72, d73, d74, d75"
#define SUMS_160 SUMS_152 ", d76, d77, d78, d79"
#define SUMS_168 SUMS_160 ", d80, d81, d82, d83"
#define SUMS_176 SUMS_168 ", d84, d85, d86, d87"
#define SUMS_184 SUMS_176 ", d88, d89, d90, d91"
#define SUMS_192 SUMS_184 ", d92, d93, d94, d95"
#define SUMS_200 SUMS_192 ", d96, d97, d98, d99"
#define SUMS_208 SUMS_200 ", d100, d101, d102, d103"
#define SUMS_216 SUMS_208 ", d104, d105, d106, d107"
#define SUMS_224 SUMS_216 ", d108, d109, d110, d111"
#define SUMS_232 SUMS_224 ", d112, d113, d114, d115"
#define SUMS_240 SUMS_232 ", d116, d117, d118, d119"
#define SUMS_248 SUMS_240 ", d120, d121, d122, d123"
#define SUMS_256 SUMS_248 ", d124, d125, d126, d127"

/* Elements of an operand lie in blocks of 8 rows of 16 bytes, those of one 16 bytes of k behind each
 * other: no swizzle. Each thread writes its sums to its row of `out`. */
#define LEADING(rows) ((unsigned long long)(rows) << 16)
#define STRIDE        ((unsigned long long)8 << 32)
#define DEFINE(name, n, shape, T, type, tail)                                                      \
    __global__ static void name(T *out, const uint4 *a, const uint4 *b)                            \
    {                                                                                              \
        __shared__ __align__(128) uint4 tile[2 * M + 2 * MOST];                                    \
        for (int i = threadIdx.x; i < 2 * M; i += blockDim.x) tile[i] = a[i];                      \
        for (int i = threadIdx.x; i < 2 * n; i += blockDim.x) tile[2 * M + i] = b[i];              \
        asm volatile("fence.proxy.async;" ::: "memory");                                           \
        __syncthreads();                                                                           \
        const unsigned long long at = __cvta_generic_to_shared(tile) >> 4;                         \
        asm volatile("{\n.reg ." type " d<128>;\n"                                                 \
                     "wgmma.fence.sync.aligned;\n"                                                 \
                     "wgmma.mma_async.sync.aligned.m64n" #n shape " {" SUMS_##n "}, %1, %2, 0"      \
                     tail ";\n"                                                                    \
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"        \
                     GIVE_##n "}" ::"l"(out + threadIdx.x * (n / 2)),                              \
                     "l"(at | LEADING(M) | STRIDE), "l"(at + 2 * M | LEADING(n) | STRIDE)          \
                     : "memory");                                                                  \
    }
#define HALVES(n) DEFINE(halves_##n, n, "k16.f32.bf16.bf16", float, "b32", ", 1, 1, 0, 0")
#define BYTES(n)  DEFINE(bytes_##n, n, "k32.s32.s8.s8", int, "b32", "")

#define GIVE_8 \
    "st.global.b32 [%0+0], d0; st.global.b32 [%0+4], d1; st.global.b32 [%0+8], d2; st.global.b32 [%0+12], d3;"
#define GIVE_16 GIVE_8 \
    "st.global.b32 [%0+16], d4; st.global.b32 [%0+20], d5; st.global.b32 [%0+24], d6; st.global.b32 [%0+28], d7;"
#define GIVE_24 GIVE_16 \
    "st.global.b32 [%0+32], d8; st.global.b32 [%0+36], d9; st.global.b32 [%0+40], d10; st.global.b32 [%0+44], d11;"
#define GIVE_32 GIVE_24 \
    "st.global.b32 [%0+48], d12; st.global.b32 [%0+52], d13; st.global.b32 [%0+56], d14; st.global.b32 [%0+60], d15;"
#define GIVE_40 GIVE_32 \
    "st.global.b32 [%0+64], d16; st.global.b32 [%0+68], d17; st.global.b32 [%0+72], d18; st.global.b32 [%0+76], d19;"
#define GIVE_48 GIVE_40 \
    "st.global.b32 [%0+80], d20; st.global.b32 [%0+84], d21; st.global.b32 [%0+88], d22; st.global.b32 [%0+92], d23;"
#define GIVE_56 GIVE_48 \
    "st.global.b32 [%0+96], d24; st.global.b32 [%0+100], d25; st.global.b32 [%0+104], d26; st.global.b32 [%0+108], d27;"
#define GIVE_64 GIVE_56 \
    "st.global.b32 [%0+112], d28; st.global.b32 [%0+116], d29; st.global.b32 [%0+120], d30; st.global.b32 [%0+124], d31;"
#define GIVE_72 GIVE_64 \
    "st.global.b32 [%0+128], d32; st.global.b32 [%0+132], d33; st.global.b32 [%0+136], d34; st.global.b32 [%0+140], d35;"
#define GIVE_80 GIVE_72 \
    "st.global.b32 [%0+144], d36; st.global.b32 [%0+148], d37; st.global.b32 [%0+152], d38; st.global.b32 [%0+156], d39;"
#define GIVE_88 GIVE_80 \
    "st.global.b32 [%0+160], d40; st.global.b32 [%0+164], d41; st.global.b32 [%0+168], d42; st.global.b32 [%0+172], d43;"
#define GIVE_96 GIVE_88 \
    "st.global.b32 [%0+176], d44; st.global.b32 [%0+180], d45; st.global.b32 [%0+184], d46; st.global.b32 [%0+188], d47;"
#define GIVE_104 GIVE_96 \
    "st.global.b32 [%0+192], d48; st.global.b32 [%0+196], d49; st.global.b32 [%0+200], d50; st.global.b32 [%0+204], d51;"
#define GIVE_112 GIVE_104 \
    "st.global.b32 [%0+208], d52; st.global.b32 [%0+212], d53; st.global.b32 [%0+216], d54; st.global.b32 [%0+220], d55;"
#define GIVE_120 GIVE_112 \
    "st.global.b32 [%0+224], d56; st.global.b32 [%0+228], d57; st.global.b32 [%0+232], d58; st.global.b32 [%0+236], d59;"
#define GIVE_128 GIVE_120 \
    "st.global.b32 [%0+240], d60; st.global.b32 [%0+244], d61; st.global.b32 [%0+248], d62; st.global.b32 [%0+252], d63;"
#define GIVE_136 GIVE_128 \
    "st.global.b32 [%0+256], d64; st.global.b32 [%0+260], d65; st.global.b32 [%0+264], d66; st.global.b32 [%0+268], d67;"
#define GIVE_144 GIVE_136 \
    "st.global.b32 [%0+272], d68; st.global.b32 [%0+276], d69; st.global.b32 [%0+280], d70; st.global.b32 [%0+284], d71;"
#define GIVE_152 GIVE_144 \
    "st.global.b32 [%0+288], d72; st.global.b32 [%0+292], d73; st.global.b32 [%0+296], d74; st.global.b32 [%0+300], d75;"
#define GIVE_160 GIVE_152 \
    "st.global.b32 [%0+304], d76; st.global.b32 [%0+308], d77; st.global.b32 [%0+312], d78; st.global.b32 [%0+316], d79;"
#define GIVE_168 GIVE_160 \
    "st.global.b32 [%0+320], d80; st.global.b32 [%0+324], d81; st.global.b32 [%0+328], d82; st.global.b32 [%0+332], d83;"
#define GIVE_176 GIVE_168 \
    "st.global.b32 [%0+336], d84; st.global.b32 [%0+340], d85; st.global.b32 [%0+344], d86; st.global.b32 [%0+348], d87;"
#define GIVE_184 GIVE_176 \
    "st.global.b32 [%0+352], d88; st.global.b32 [%0+356], d89; st.global.b32 [%0+360], d90; st.global.b32 [%0+364], d91;"
#define GIVE_192 GIVE_184 \
    "st.global.b32 [%0+368], d92; st.global.b32 [%0+372], d93; st.global.b32 [%0+376], d94; st.global.b32 [%0+380], d95;"
#define GIVE_200 GIVE_192 \
    "st.global.b32 [%0+384], d96; st.global.b32 [%0+388], d97; st.global.b32 [%0+392], d98; st.global.b32 [%0+396], d99;"
#define GIVE_208 GIVE_200 \
    "st.global.b32 [%0+400], d100; st.global.b32 [%0+404], d101; st.global.b32 [%0+408], d102; st.global.b32 [%0+412], d103;"
#define GIVE_216 GIVE_208 \
    "st.global.b32 [%0+416], d104; st.global.b32 [%0+420], d105; st.global.b32 [%0+424], d106; st.global.b32 [%0+428], d107;"
#define GIVE_224 GIVE_216 \
    "st.global.b32 [%0+432], d108; st.global.b32 [%0+436], d109; st.global.b32 [%0+440], d110; st.global.b32 [%0+444], d111;"
#define GIVE_232 GIVE_224 \
    "st.global.b32 [%0+448], d112; st.global.b32 [%0+452], d113; st.global.b32 [%0+456], d114; st.global.b32 [%0+460], d115;"
#define GIVE_240 GIVE_232 \
    "st.global.b32 [%0+464], d116; st.global.b32 [%0+468], d117; st.global.b32 [%0+472], d118; st.global.b32 [%0+476], d119;"
#define GIVE_248 GIVE_240 \
    "st.global.b32 [%0+480], d120; st.global.b32 [%0+484], d121; st.global.b32 [%0+488], d122; st.global.b32 [%0+492], d123;"
#define GIVE_256 GIVE_248 \
    "st.global.b32 [%0+496], d124; st.global.b32 [%0+500], d125; st.global.b32 [%0+504], d126; st.global.b32 [%0+508], d127;"

#define FROM_32_ON(x)                                                                              \
    x(48) x(64) x(80) x(96) x(112) x(128) x(144) x(160) x(176) x(192) x(208) x(224) x(240) x(256)
#define EVEN(x) x(16) x(32) FROM_32_ON(x)
#define ODD(x)                                                                                     \
    x(8) x(24) x(40) x(56) x(72) x(88) x(104) x(120) x(136) x(152) x(168) x(184) x(200) x(216)     \
        x(232) x(248)
EVEN(HALVES)
ODD(HALVES)
BYTES(8) BYTES(24) EVEN(BYTES)

/* ---- what the host expects ------------------------------------------------------------------- */

static float value(__nv_bfloat16 x) { return __bfloat162float(x); }
static float value(signed char x) { return x; }

/* (rows, 32 bytes), as the kernel wants it */
template <class T> static std::vector<T> lay_out(const std::vector<T> &x, int rows)
{
    const int k = 32 / sizeof(T), half = k / 2;
    std::vector<T> y(x.size());
    for (int i = 0; i < rows * k; i++)
        y[(i % k / half * rows + i / k) * half + i % half] = x[i];
    return y;
}

template <class T> static std::vector<T> numbers(int rows, int seed)
{
    std::vector<T> x;
    for (int i = 0; i < rows * 32 / (int)sizeof(T); i++)
        x.push_back((T)((i * 37 + seed * 11 + i / 7) % 33 - 16));
    return x;
}

/* Thread t has, of each 8 columns, two of row t / 32 * 16 + t % 32 / 4 and two of the row 8 below. */
template <class T, class S>
static int count_wrong(const std::vector<S> &got, const std::vector<T> &a, const std::vector<T> &b,
                       int n)
{
    const int k = 32 / sizeof(T);
    int wrong = 0;
    for (int i = 0; i < 128 * n / 2; i++) {
        const int t = i / (n / 2), r = i % (n / 2);
        const int row = t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8, col = r / 4 * 8 + t % 4 * 2 + r % 2;
        float sum = 0;
        for (int q = 0; q < k; q++) sum += value(a[row * k + q]) * value(b[col * k + q]);
        wrong += got[i] != (S)sum;
    }
    return wrong;
}

template <class T, class S>
static void multiply(void (*kernel)(S *, const uint4 *, const uint4 *), int n)
{
    const auto a = numbers<T>(M, 1), b = numbers<T>(n, 2);
    S *out = device_array<S>(128 * n / 2);
    kernel<<<1, 128>>>(out, (uint4 *)to_device(lay_out(a, M)), (uint4 *)to_device(lay_out(b, n)));
    SYNC();
    const int wrong = count_wrong(to_host(out, 128 * n / 2), a, b, n);
    if (wrong) printf("%d columns: %d sums are wrong\n", n, wrong);
    CHECK(wrong == 0);
}

#define MULTIPLY_HALVES(n) multiply<__nv_bfloat16, float>(halves_##n, n);
#define MULTIPLY_BYTES(n)  multiply<signed char, int>(bytes_##n, n);

CASE(halves)
{
    EVEN(MULTIPLY_HALVES)
    ODD(MULTIPLY_HALVES)
}

CASE(bytes)
{
    MULTIPLY_BYTES(8) MULTIPLY_BYTES(24) EVEN(MULTIPLY_BYTES)
}
