/*
 * libm.c: mathematical functions that kernels call by name, answered by the host's libm.
 *
 * Interface
 *   libm_find
 *
 * nvcc puts such functions into the PTX. clang without NVIDIA's libdevice cannot: there
 * include/math_functions.h calls softgpu_sinf, softgpu_pow and so on, which lie here.
 */
#define _GNU_SOURCE
#include <math.h>

#include "ops.h"

typedef union value {
    float f;
    double d;
    int32_t i;
    uint64_t bits;
} value;

static value argument(const warp *w, const call *c, uint32_t index, uint32_t lane)
{
    const uint32_t *r = row(w, c->argument[index]);
    value v = {.bits = r[lane]};
    if (c->argument_words[index] > 1) v.bits |= (uint64_t)r[LANES + lane] << 32;
    return v;
}

static void answer(const warp *w, const call *c, uint32_t lane, value v)
{
    uint32_t *r = row(w, c->result);
    r[lane] = (uint32_t)v.bits;
    if (c->result_words > 1) r[LANES + lane] = (uint32_t)(v.bits >> 32);
}

#define SIGNED_LOG_GAMMA(T, suffix)                                                                \
    static T plain_lgamma##suffix(T x)                                                             \
    {                                                                                              \
        int sign; /* lgamma itself writes to a variable that all threads share */                  \
        return lgamma##suffix##_r(x, &sign);                                                       \
    }
SIGNED_LOG_GAMMA(float, f)
SIGNED_LOG_GAMMA(double, )

/* clang-format off */
#define EACH_FUNCTION                                                                              \
    ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh)         \
    ONE(asinh) ONE(acosh) ONE(atanh) ONE(exp) ONE(exp2) ONE(exp10) ONE(expm1) ONE(log) ONE(log2)   \
    ONE(log10) ONE(log1p) ONE(logb) ONE(cbrt) ONE(erf) ONE(erfc) ONE(tgamma) ONE(plain_lgamma)     \
    ONE(j0) ONE(j1) ONE(y0) ONE(y1) TWO(pow) TWO(atan2) TWO(fmod) TWO(remainder) TWO(hypot)        \
    TWO(nextafter) TWO(fdim) SCALE(ldexp)
/* clang-format on */

#define ONE(name)                                                                                  \
    FUNCTION(name##f, f, 1, 1, name##f(argument(w, c, 0, lane).f))                                 \
    FUNCTION(name, d, 2, 1, name(argument(w, c, 0, lane).d))
#define TWO(name)                                                                                  \
    FUNCTION(name##f, f, 1, 2, name##f(argument(w, c, 0, lane).f, argument(w, c, 1, lane).f))      \
    FUNCTION(name, d, 2, 2, name(argument(w, c, 0, lane).d, argument(w, c, 1, lane).d))
#define SCALE(name)                                                                                \
    FUNCTION(name##f, f, 1, 2, name##f(argument(w, c, 0, lane).f, argument(w, c, 1, lane).i))      \
    FUNCTION(name, d, 2, 2, name(argument(w, c, 0, lane).d, argument(w, c, 1, lane).i))

#define FUNCTION(name, member, words, count, expression)                                           \
    static const op *run_##name(warp *w, const op *o)                                              \
    {                                                                                              \
        const call *c = o->extra;                                                                  \
        for (uint32_t m = active(w, o); m; m &= m - 1) {                                           \
            uint32_t lane = (uint32_t)__builtin_ctz(m);                                            \
            answer(w, c, lane, (value){.member = expression});                                     \
        }                                                                                          \
        return o + 1;                                                                              \
    }
EACH_FUNCTION
#undef FUNCTION

static const struct {
    const char *name;
    handler *run;
    uint32_t words, arguments; /* 32-bit words of the result and of the first argument */
} functions[] = {
#define FUNCTION(name, member, words, count, expression)                                           \
    {"softgpu_" #name, run_##name, words, count},
    EACH_FUNCTION
#undef FUNCTION
};

/** @return NULL when there is no such function, or the call does not fit it. */
handler *libm_find(const char *name, const call *c)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name)) continue;
        bool fits = c->has_result && c->result_words == functions[i].words &&
                    c->arguments == functions[i].arguments &&
                    c->argument_words[0] == functions[i].words;
        return fits ? functions[i].run : NULL;
    }
    return NULL;
}
