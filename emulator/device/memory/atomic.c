/*
 * atomic.c: atom and red.
 *
 * Interface
 *   find_atomic, run_atomic
 *
 * Lane after lane, with the host's own atomic instructions: blocks on other host threads see them.
 */
#include <stdlib.h>

#include "device/base/half.h"
#include "memory.h"

/* A loop around compare-and-swap: `next` is what old becomes. */
#define DEFINE_LOOP(name, T, next)                                                                 \
    static uint64_t name(void *memory, uint64_t operand, uint64_t replacement)                     \
    {                                                                                              \
        T b, c, old, new;                                                                          \
        memcpy(&b, &operand, sizeof b);                                                            \
        memcpy(&c, &replacement, sizeof c);                                                        \
        (void)c;                                                                                   \
        __atomic_load((T *)memory, &old, __ATOMIC_SEQ_CST);                                        \
        do {                                                                                       \
            new = next;                                                                            \
        } while (!__atomic_compare_exchange((T *)memory, &old, &new, false, __ATOMIC_SEQ_CST,      \
                                            __ATOMIC_SEQ_CST));                                    \
        uint64_t result = 0;                                                                       \
        memcpy(&result, &old, sizeof old);                                                         \
        return result;                                                                             \
    }

#define EACH_INTEGER(X, U, S, bits)                                                                \
    X(add_##bits, "add", bits, "su", U, old + b)                                                   \
    X(and_##bits, "and", bits, "b", U, old &b)                                                     \
    X(or_##bits, "or", bits, "b", U, old | b)                                                      \
    X(xor_##bits, "xor", bits, "b", U, old ^ b)                                                    \
    X(exch_##bits, "exch", bits, "b", U, b)                                                        \
    X(cas_##bits, "cas", bits, "b", U, old == b ? c : old)                                         \
    X(inc_##bits, "inc", bits, "u", U, old >= b ? 0 : old + 1)                                     \
    X(dec_##bits, "dec", bits, "u", U, old == 0 || old > b ? b : old - 1)                          \
    X(umin_##bits, "min", bits, "u", U, old < b ? old : b)                                         \
    X(umax_##bits, "max", bits, "u", U, old > b ? old : b)                                         \
    X(smin_##bits, "min", bits, "s", S, old < b ? old : b)                                         \
    X(smax_##bits, "max", bits, "s", S, old > b ? old : b)
#define EACH_FLOAT(X)                                                                              \
    X(add_f32, "add", 32, "f", float, old + b)                                                     \
    X(add_f64, "add", 64, "f", double, old + b)                                                    \
    X(add_f16, "add", 16, "f", uint16_t, half_bits(half_value(old) + half_value(b)))               \
    X(add_bf16, "add", 16, "bf", uint16_t, brain_bits(brain_value(old) + brain_value(b)))          \
    X(min_f16, "min", 16, "f", uint16_t, half_value(b) < half_value(old) ? b : old)                \
    X(max_f16, "max", 16, "f", uint16_t, half_value(b) > half_value(old) ? b : old)                \
    X(min_bf16, "min", 16, "bf", uint16_t, brain_value(b) < brain_value(old) ? b : old)            \
    X(max_bf16, "max", 16, "bf", uint16_t, brain_value(b) > brain_value(old) ? b : old)            \
    X(add_f16x2, "add", 32, "f2", uint32_t, add_halves(old, b))                                    \
    X(add_bf16x2, "add", 32, "bf2", uint32_t, add_brains(old, b))
#define EACH(X)                                                                                    \
    EACH_INTEGER(X, uint32_t, int32_t, 32)                                                         \
    EACH_INTEGER(X, uint64_t, int64_t, 64)                                                         \
    X(cas_16, "cas", 16, "b", uint16_t, old == b ? c : old)                                        \
    EACH_FLOAT(X)

static uint32_t add_halves(uint32_t x, uint32_t y)
{
    uint32_t low = half_bits(half_value((uint16_t)x) + half_value((uint16_t)y));
    uint32_t high = half_bits(half_value((uint16_t)(x >> 16)) + half_value((uint16_t)(y >> 16)));
    return low | high << 16;
}

static uint32_t add_brains(uint32_t x, uint32_t y)
{
    uint32_t low = brain_bits(brain_value((uint16_t)x) + brain_value((uint16_t)y));
    uint32_t high = brain_bits(brain_value((uint16_t)(x >> 16)) + brain_value((uint16_t)(y >> 16)));
    return low | high << 16;
}

#define DEFINE(name, text, bits, kinds, T, next) DEFINE_LOOP(name, T, next)
EACH(DEFINE)

#define LIST(name, text, bits, kinds, T, next) {text, bits, kinds, name},
static const struct {
    const char *name;
    int bits;
    const char *kinds; /* letters of the types it serves; 2: a packed pair */
    atomic_function *run;
} functions[] = {EACH(LIST)};

/* "f16x2" is 32 bits of kind "f2"; bit operations take any 32- or 64-bit type. */
static const char *kind_of(const char *type, int *bits)
{
    bool brain = type[0] == 'b' && type[1] == 'f', pair = strstr(type, "x2") != NULL;
    *bits = atoi(type + (brain ? 2 : 1)) * (pair ? 2 : 1);
    if (brain) return pair ? "bf2" : "bf";
    if (pair) return "f2";
    return type[0] == 'f' ? "f" : type[0] == 's' ? "s" : type[0] == 'u' ? "u" : "b";
}

atomic_function *find_atomic(const char *name, const char *type)
{
    int bits;
    const char *kind = kind_of(type, &bits);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *kinds = functions[i].kinds;
        if (functions[i].bits != bits || strcmp(functions[i].name, name)) continue;
        bool any = !strcmp(kinds, "b") && kind[1] == 0;
        if (any || !strcmp(kinds, kind) || (!strcmp(kinds, "su") && strstr(kinds, kind))) {
            return functions[i].run;
        }
    }
    return NULL;
}

static uint64_t element(const void *row, uint32_t lane, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)row + lane * bytes, bytes);
    return value;
}

/* Whom a compare-and-swap fails in all lanes waits for somebody else, who gets his turn at the next
 * jump back. */
static void note_swap(warp *w, bool swapped)
{
    w->vain = swapped ? 0 : w->vain + 1;
    if (swapped) return;
    w->yields = true;
    w->slice = 1;
}

/* Registers of 16 bits hold small types. */
const op *run_atomic(warp *w, const op *o)
{
    atomic_function *apply = (atomic_function *)o->extra;
    bool is_swap = apply == cas_16 || apply == cas_32 || apply == cas_64, swapped = false;
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = element(row(w, o->a), lane, o->narrow ? 4 : 8);
        address += (uint64_t)o->offset;
        uint8_t *memory = reach_lane(w, o, o->space, o->narrow ? (uint32_t)address : address,
                                     o->size, lane, ACCESS_ATOMIC, NULL);
        uint64_t old = 0;
        if (memory) {
            old = apply(memory, element(row(w, o->b), lane, o->size),
                        element(row(w, o->c), lane, o->size));
            if (memcmp(memory, &old, o->size)) { /* it does not wait */
                w->budget -= 2 * LANE_COST;
                w->block->rests = false;
            }
            if (is_swap) swapped |= old == element(row(w, o->b), lane, o->size);
        }
        if (o->d) memcpy((uint8_t *)row(w, o->d) + lane * o->size, &old, o->size);
    }
    if (is_swap && active(w, o)) note_swap(w, swapped);
    return o + 1;
}
