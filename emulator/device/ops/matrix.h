/*
 * matrix.h: matrices that the registers of a warp hold.
 */
#ifndef SOFTGPU_DEVICE_MATRIX_H
#define SOFTGPU_DEVICE_MATRIX_H

#include "device/base/state.h"

typedef enum element_kind {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4,
    ELEMENT_U4,
    ELEMENT_B1,
    ELEMENT_S32,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
} element_kind;

/** A matrix spread over the registers of a warp; matrix.c says which element is where. Outer are
 *  the rows of A, C and D and the columns of B; inner runs along k, or along the rows of C and D.
 */
typedef struct fragment {
    uint8_t kind; /**< an element_kind */
    uint8_t bits; /**< of an element */
    uint8_t each; /**< elements side by side in a lane */
    uint16_t outer, inner;
    uint8_t first, registers; /**< where in matrix.row, and how many: 32 bits each, or 64 */
} fragment;

/** Operands of an operation on matrices. */
typedef struct matrix {
    fragment d, a, b, c; /**< loads and stores: d alone */
    bool saturate;
    bool exclusive_or;  /**< one-bit elements: count a ^ b instead of a & b */
    bool across;        /**< loads and stores: a line in memory runs along outer */
    bool sum;           /**< loads and stores: it is C or D */
    operand row[LANES]; /**< registers of d, a, b, c */
} matrix;

/** Between the registers of a fragment, `row` with those of d, a, b, c, and doubles: element
 *  (outer, inner) lies at outer * outer_step + inner * inner_step. */
void fragment_read(const warp *, const operand *row, const fragment *, double *to,
                   uint32_t outer_step, uint32_t inner_step);
/** The inner ones follow each other. */
void fragment_write(warp *, const operand *row, const fragment *, bool saturate, uint32_t lanes,
                    double *from);
double element_value(element_kind, uint64_t bits);
/** sum (rows, columns) += a (rows, depth) b (depth, columns); rows and columns are multiples of 8. */
void matrix_multiply(const double *a, const double *b, double *sum, uint32_t rows, uint32_t columns,
                     uint32_t depth);

handler run_multiply, run_fragment_load, run_fragment_store, run_ldmatrix, run_stmatrix,
    run_movmatrix;
typedef struct spot {
    uint32_t outer, inner;
} spot;
/** Which element a lane holds as its `index`-th one; those after it in its register are next to it
 *  along inner. */
spot fragment_spot(const fragment *, uint32_t lane, uint32_t index);
/** Where a matrix lies in memory: `count` rows, or columns. */
typedef struct lines {
    uint64_t base, stride; /**< bytes */
    uint32_t count;
    uint32_t length, bytes; /**< of a line: elements, bytes */
} lines;
lines fragment_lines(const warp *, const op *, const matrix *);
/** Wait for all lanes of the warp. @return false: the group waits. */
bool whole_warp(warp *, const op *);

#endif
