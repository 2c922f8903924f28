/*
 * element.h: the element types of buffers, as bytes, whether the processor knows the type or not.
 */
#ifndef GRADER_ELEMENT_H
#define GRADER_ELEMENT_H

#include <stddef.h>

typedef enum element {
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_E4M3, /* fp8: up to 448, no infinities */
    ELEMENT_I8,
    ELEMENT_I32,
    ELEMENT_U64, /* size_t */
    ELEMENT_BYTE,
    ELEMENT_ADDRESS, /* of another argument's buffer; in the grader that argument's number */
    ELEMENTS,
} element_type;

size_t element_bytes(element_type);
/** As NumPy writes the type; what it has none for, as bytes. */
const char *element_numpy(element_type);
/** What an output holds before the call, 4 bytes again and again: a NaN that no arithmetic gives.
 */
unsigned element_poison(element_type);
/** Element i of an array; exact. */
double element_value(element_type, const void *array, size_t i);
/** Store the nearest value there is; of two as near the even one. What is too large becomes
 *  infinite, or the largest where nothing is infinite. */
void element_store(element_type, void *array, size_t i, double value);
/** How far rounding moves this value at most. */
double element_rounding(element_type, double value);

#endif
