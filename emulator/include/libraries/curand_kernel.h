/*
 * curand_kernel.h: random numbers that each thread draws for itself, by the generators XORWOW and
 * Philox 4x32-10: the numbers that cuRAND draws.
 */
#ifndef SOFTGPU_CURAND_KERNEL_H
#define SOFTGPU_CURAND_KERNEL_H

#include "../cuda_runtime.h"

#ifdef __CUDA__
#include "../parts/curand_jumps.h"

/* clang-format off */

/* What a normal distribution draws in pairs waits here for its turn. */
#define SECOND_OF_PAIR int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double;
struct curandStateXORWOW { unsigned d, v[5]; SECOND_OF_PAIR };
/* STATE: the next one of output. */
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned STATE; SECOND_OF_PAIR };
#undef SECOND_OF_PAIR
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

/* ---- XORWOW ---------------------------------------------------------------------------------- */

SOFTGPU_DEVICE void softgpu_step(unsigned v[5])
{
    const unsigned t = v[0] ^ v[0] >> 2;
    for (int i = 0; i < 4; i++) v[i] = v[i + 1];
    v[4] ^= v[4] << 4 ^ t ^ t << 1;
}

SOFTGPU_DEVICE unsigned curand(curandStateXORWOW_t *s)
{
    softgpu_step(s->v);
    s->d += 362437;
    return s->v[4] + s->d;
}

/* By 4^row steps. */
static __device__ __noinline__ void softgpu_jump(unsigned v[5], const unsigned row[5])
{
    unsigned sum[5] = {0};
    for (int k = 0; k < 160; k++) {
        const unsigned chosen = 0 - (row[k / 32] >> k % 32 & 1);
        for (int i = 0; i < 5; i++) sum[i] ^= v[i] & chosen;
        softgpu_step(v);
    }
    for (int i = 0; i < 5; i++) v[i] = sum[i];
}
SOFTGPU_DEVICE void softgpu_jumps_from(unsigned v[5], unsigned long long n, int row)
{
    for (; n > 0; n /= 4, row++)
        for (unsigned i = n % 4; i > 0; i--) softgpu_jump(v, softgpu_jumps[row]);
}
SOFTGPU_DEVICE void skipahead(unsigned long long n, curandStateXORWOW_t *s)
{
    softgpu_jumps_from(s->v, n, 0);
    s->d += 362437 * (unsigned)n;
}
/* A sequence is 2^67 steps long, twice 4^33: d comes round. */
SOFTGPU_DEVICE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s)
{
    softgpu_jumps_from(s->v, n, 33);
    softgpu_jumps_from(s->v, n, 33);
}

SOFTGPU_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence,
                                unsigned long long offset, curandStateXORWOW_t *s)
{
    const unsigned a = 1099087573 * ((unsigned)seed ^ 0xaad26b49);
    const unsigned b = 2591861531 * ((unsigned)(seed >> 32) ^ 0xf7dcefdd);
    *s = curandStateXORWOW_t{6615241 + a + b,
                             {123456789 + a, 362436069 ^ a, 521288629 + b, 88675123 ^ b, 5783321 + a}};
    skipahead_sequence(sequence, s);
    skipahead(offset, s);
}

/* ---- Philox: the encrypted number of the draw ------------------------------------------------ */

SOFTGPU_DEVICE uint4 softgpu_philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        const unsigned long long x = 0xd2511f53ull * c.x, z = 0xcd9e8d57ull * c.z;
        c = make_uint4((unsigned)(z >> 32) ^ c.y ^ key.x, (unsigned)z,
                       (unsigned)(x >> 32) ^ c.w ^ key.y, (unsigned)x);
        key = make_uint2(key.x + 0x9e3779b9, key.y + 0xbb67ae85);
    }
    return c;
}
SOFTGPU_DEVICE void softgpu_advance(curandStatePhilox4_32_10_t *s, unsigned long long low, unsigned long long high)
{
    uint4 *c = &s->ctr;
    const unsigned long long l = ((unsigned long long)c->y << 32 | c->x) + low;
    const unsigned long long h = ((unsigned long long)c->w << 32 | c->z) + high + (l < low);
    *c = make_uint4((unsigned)l, (unsigned)(l >> 32), (unsigned)h, (unsigned)(h >> 32));
    s->output = softgpu_philox(s->ctr, s->key);
}

SOFTGPU_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s)
{
    s->STATE += n % 4;
    if (n > 3 || s->STATE > 3) softgpu_advance(s, n / 4 + s->STATE / 4, 0);
    s->STATE %= 4;
}
SOFTGPU_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s)
{ softgpu_advance(s, 0, n); }
SOFTGPU_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence,
                                unsigned long long offset, curandStatePhilox4_32_10_t *s)
{
    *s = curandStatePhilox4_32_10_t();
    s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    skipahead_sequence(sequence, s);
    skipahead(offset, s);
}

SOFTGPU_DEVICE unsigned curand(curandStatePhilox4_32_10_t *s)
{
    const uint4 v = s->output;
    const unsigned i = s->STATE, drawn = i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
    skipahead(1, s);
    return drawn;
}
SOFTGPU_DEVICE uint4 curand4(curandStatePhilox4_32_10_t *s)
{
    const unsigned x = curand(s), y = curand(s), z = curand(s);
    return make_uint4(x, y, z, curand(s));
}

/* ---- distributions, of any generator --------------------------------------------------------- */

SOFTGPU_DEVICE float softgpu_uniform(unsigned x) { return (float)x * 0x1p-32f + 0x1p-33f; }
SOFTGPU_DEVICE double softgpu_uniform(unsigned x, unsigned y)
{ return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54; }

/* Two normal numbers, the coordinates of a point at a random distance and angle. */
SOFTGPU_DEVICE float2 softgpu_normal(unsigned x, unsigned y)
{
    float sine, cosine, distance = sqrtf(-2 * logf(softgpu_uniform(x)));
    sincosf((float)y * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f, &sine, &cosine);
    return make_float2(distance * sine, distance * cosine);
}
SOFTGPU_DEVICE double2 softgpu_normal(unsigned x, unsigned x2, unsigned y, unsigned y2)
{
    double sine, cosine, distance = sqrt(-2 * log(softgpu_uniform(x, x2)));
    sincospi(2 * softgpu_uniform(y, y2), &sine, &cosine);
    return make_double2(distance * sine, distance * cosine);
}

template <class State> SOFTGPU_DEVICE float curand_uniform(State *s) { return softgpu_uniform(curand(s)); }
SOFTGPU_DEVICE double curand_uniform_double(curandStatePhilox4_32_10_t *s) { return curand(s) * 0x1p-32 + 0x1p-32; }
SOFTGPU_DEVICE double curand_uniform_double(curandStateXORWOW_t *s)
{
    const unsigned x = curand(s);
    return softgpu_uniform(x, curand(s));
}
template <class State> SOFTGPU_DEVICE float2 curand_normal2(State *s)
{
    const unsigned x = curand(s);
    return softgpu_normal(x, curand(s));
}
template <class State> SOFTGPU_DEVICE double2 curand_normal2_double(State *s)
{
    const unsigned x = curand(s), x2 = curand(s), y = curand(s);
    return softgpu_normal(x, x2, y, curand(s));
}
/* One of a pair, and later the other: 1 for normal numbers, 2 for those that become log-normal. */
#define NORMAL(T, name, log_name, exp, normal2, flag, extra)                                       \
    template <class State> SOFTGPU_DEVICE T softgpu_of_pair(State *s, T, int kind)                 \
    {                                                                                              \
        if (s->flag == kind) return s->flag = 0, s->extra;                                         \
        const auto pair = normal2(s);                                                              \
        s->flag = kind, s->extra = pair.y;                                                         \
        return pair.x;                                                                             \
    }                                                                                              \
    template <class State> SOFTGPU_DEVICE T name(State *s) { return softgpu_of_pair(s, T(), 1); }  \
    template <class State> SOFTGPU_DEVICE T log_name(State *s, T mean, T deviation)                \
    { return exp(mean + deviation * softgpu_of_pair(s, T(), 2)); }
NORMAL(float, curand_normal, curand_log_normal, expf, curand_normal2, boxmuller_flag, boxmuller_extra)
NORMAL(double, curand_normal_double, curand_log_normal_double, exp, curand_normal2_double,
       boxmuller_flag_double, boxmuller_extra_double)
#undef NORMAL

SOFTGPU_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    return make_float4(softgpu_uniform(x.x), softgpu_uniform(x.y), softgpu_uniform(x.z), softgpu_uniform(x.w));
}
SOFTGPU_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    const float2 a = softgpu_normal(x.x, x.y), b = softgpu_normal(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}

/* clang-format on */
#endif
#endif
