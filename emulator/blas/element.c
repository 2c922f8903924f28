/*
 * element.c: the element types of cuBLAS, to and from the types for computing.
 *
 * Conversions of the short types are spelt out in integers: no compiler or processor feature is
 * needed, and every rounding is visible.
 */
#include "blas.h"

#include <math.h>
#include <string.h>

size_t element_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_8I: return 1;
    default: return 0;
    }
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Drop `bits` low bits of a float, to nearest, ties to even; NaN stays NaN. */
static uint32_t round_off(float value, int bits)
{
    uint32_t x = bits_of_float(value);
    if (isnan(value)) return (x | 0x400000u) & ~((1u << bits) - 1);
    return (x + (1u << (bits - 1)) - 1 + (x >> bits & 1)) & ~((1u << bits) - 1);
}

static float from_bf16(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

static uint16_t to_bf16(float value)
{
    return (uint16_t)(round_off(value, 16) >> 16);
}

static float from_f16(uint16_t bits)
{
    float sign = bits & 0x8000 ? -1.0f : 1.0f;
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexpf((float)fraction, -24);
    return sign * ldexpf((float)(fraction + 1024), exponent - 25);
}

/* From double in one rounding. */
static uint16_t to_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value)) return 0x7fff;
    if (size >= 65520.0) return sign | 0x7c00;
    if (size < 0x1p-14) return sign | (uint16_t)nearbyint(size * 0x1p24);
    int exponent;
    double fraction = nearbyint(frexp(size, &exponent) * 2048.0); /* 1024 .. 2048 */
    return sign | (uint16_t)((exponent + 13) * 1024 + (int)fraction);
}

static double saturate(double value, double low, double high)
{
    double whole = nearbyint(value);
    return whole < low ? low : whole > high ? high : whole;
}

static double load(const void *from, size_t i, cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return ((const double *)from)[i];
    case CUDA_R_32F: return ((const float *)from)[i];
    case CUDA_R_32I: return ((const int32_t *)from)[i];
    case CUDA_R_16F: return from_f16(((const uint16_t *)from)[i]);
    case CUDA_R_16BF: return from_bf16(((const uint16_t *)from)[i]);
    default: return ((const int8_t *)from)[i];
    }
}

static void store(void *to, size_t i, cudaDataType type, double value)
{
    switch (type) {
    case CUDA_R_64F: ((double *)to)[i] = value; break;
    case CUDA_R_32F: ((float *)to)[i] = (float)value; break;
    case CUDA_R_32I: ((int32_t *)to)[i] = (int32_t)saturate(value, INT32_MIN, INT32_MAX); break;
    case CUDA_R_16F: ((uint16_t *)to)[i] = to_f16(value); break;
    case CUDA_R_16BF: ((uint16_t *)to)[i] = to_bf16((float)value); break;
    default: ((int8_t *)to)[i] = (int8_t)saturate(value, INT8_MIN, INT8_MAX); break;
    }
}

void elements_to_f64(double *to, const void *from, size_t count, cudaDataType type)
{
    for (size_t i = 0; i < count; i++) to[i] = load(from, i, type);
}

void elements_from_f64(void *to, const double *from, size_t count, cudaDataType type)
{
    for (size_t i = 0; i < count; i++) store(to, i, type, from[i]);
}
