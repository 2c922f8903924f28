/*
 * cuComplex.h: complex numbers, for the device and the host.
 */
#ifndef SOFTGPU_CUCOMPLEX_H
#define SOFTGPU_CUCOMPLEX_H

#include <math.h>

#include "../host_defines.h"
#include "../vector_types.h"

#ifdef __CUDA__
#include "../cuda_runtime.h"
#define CU_COMPLEX static __inline__ __attribute__((host, device, unused))
#else
#define CU_COMPLEX static __inline__ __attribute__((unused))
#endif

/* clang-format off */

typedef float2 cuFloatComplex;
CU_COMPLEX float cuCrealf(cuFloatComplex x) { return x.x; }
CU_COMPLEX float cuCimagf(cuFloatComplex x) { return x.y; }
CU_COMPLEX cuFloatComplex make_cuFloatComplex(float real, float imaginary) { cuFloatComplex z = {real, imaginary}; return z; }
CU_COMPLEX cuFloatComplex cuConjf(cuFloatComplex x) { return make_cuFloatComplex(x.x, -x.y); }
CU_COMPLEX cuFloatComplex cuCaddf(cuFloatComplex x, cuFloatComplex y) { return make_cuFloatComplex(x.x + y.x, x.y + y.y); }
CU_COMPLEX cuFloatComplex cuCsubf(cuFloatComplex x, cuFloatComplex y) { return make_cuFloatComplex(x.x - y.x, x.y - y.y); }
CU_COMPLEX cuFloatComplex cuCmulf(cuFloatComplex x, cuFloatComplex y)
{
    return make_cuFloatComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
/* Divided by the larger part first, so that nothing overflows on the way. */
CU_COMPLEX cuFloatComplex cuCdivf(cuFloatComplex x, cuFloatComplex y)
{
    float s = fabsf(y.x) + fabsf(y.y);
    float a = x.x / s, b = x.y / s, c = y.x / s, d = y.y / s, n = c * c + d * d;
    return make_cuFloatComplex((a * c + b * d) / n, (b * c - a * d) / n);
}
CU_COMPLEX float cuCabsf(cuFloatComplex x) { return hypotf(x.x, x.y); }
CU_COMPLEX cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex z) { return cuCaddf(cuCmulf(x, y), z); }

typedef double2 cuDoubleComplex;
CU_COMPLEX double cuCreal(cuDoubleComplex x) { return x.x; }
CU_COMPLEX double cuCimag(cuDoubleComplex x) { return x.y; }
CU_COMPLEX cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) { cuDoubleComplex z = {real, imaginary}; return z; }
CU_COMPLEX cuDoubleComplex cuConj(cuDoubleComplex x) { return make_cuDoubleComplex(x.x, -x.y); }
CU_COMPLEX cuDoubleComplex cuCadd(cuDoubleComplex x, cuDoubleComplex y) { return make_cuDoubleComplex(x.x + y.x, x.y + y.y); }
CU_COMPLEX cuDoubleComplex cuCsub(cuDoubleComplex x, cuDoubleComplex y) { return make_cuDoubleComplex(x.x - y.x, x.y - y.y); }
CU_COMPLEX cuDoubleComplex cuCmul(cuDoubleComplex x, cuDoubleComplex y)
{
    return make_cuDoubleComplex(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
/* Divided by the larger part first, so that nothing overflows on the way. */
CU_COMPLEX cuDoubleComplex cuCdiv(cuDoubleComplex x, cuDoubleComplex y)
{
    double s = fabs(y.x) + fabs(y.y);
    double a = x.x / s, b = x.y / s, c = y.x / s, d = y.y / s, n = c * c + d * d;
    return make_cuDoubleComplex((a * c + b * d) / n, (b * c - a * d) / n);
}
CU_COMPLEX double cuCabs(cuDoubleComplex x) { return hypot(x.x, x.y); }
CU_COMPLEX cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex z) { return cuCadd(cuCmul(x, y), z); }

typedef cuFloatComplex cuComplex;
CU_COMPLEX cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
CU_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex(x.x, x.y); }
CU_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return make_cuFloatComplex((float)x.x, (float)x.y); }
/* clang-format on */
#undef CU_COMPLEX

#endif
