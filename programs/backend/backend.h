/*
 * backend.h: matrices of floats and operations on them, on the CPU or on a GPU: one number that the
 * program is given chooses the device, and no other line of the program depends on it.
 *
 *   backend.c         devices and matrices, and what is refused: the same for both
 *   backend_cpu.c     a table of functions for the CPU, on exercise 107
 *   backend_cuda.cu   the same table for a GPU, on 202, 204, 205, 208, 213 and 408
 *
 * A call that cannot be done returns an error: nothing has changed, and the next call works. One
 * thread calls these functions at a time.
 */
#ifndef COURSE_BACKEND_H
#define COURSE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** NULL: it was done. Else why not, in words, which last until the next call that fails. */
typedef const char *failure;

/* ---- devices --------------------------------------------------------------------------------- */

#define DEVICE_CPU (-1) /* its number; GPUs are 0, 1, ... */

/** Stays where it is as long as there are matrices on it. */
typedef struct device {
    const struct backend *backend;
    int number;
    char name[64];
    bool emulated; /**< by softgpu: its times say nothing */
    void *state;   /**< of the backend */
} device;

typedef struct memory_use {
    size_t bytes, free_bytes; /**< of the device, whoever uses it */
    size_t in_use, peak;      /**< bytes of all matrices, now and at most */
    size_t blocks, reused;    /**< of a GPU: handed out for them so far, and how many again */
} memory_use;

/** How many GPUs there are; 0 also where CUDA cannot tell. */
int gpu_count(void);
/** The number of the GPU with most multiprocessors; where there is none, DEVICE_CPU. */
int best_device(void);

/** What a user means: cpu, gpu (the best; 0 where there is none), a number, or NULL: the best of
 * all.
 *  @return false where the word is none of these */
bool device_number(int *number, const char *word);
failure device_open(device *d, int number);
/** Waits until all is done that was asked of it. */
failure device_synchronize(device *d);
failure device_memory(device *d, memory_use *use);
/** There are no matrices on it any more. */
void device_close(device *d);

/* ---- matrices -------------------------------------------------------------------------------- */

/** Made by the functions below, which set it to zeros when they fail; matrix_free may be given
 *  that. One that a function makes is not one of those that it reads. */
typedef struct matrix {
    device *on;
    int rows, cols;
    float *data; /**< [rows x cols], row-major, in memory of the device */
} matrix;

failure matrix_zeros(matrix *m, device *on, int rows, int cols);
failure matrix_ones(matrix *m, device *on, int rows, int cols);
/** @param h_values [count], copied; rows * cols is count */
failure matrix_from_slice(matrix *m, device *on, const float *h_values, size_t count, int rows,
                          int cols);
/** Waits for them. @param h_values [count] receives the numbers; there are count */
failure matrix_to_vec(float *h_values, size_t count, const matrix *m);
failure matrix_free(matrix *m);

/* ---- what is computed with them ---------------------------------------------------------------
 *
 * Operands are on one device, where the result comes to be. A GPU is not waited for. */

/** c = a * b: columns of a are rows of b. */
failure matrix_matmul(matrix *c, const matrix *a, const matrix *b);

typedef enum matrix_op {
    MATRIX_ADD,     /**< a + b */
    MATRIX_MUL,     /**< a * b, element by element */
    MATRIX_RELU,    /**< a, or 0 where a < 0 */
    MATRIX_SIGMOID, /**< 1 / (1 + exp(-a)) */
} matrix_op;

/** y = op(a, b) for each element. @param b of the shape of a; NULL for relu and sigmoid */
failure matrix_elementwise(matrix *y, matrix_op op, const matrix *a, const matrix *b);

/** The sum of all elements, on the host. Waits for it. */
failure matrix_sum(float *h_total, const matrix *a);

/* ---- what a backend is ------------------------------------------------------------------------
 *
 * Its functions are called by backend.c alone, with arguments that fit each other. n counts floats,
 * and is not 0 but in `sum`; h_ is memory of the host, all other is of the device. */

typedef struct backend {
    failure (*open)(device *d); /* its number is known; gives it a name and a state */
    void (*close)(device *d);
    failure (*synchronize)(device *d);
    failure (*memory)(device *d, memory_use *use);

    failure (*allocate)(device *d, float **x, size_t n);
    failure (*release)(device *d, float *x, size_t n);
    failure (*upload)(device *d, float *to, const float *h_from, size_t n);
    failure (*download)(device *d, float *h_to, const float *from, size_t n);
    failure (*fill)(device *d, float *x, float value, size_t n);

    failure (*matmul)(device *d, float *c, const float *a, const float *b, int m, int n, int k);
    failure (*elementwise)(device *d, matrix_op op, float *y, const float *a, const float *b,
                           size_t n);
    failure (*sum)(device *d, float *h_total, const float *x, size_t n);
} backend;

extern const backend backend_cpu, backend_cuda;

/** For a backend: words, as printf makes them. @return them */
failure refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same of n floats that there is no room for. */
failure refuse_memory(device *d, size_t n);

#ifdef __cplusplus
}
#endif

#endif
