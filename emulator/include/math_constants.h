/*
 * math_constants.h: names for numbers that kernels use.
 */
#ifndef SOFTGPU_MATH_CONSTANTS_H
#define SOFTGPU_MATH_CONSTANTS_H

#define CUDART_INF_F        __builtin_inff()
#define CUDART_NAN_F        __builtin_nanf("")
#define CUDART_MIN_DENORM_F 0x1p-149f
#define CUDART_MAX_NORMAL_F 0x1.fffffep127f
#define CUDART_NEG_ZERO_F   (-0.0f)
#define CUDART_ZERO_F       0.0f
#define CUDART_ONE_F        1.0f
#define CUDART_SQRT_HALF_F  0.70710678118654752f
#define CUDART_SQRT_TWO_F   1.41421356237309505f
#define CUDART_PI_F         3.14159265358979324f
#define CUDART_2PI_F        6.28318530717958648f
#define CUDART_PIO2_F       1.57079632679489662f
#define CUDART_PIO4_F       0.78539816339744831f
#define CUDART_L2E_F        1.44269504088896341f
#define CUDART_LN2_F        0.69314718055994531f
#define CUDART_LOG2_10_F    3.32192809488736235f
#define CUDART_LOG10_2_F    0.30102999566398120f

#define CUDART_INF          __builtin_inf()
#define CUDART_NAN          __builtin_nan("")
#define CUDART_NEG_ZERO     (-0.0)
#define CUDART_ZERO         0.0
#define CUDART_ONE          1.0
#define CUDART_SQRT_HALF    0.70710678118654752440
#define CUDART_SQRT_TWO     1.41421356237309504880
#define CUDART_PI           3.14159265358979323846
#define CUDART_2PI          6.28318530717958647693
#define CUDART_PIO2         1.57079632679489661923
#define CUDART_PIO4         0.78539816339744830962
#define CUDART_L2E          1.44269504088896340736
#define CUDART_LN2          0.69314718055994530942

#endif
