/*
 * validate.h: what the parts of `make validate` share. validate.c times, checks and prints;
 * validate_operations.c has the operations: their inputs, the expected results, and the variants.
 */
#ifndef BENCH_VALIDATE_H
#define BENCH_VALIDATE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

/** Of an array on the device. S8_ASIDE: bytes that begin at a multiple of 4 and of no more. */
typedef enum element { F32, BF16, S8, S8_ASIDE, S32, ELEMENTS } element;

typedef struct operation {
    const char *name;
    long shape[2][5];  /**< on a GPU; on softgpu, which takes a second for 10^8 multiply-adds */
    const char *words; /**< a format for the numbers of a shape */
    cudaError_t (*begin)(void); /**< draws the inputs, by validate_shape */
    /** @param scale receives the size of what was summed @return element i of the output */
    double (*want)(size_t i, double *scale);
} operation;

typedef struct variant {
    const char *operation, *name;
    enum { NAIVE, OPTIMISED, LIBRARY } kind;
    const char *precision; /**< whose arithmetic is its roof */
    element in, out;
    double allowed;           /**< the largest error, as a part of the scale */
    cudaError_t (*run)(void); /**< one call, in stream 0; NULL: it is PyTorch's */
} variant;

/** What an operation cannot do without. */
typedef struct least {
    double in, out; /**< elements to be read, and written */
    double fixed;   /**< further bytes, of the same type in all variants */
    double flop;    /**< of its products; 0: it has none */
} least;

extern const operation validate_operations[];
extern const variant validate_variants[];
extern const int validate_operation_count, validate_variant_count;

/** Of the operation that has begun. */
extern const long *validate_shape;
extern least validate_least;
extern void *validate_output; /**< on the device; room for 4 bytes an element */
/** Frees what `begin` allocated, whatever it returned. */
void validate_end(void);

#endif
