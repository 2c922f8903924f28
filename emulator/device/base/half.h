/*
 * half.h: 16-bit floating-point formats as bit patterns.
 *
 * Interface
 *   half_value, half_bits      IEEE binary16
 *   brain_value, brain_bits    bfloat16
 *   half_bits_directed, brain_bits_directed
 *   float_to_odd               a double on its way to one of them
 *
 * Rounds to nearest, ties to even, where nothing else is said. Free of branches, so that loops over
 * lanes become vector code.
 */
#ifndef SOFTGPU_DEVICE_HALF_H
#define SOFTGPU_DEVICE_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Exponent and mantissa move up; a multiplication sets the bias right, denormals included. */
static inline float half_value(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    float finite = bits_float(rest << 13) * 0x1p112f;
    uint32_t special = rest << 13 | 0x7f800000;
    uint32_t bits = rest >= 0x7c00 ? special : float_bits(finite);
    return bits_float(bits | sign);
}

static inline uint16_t half_bits(float x)
{
    uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    uint32_t normal = rest - (112u << 23) + 0xfff + (rest >> 13 & 1);
    uint32_t denormal = float_bits(bits_float(rest) + 0.5f) - float_bits(0.5f);
    uint32_t half = rest < 113u << 23 ? denormal : normal >> 13;
    half = rest >= 0x477ff000 ? 0x7c00 : half;
    return (uint16_t)(rest > 0x7f800000 ? 0x7fff : half | sign);
}

/* Rounded toward zero, or away from it: never to nearest. A NaN has no neighbours. */
static inline uint16_t half_bits_directed(float x, bool away)
{
    uint16_t nearest = half_bits(x);
    float back = half_value(nearest);
    bool above = __builtin_fabsf(back) > __builtin_fabsf(x);
    bool below = __builtin_fabsf(back) < __builtin_fabsf(x);
    return (uint16_t)(nearest + (below && away) - (above && !away));
}

static inline uint16_t brain_bits_directed(float x, bool away)
{
    uint32_t bits = float_bits(x);
    bool inexact = (bits & 0xffff) != 0;
    return (uint16_t)(x != x ? 0x7fff : (bits >> 16) + (inexact && away));
}

/* The last bit is set if anything was lost, so that rounding once more is right. */
static inline float float_to_odd(double x)
{
    float nearest = (float)x;
    bool above = __builtin_fabs(nearest) > __builtin_fabs(x);
    return nearest == x || x != x ? nearest : bits_float((float_bits(nearest) - above) | 1);
}

static inline float brain_value(uint16_t b)
{
    return bits_float((uint32_t)b << 16);
}

static inline uint16_t brain_bits(float x)
{
    uint32_t bits = float_bits(x);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

#endif
