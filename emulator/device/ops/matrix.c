/*
 * matrix.c: products of matrices that the registers of a warp hold: wmma.mma and mma.
 *
 * Interface
 *   run_multiply, fragment_spot, whole_warp
 *   fragment_read, fragment_write, matrix_multiply, element_value     for wgmma
 *
 * Where elements lie: tiles of 8 outer elements, each four lanes' worth of inner ones. Lane l holds
 * outer element l / 4 of a tile, and f->each inner ones from l % 4 * f->each on. A lane's groups
 * are tiles, outer ones first; groups beyond the last tile repeat them. That is the layout that PTX
 * documents for mma; for wmma it may be anything, so it is the same.
 *
 * A product of two elements is exact in double, a sum of at most 256 of them nearly so, and it is
 * rounded once, to d's type: at least as good as any GPU's, which rounds in between. Doubles
 * themselves are multiplied and added in the order of k, each step rounded.
 */
#include "device/base/half.h"
#include "device/memory/words.h"
#include "matrix.h"
#include "ops.h"

bool whole_warp(warp *w, const op *o)
{
    if (!group_gather(w, o, (uint32_t)ALL_LANES)) return false;
    w->synced = shadow_tick(w->block);
    uint32_t mask = active(w, o);
    if (is_all(mask)) return true;
    report(w, o, FINDING_DIVERGENT_BARRIER, (uint32_t)__builtin_ctz(mask | 1u << 31), 0,
           "only %d threads of the warp execute this matrix operation: like a barrier, it must be "
           "reached by all 32 together",
           __builtin_popcount(mask));
    return true;
}

spot fragment_spot(const fragment *f, uint32_t lane, uint32_t index)
{
    uint32_t tiles = f->outer / 8, across = 4u * f->each;
    uint32_t group = index / f->each % (tiles * (f->inner / across));
    return (spot){.outer = group % tiles * 8 + lane / 4,
                  .inner = group / tiles * across + lane % 4 * f->each + index % f->each};
}

/* ---- elements -------------------------------------------------------------------------------- */

/* Exponents of 4 or 5 bits, after which a value has `fraction` bits. */
static double small_float(uint64_t bits, int fraction, int bias)
{
    int exponent = (int)(bits & 0x7f) >> fraction;
    double part = (double)(bits & ((1u << fraction) - 1)) / (1 << fraction);
    double size =
        exponent ? __builtin_ldexp(1 + part, exponent - bias) : __builtin_ldexp(part, 1 - bias);
    return bits & 0x80 ? -size : size;
}

/* The largest code of e4m3 is no number; e5m2 is the upper half of a half. */
INLINE double value_of(element_kind kind, uint64_t bits)
{
    double real;
    switch (kind) {
    case ELEMENT_F16: return half_value((uint16_t)bits);
    case ELEMENT_BF16: return brain_value((uint16_t)bits);
    case ELEMENT_TF32: return bits_float((uint32_t)bits & ~0x1fffu); /* the rest is not looked at */
    case ELEMENT_F32: return bits_float((uint32_t)bits);
    case ELEMENT_F64: memcpy(&real, &bits, sizeof real); return real;
    case ELEMENT_S8: return (int8_t)bits;
    case ELEMENT_S4: return (int8_t)(bits << 4) >> 4;
    case ELEMENT_S32: return (int32_t)bits;
    case ELEMENT_E4M3: return (bits & 0x7f) == 0x7f ? __builtin_nan("") : small_float(bits, 3, 7);
    case ELEMENT_E5M2: return half_value((uint16_t)(bits << 8));
    default: return (double)bits;
    }
}

double element_value(element_kind kind, uint64_t bits)
{
    return value_of(kind, bits);
}

/* Sums of integers are exact in double, too. */
static uint64_t bits_of(element_kind kind, double value, bool saturate)
{
    uint64_t bits;
    switch (kind) {
    case ELEMENT_F16: return half_bits(float_to_odd(value));
    case ELEMENT_F32: return value != value ? 0x7fffffff : float_bits((float)value);
    case ELEMENT_F64: memcpy(&bits, &value, sizeof bits); return bits;
    default:
        if (saturate && value > INT32_MAX) return INT32_MAX;
        if (saturate && value < INT32_MIN) return (uint32_t)INT32_MIN;
        return (uint32_t)(int64_t)value;
    }
}

/* Where the elements of a register begin: those of lane 0. The other lanes' follow evenly. */
typedef struct places {
    double *first;
    uint32_t next_outer, next_inner; /* from lane to lane + 4, and to the next of four */
} places;

static places places_of(const fragment *f, uint32_t index, double *of, uint32_t outer_step,
                        uint32_t inner_step)
{
    spot s = fragment_spot(f, 0, index);
    return (places){of + s.outer * outer_step + s.inner * inner_step, outer_step,
                    f->each * inner_step};
}

static inline double *element_at(const places *p, uint32_t lane)
{
    return p->first + lane / 4 * p->next_outer + lane % 4 * p->next_inner;
}

/* All of a fragment, one element every so many places. A kind that the caller knows makes short
 * code of the loops. */
INLINE void read_elements(const warp *w, const operand *rows, const fragment *f, element_kind kind,
                          uint32_t width, double *to, uint32_t outer_step, uint32_t inner_step)
{
    bool wide = width == 64;
    uint32_t each = wide ? 1 : 32 / width;
    uint64_t mask = ~UINT64_C(0) >> (64 - width);
    for (uint32_t r = 0; r < f->registers; r++) {
        const void *from = row(w, rows[f->first + r]);
        places p = places_of(f, r * each, to, outer_step, inner_step);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t bits = wide ? ((const uint64_t *)from)[lane] : ((const uint32_t *)from)[lane];
            double *at = element_at(&p, lane);
            for (uint32_t i = 0; i < each; i++, bits >>= width % 64)
                at[i * inner_step] = value_of(kind, bits & mask);
        }
    }
}

void fragment_read(const warp *w, const operand *rows, const fragment *f, double *to,
                   uint32_t outer_step, uint32_t inner_step)
{
    switch (f->kind) {
    case ELEMENT_F16: return read_elements(w, rows, f, ELEMENT_F16, 16, to, outer_step, inner_step);
    case ELEMENT_BF16:
        return read_elements(w, rows, f, ELEMENT_BF16, 16, to, outer_step, inner_step);
    case ELEMENT_TF32:
        return read_elements(w, rows, f, ELEMENT_TF32, 32, to, outer_step, inner_step);
    case ELEMENT_F32: return read_elements(w, rows, f, ELEMENT_F32, 32, to, outer_step, inner_step);
    case ELEMENT_S8: return read_elements(w, rows, f, ELEMENT_S8, 8, to, outer_step, inner_step);
    case ELEMENT_S32: return read_elements(w, rows, f, ELEMENT_S32, 32, to, outer_step, inner_step);
    default: read_elements(w, rows, f, f->kind, f->bits, to, outer_step, inner_step);
    }
}

INLINE void write_elements(warp *w, const operand *rows, const fragment *f, bool saturate,
                           uint32_t lanes, element_kind kind, uint32_t width, double *from)
{
    bool wide = width == 64;
    uint32_t each = wide ? 1 : 32 / width;
    for (uint32_t r = 0; r < f->registers; r++) {
        void *to = row(w, rows[f->first + r]);
        places p = places_of(f, r * each, from, f->inner, 1);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const double *values = element_at(&p, lane);
            uint64_t bits = 0;
            if (!(lanes >> lane & 1)) continue;
            for (uint32_t i = 0; i < each; i++)
                bits |= bits_of(kind, values[i], saturate) << i * width;
            if (wide)
                ((uint64_t *)to)[lane] = bits;
            else
                ((uint32_t *)to)[lane] = (uint32_t)bits;
        }
    }
}

void fragment_write(warp *w, const operand *rows, const fragment *f, bool saturate, uint32_t lanes,
                    double *from)
{
    switch (f->kind) {
    case ELEMENT_F16: return write_elements(w, rows, f, saturate, lanes, ELEMENT_F16, 16, from);
    case ELEMENT_F32: return write_elements(w, rows, f, saturate, lanes, ELEMENT_F32, 32, from);
    case ELEMENT_S32: return write_elements(w, rows, f, saturate, lanes, ELEMENT_S32, 32, from);
    default: write_elements(w, rows, f, saturate, lanes, f->kind, f->bits, from);
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Doubles in a register: a wider vector would be taken apart in memory. */
#if defined(__AVX512F__)
#define LINE 8
#elif defined(__AVX__)
#define LINE 4
#else
#define LINE 2
#endif

enum { ROWS = 4, COLUMNS = 8 }; /* that are summed side by side: shapes are multiples of them */
typedef double line __attribute__((vector_size(LINE * sizeof(double)), aligned(8), may_alias));

/* a: (rows, depth), b: (depth, columns), sum: (rows, columns). Whether a product is rounded before
 * it is added is all the same, for it is exact. */
void matrix_multiply(const double *a, const double *b, double *sum, uint32_t rows, uint32_t columns,
                     uint32_t depth)
{
    for (uint32_t at = 0; at < rows / ROWS * columns; at += COLUMNS) {
        const double *x = a + at / columns * ROWS * depth, *y = b + at % columns;
        double *to = sum + at / columns * ROWS * columns + at % columns;
        line s[ROWS][COLUMNS / LINE];
        for (uint32_t r = 0; r < ROWS; r++) memcpy(s[r], to + r * columns, sizeof s[r]);
        for (uint32_t k = 0; k < depth; k++) {
            const line *factors = (const line *)(y + k * columns);
            for (uint32_t r = 0; r < ROWS; r++)
                for (uint32_t l = 0; l < COLUMNS / LINE; l++)
                    s[r][l] += x[r * depth + k] * factors[l];
        }
        for (uint32_t r = 0; r < ROWS; r++) memcpy(to + r * columns, s[r], sizeof s[r]);
    }
}

/* The same of doubles, whose products are not: one rounding a step. */
static void multiply_doubles(const double *a, const double *b, double *sum, uint32_t rows,
                             uint32_t columns, uint32_t depth)
{
    for (uint32_t at = 0; at < rows * columns; at++) {
        const double *x = a + at / columns * depth, *y = b + at % columns;
        for (uint32_t k = 0; k < depth; k++) sum[at] = __builtin_fma(x[k], y[k * columns], sum[at]);
    }
}

/* Bits that differ: a + b - 2ab of each pair. */
static void count_different(const double *a, const double *b, double *sum, uint32_t rows,
                            uint32_t columns, uint32_t depth)
{
    for (uint32_t at = 0; at < rows * columns; at++) {
        const double *x = a + at / columns * depth, *y = b + at % columns;
        for (uint32_t k = 0; k < depth; k++) sum[at] += x[k] != y[k * columns];
    }
}

const op *run_multiply(warp *w, const op *o)
{
    const matrix *m = o->extra;
    double a[MAX_FACTORS], b[MAX_FACTORS], sum[MAX_SUMS];
    uint32_t rows = m->a.outer, columns = m->b.outer, depth = m->a.inner;
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    fragment_read(w, m->row, &m->a, a, depth, 1);
    fragment_read(w, m->row, &m->b, b, 1, columns);
    fragment_read(w, m->row, &m->c, sum, columns, 1);
    if (m->exclusive_or)
        count_different(a, b, sum, rows, columns, depth);
    else if (m->a.kind == ELEMENT_F64)
        multiply_doubles(a, b, sum, rows, columns, depth);
    else
        matrix_multiply(a, b, sum, rows, columns, depth);
    fragment_write(w, m->row, &m->d, m->saturate, active(w, o), sum);
    return o + 1;
}
