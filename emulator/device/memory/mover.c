/*
 * mover.c: values between rows of registers and host memory.
 *
 * Interface
 *   find_mover
 *
 * A pair of functions for each pair of memory and register type: one for elements at even steps,
 * one for elements anywhere.
 */
#include "memory.h"

#define DEFINE_LOAD(name, M, R)                                                                    \
    static void name(void *row, uint8_t *memory, int64_t step, uint32_t lanes)                     \
    {                                                                                              \
        R *r = row;                                                                                \
        M value;                                                                                   \
        if (step == sizeof(M) && lanes == LANES) {                                                 \
            M values[LANES];                                                                       \
            memcpy(values, memory, sizeof values);                                                 \
            for (uint32_t i = 0; i < LANES; i++) r[i] = (R)values[i];                              \
        } else if (step == 0 && lanes == LANES) {                                                  \
            memcpy(&value, memory, sizeof value);                                                  \
            for (uint32_t i = 0; i < LANES; i++) r[i] = (R)value;                                  \
        } else {                                                                                   \
            for (uint32_t i = 0; i < lanes; i++, memory += step) {                                 \
                memcpy(&value, memory, sizeof value);                                              \
                r[i] = (R)value;                                                                   \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name##_spread(void *row, uint8_t *const *memory, uint32_t offset, uint32_t mask)   \
    {                                                                                              \
        R *r = row;                                                                                \
        if (is_all(mask)) {                                                                        \
            for (uint32_t i = 0; i < LANES; i++) r[i] = (R) * (M *)(memory[i] + offset);           \
            return;                                                                                \
        }                                                                                          \
        for (; mask; mask &= mask - 1) {                                                           \
            uint32_t i = (uint32_t)__builtin_ctz(mask);                                            \
            r[i] = (R) * (M *)(memory[i] + offset);                                                \
        }                                                                                          \
    }

#define DEFINE_STORE(name, M, R)                                                                   \
    static void name(void *row, uint8_t *memory, int64_t step, uint32_t lanes)                     \
    {                                                                                              \
        const R *r = row;                                                                          \
        if (step == sizeof(M) && lanes == LANES) {                                                 \
            M values[LANES];                                                                       \
            for (uint32_t i = 0; i < LANES; i++) values[i] = (M)r[i];                              \
            memcpy(memory, values, sizeof values);                                                 \
        } else {                                                                                   \
            for (uint32_t i = 0; i < lanes; i++, memory += step) *(M *)memory = (M)r[i];           \
        }                                                                                          \
    }                                                                                              \
    static void name##_spread(void *row, uint8_t *const *memory, uint32_t offset, uint32_t mask)   \
    {                                                                                              \
        const R *r = row;                                                                          \
        for (; mask; mask &= mask - 1) {                                                           \
            uint32_t i = (uint32_t)__builtin_ctz(mask);                                            \
            *(M *)(memory[i] + offset) = (M)r[i];                                                  \
        }                                                                                          \
    }

#define EACH_PAIR(X)                                                                               \
    X(u8_16, uint8_t, uint16_t)                                                                    \
    X(u8_32, uint8_t, uint32_t)                                                                    \
    X(u8_64, uint8_t, uint64_t)                                                                    \
    X(s8_16, int8_t, int16_t)                                                                      \
    X(s8_32, int8_t, int32_t)                                                                      \
    X(s8_64, int8_t, int64_t)                                                                      \
    X(u16_16, uint16_t, uint16_t)                                                                  \
    X(u16_32, uint16_t, uint32_t) X(u16_64, uint16_t, uint64_t) X(s16_16, int16_t, int16_t)        \
        X(s16_32, int16_t, int32_t) X(s16_64, int16_t, int64_t) X(u32_32, uint32_t, uint32_t)      \
            X(u32_64, uint32_t, uint64_t) X(s32_32, int32_t, int32_t) X(s32_64, int32_t, int64_t)  \
                X(u64_64, uint64_t, uint64_t) X(s64_64, int64_t, int64_t)

#define DEFINE(name, M, R) DEFINE_LOAD(load_##name, M, R) DEFINE_STORE(store_##name, M, R)
EACH_PAIR(DEFINE)

#define LIST(name, M, R)                                                                           \
    {sizeof(M),                                                                                    \
     (M)-1 < (M)1,                                                                                 \
     sizeof(R),                                                                                    \
     {load_##name, load_##name##_spread},                                                          \
     {store_##name, store_##name##_spread}},
static const struct {
    uint32_t size;
    bool is_signed;
    uint32_t width;
    mover load, store;
} movers[] = {EACH_PAIR(LIST)};

const mover *find_mover(bool load, uint32_t size, bool is_signed, uint32_t width)
{
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        if (movers[i].size != size || movers[i].is_signed != is_signed) continue;
        if (movers[i].width == width) return load ? &movers[i].load : &movers[i].store;
    }
    return NULL;
}
