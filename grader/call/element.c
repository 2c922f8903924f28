/*
 * element.c: half, bfloat16 and fp8 are three formats of one kind: a sign, an exponent with a bias,
 * a mantissa. One function reads all of them and one writes them, in double, where every step is
 * exact but the one that rounds.
 */
#include "element.h"

#include "argument.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The largest finite number has this magnitude in bits; the next ones are what is none. */
typedef struct format {
    int mantissa, bias; /* bits; to be taken from the exponent */
    unsigned sign, largest, infinity, nan;
} format;

static const format formats[ELEMENTS] = {
    [ELEMENT_F16] = {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00},
    [ELEMENT_BF16] = {7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0},
    [ELEMENT_E4M3] = {3, 7, 0x80, 0x7e, 0x7e, 0x7f},
};

size_t element_bytes(element_type e)
{
    static const size_t bytes[ELEMENTS] = {
        [ELEMENT_F32] = 4,  [ELEMENT_F64] = 8,    [ELEMENT_F16] = 2, [ELEMENT_BF16] = 2,
        [ELEMENT_E4M3] = 1, [ELEMENT_I8] = 1,     [ELEMENT_I32] = 4, [ELEMENT_U64] = 8,
        [ELEMENT_BYTE] = 1, [ELEMENT_ADDRESS] = 8};
    return bytes[e];
}

const char *element_numpy(element_type e)
{
    static const char *const types[ELEMENTS] = {
        [ELEMENT_F32] = "<f4", [ELEMENT_F64] = "<f8", [ELEMENT_F16] = "<f2",
        [ELEMENT_I8] = "|i1",  [ELEMENT_I32] = "<i4", [ELEMENT_U64] = "<u8"};
    return types[e] ? types[e] : "|u1";
}

/* Signalling NaNs; of fp8 the negative one, for what computes a NaN gives the other. */
unsigned element_poison(element_type e)
{
    static const unsigned poison[ELEMENTS] = {
        [ELEMENT_F32] = POISON_F32,    [ELEMENT_F64] = 0x7ff4bada,  [ELEMENT_F16] = 0x7dba7dba,
        [ELEMENT_BF16] = 0x7fa07fa0,   [ELEMENT_E4M3] = 0xffffffff, [ELEMENT_I8] = POISON_I32,
        [ELEMENT_I32] = POISON_I32,    [ELEMENT_U64] = POISON_I32,  [ELEMENT_BYTE] = POISON_I32,
        [ELEMENT_ADDRESS] = POISON_I32};
    return poison[e];
}

/* ---- the short formats ----------------------------------------------------------------------- */

static double decode(const format *f, unsigned bits)
{
    const unsigned rest = bits & (f->sign - 1), fraction = rest & ((1u << f->mantissa) - 1);
    const int exponent = (int)(rest >> f->mantissa);
    double value;
    if (rest > f->largest)
        value = rest == f->infinity ? INFINITY : NAN;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - f->bias - f->mantissa);
    else
        value = ldexp(fraction + (1u << f->mantissa), exponent - f->bias - f->mantissa);
    return bits & f->sign ? -value : value;
}

/* The exponent of the last place of a value. */
static int last_place(const format *f, double value)
{
    const int lowest = 1 - f->bias, exponent = value == 0.0 ? lowest : ilogb(value);
    return (exponent > lowest ? exponent : lowest) - f->mantissa;
}

/* Counted in its last place a value is a whole number, and that is all but its bits: a mantissa
 * that overflows carries into the exponent as it should. */
static unsigned encode(const format *f, double value)
{
    const unsigned sign = signbit(value) ? f->sign : 0;
    if (isnan(value)) return f->nan;
    if (isinf(value)) return sign | f->infinity;
    const int place = last_place(f, value);
    const double whole = nearbyint(ldexp(fabs(value), -place));
    const double bits = whole + ldexp(place + f->mantissa + f->bias - 1, f->mantissa);
    return sign | (bits > f->largest ? f->infinity : (unsigned)bits);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

double element_value(element_type e, const void *array, size_t i)
{
    switch (e) {
    case ELEMENT_F32: return ((const float *)array)[i];
    case ELEMENT_F64: return ((const double *)array)[i];
    case ELEMENT_I8: return ((const int8_t *)array)[i];
    case ELEMENT_I32: return ((const int32_t *)array)[i];
    case ELEMENT_U64:
    case ELEMENT_ADDRESS: return (double)((const uint64_t *)array)[i];
    case ELEMENT_E4M3: return decode(&formats[e], ((const uint8_t *)array)[i]);
    case ELEMENT_F16:
    case ELEMENT_BF16: return decode(&formats[e], ((const uint16_t *)array)[i]);
    default: return ((const uint8_t *)array)[i];
    }
}

void element_store(element_type e, void *array, size_t i, double value)
{
    switch (e) {
    case ELEMENT_F32: ((float *)array)[i] = (float)value; break;
    case ELEMENT_F64: ((double *)array)[i] = value; break;
    case ELEMENT_I8: ((int8_t *)array)[i] = (int8_t)fmax(-128, fmin(127, nearbyint(value))); break;
    case ELEMENT_I32: ((int32_t *)array)[i] = (int32_t)nearbyint(value); break;
    case ELEMENT_U64:
    case ELEMENT_ADDRESS: ((uint64_t *)array)[i] = (uint64_t)value; break;
    case ELEMENT_E4M3: ((uint8_t *)array)[i] = (uint8_t)encode(&formats[e], value); break;
    case ELEMENT_F16:
    case ELEMENT_BF16: ((uint16_t *)array)[i] = (uint16_t)encode(&formats[e], value); break;
    default: ((uint8_t *)array)[i] = (uint8_t)value;
    }
}

double element_rounding(element_type e, double value)
{
    switch (e) {
    case ELEMENT_F16:
    case ELEMENT_BF16:
    case ELEMENT_E4M3: return isfinite(value) ? ldexp(0.5, last_place(&formats[e], value)) : 0.0;
    case ELEMENT_F32: return fabs(value) * 0x1p-24;
    case ELEMENT_F64: return fabs(value) * 0x1p-53;
    default: return 0.5;
    }
}
