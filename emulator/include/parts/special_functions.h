/*
 * special_functions.h: functions of mathematics that CUDA has and C has not: inverses of the error
 * function and of the normal distribution, Bessel functions, lengths in several dimensions.
 */
#ifndef SOFTGPU_SPECIAL_FUNCTIONS_H
#define SOFTGPU_SPECIAL_FUNCTIONS_H

#include "../math_functions.h"

/* clang-format off */

/* A guess (Winitzki's), then steps of Halley's method on erfc. */
SOFTGPU_DEVICE double erfcinv(double y)
{
    if (!(y > 0 && y < 2)) return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : sqrt(-1.0);
    const double low = y < 1 ? y : 2 - y, l = log(low * (2 - low)), b = 4.3307467508 + l / 2;
    double x = sqrt(sqrt(b * b - l / 0.147) - b);
    for (int i = 0; i < 4; i++) {
        const double step = (erfc(x) - low) / (1.12837916709551257390 * exp(-x * x));
        x += step / (1 - x * step);
    }
    return y < 1 ? x : -x;
}
/* Near 0, where 1 - x would lose digits, on erf itself. */
SOFTGPU_DEVICE double erfinv(double x)
{
    if (!(fabs(x) < 0.5)) return copysign(erfcinv(1 - fabs(x)), x);
    double y = 0.886226925452758 * x;
    for (int i = 0; i < 6; i++) {
        const double step = (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
        y -= step / (1 + y * step);
    }
    return y;
}
SOFTGPU_DEVICE double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2 * p); }

/* exp(x^2) erfc(x); far out by its series. */
SOFTGPU_DEVICE double erfcx(double x)
{
    if (x < 20) return exp(x * x) * erfc(x);
    const double s = 1 / (2 * x * x);
    return 0.56418958354775628695 / x * (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s))));
}

/* Modified Bessel functions: a sum of positive terms. */
SOFTGPU_DEVICE double softgpu_bessel(double x, int order)
{
    double term = order ? x / 2 : 1, sum = term;
    for (int k = 1; fabs(term) > 1e-17 * fabs(sum); k++) sum += term *= x / 2 * (x / 2) / ((double)k * (k + order));
    return sum;
}
SOFTGPU_DEVICE double cyl_bessel_i0(double x) { return softgpu_bessel(x, 0); }
SOFTGPU_DEVICE double cyl_bessel_i1(double x) { return softgpu_bessel(x, 1); }

#define OF_FLOAT(name) SOFTGPU_DEVICE float name##f(float x) { return (float)name((double)x); }
OF_FLOAT(erfcinv) OF_FLOAT(erfinv) OF_FLOAT(normcdfinv) OF_FLOAT(erfcx) OF_FLOAT(cyl_bessel_i0) OF_FLOAT(cyl_bessel_i1)
#undef OF_FLOAT

#define LENGTHS(T, f)                                                                              \
    SOFTGPU_DEVICE T rnorm3d##f(T x, T y, T z) { return 1 / norm3d##f(x, y, z); }                  \
    SOFTGPU_DEVICE T norm4d##f(T x, T y, T z, T w) { return sqrt(x * x + y * y + z * z + w * w); } \
    SOFTGPU_DEVICE T rnorm4d##f(T x, T y, T z, T w) { return 1 / norm4d##f(x, y, z, w); }          \
    SOFTGPU_DEVICE T norm##f(int n, const T *x)                                                    \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int i = 0; i < n; i++) sum += x[i] * x[i];                                            \
        return sqrt(sum);                                                                          \
    }                                                                                              \
    SOFTGPU_DEVICE T rnorm##f(int n, const T *x) { return 1 / norm##f(n, x); }
LENGTHS(float, f) LENGTHS(double, )
#undef LENGTHS

/* What hosts may call of them. */
#define HOST_TOO(T, f)                                                                             \
    static inline T rsqrt##f(T x) { return 1 / std::sqrt(x); }                                     \
    static inline T rcbrt##f(T x) { return 1 / std::cbrt(x); }                                     \
    static inline T normcdf##f(T x) { return std::erfc(x * T(-0.70710678118654752440)) / 2; }      \
    static inline T sinpi##f(T x) { return std::sin(std::remainder(x, T(2)) * T(3.14159265358979323846)); } \
    static inline T cospi##f(T x) { return std::cos(std::remainder(x, T(2)) * T(3.14159265358979323846)); }
HOST_TOO(float, f) HOST_TOO(double, )
#undef HOST_TOO
/* clang-format on */

#endif
