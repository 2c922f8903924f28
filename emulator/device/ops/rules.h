/*
 * rules.h: makes the next reading of an opcode table list its handlers as rules. Include it after
 * the handlers are defined, inside no function. See lanes.h.
 */
#include "ops.h"

#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY
#undef COMPARE
#undef SELECT
#undef LOGIC
#undef CARRY

#define NO                                 NO_OPERAND
#define WIDTH(T)                           (sizeof(T) == 1 ? 2 : sizeof(T))
#define UNARY(name, text, D, A, value)     {text, name, {WIDTH(D), WIDTH(A), NO, NO, NO}},
#define BINARY(name, text, D, A, B, value) {text, name, {WIDTH(D), WIDTH(A), WIDTH(B), NO, NO}},
#define TERNARY(name, text, D, A, B, C, value)                                                     \
    {text, name, {WIDTH(D), WIDTH(A), WIDTH(B), WIDTH(C), NO}},
#define QUATERNARY(name, text, D, A, B, C, E, value)                                               \
    {text, name, {WIDTH(D), WIDTH(A), WIDTH(B), WIDTH(C), WIDTH(E)}},
#define COMPARE(name, text, A, value)    {text, name, {PREDICATE, WIDTH(A), WIDTH(A), NO, NO}},
#define SELECT(name, text, D)            {text, name, {WIDTH(D), WIDTH(D), WIDTH(D), PREDICATE, NO}},
#define LOGIC(name, text, value)         {text, name, {PREDICATE, PREDICATE, PREDICATE, NO, NO}},
#define CARRY(name, text, T, sum, carry) {text, name, {WIDTH(T), WIDTH(T), WIDTH(T), WIDTH(T), NO}},
