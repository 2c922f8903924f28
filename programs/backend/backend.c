/*
 * backend.c: the code for devices and matrices that both backends share. It checks a call, says why
 * it is refused, finds memory for the result, and leaves the work to the backend.
 */
#include "backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB ((double)(1 << 30))

/* ---- words ----------------------------------------------------------------------------------- */

failure refuse(const char *format, ...)
{
    static char words[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return words;
}

failure refuse_memory(device *d, size_t n)
{
    memory_use now = {0};
    failure failed = d->backend->memory(d, &now);
    if (failed) return failed;
    return refuse("out of memory: %.1f GiB wanted, %.1f GiB free of %.1f",
                  (double)n * sizeof(float) / GIB, now.free_bytes / GIB, now.bytes / GIB);
}

static failure refuse_shapes(const char *sign, const matrix *a, const matrix *b)
{
    return refuse("shape mismatch: [%d, %d] %s [%d, %d]", a->rows, a->cols, sign, b->rows, b->cols);
}

static failure refuse_devices(const char *sign, const matrix *a, const matrix *b)
{
    return refuse("two devices: one %s %s one %s", a->on->name, sign, b->on->name);
}

/* ---- devices --------------------------------------------------------------------------------- */

bool device_number(int *number, const char *word)
{
    char *end = "";
    *number = best_device();
    if (!word) return true;
    if (strcmp(word, "cpu") == 0)
        *number = DEVICE_CPU;
    else if (strcmp(word, "gpu") == 0)
        *number = *number == DEVICE_CPU ? 0 : *number; /* there is no 0, then, and that is said */
    else
        *number = (int)strtol(word, &end, 10);
    return *word >= '0' && *end == '\0' && strlen(word) < 10; /* which an int holds */
}

failure device_open(device *d, int number)
{
    const int count = gpu_count();
    *d = (device){.backend = number == DEVICE_CPU ? &backend_cpu : &backend_cuda, .number = number};
    if (number != DEVICE_CPU && (number < 0 || number >= count))
        return refuse("no device %d: there are %d", number, count);
    return d->backend->open(d);
}

failure device_synchronize(device *d)
{
    return d->backend->synchronize(d);
}

failure device_memory(device *d, memory_use *use)
{
    return d->backend->memory(d, use);
}

void device_close(device *d)
{
    d->backend->close(d);
}

/* ---- matrices -------------------------------------------------------------------------------- */

static size_t size_of(const matrix *m)
{
    return (size_t)m->rows * (size_t)m->cols;
}

/* Without numbers in it. */
static failure create(matrix *m, device *on, int rows, int cols)
{
    *m = (matrix){0};
    if (rows < 0 || cols < 0) return refuse("no shape: [%d, %d]", rows, cols);
    matrix made = {on, rows, cols, NULL};
    failure failed = size_of(&made) ? on->backend->allocate(on, &made.data, size_of(&made)) : NULL;
    if (!failed) *m = made;
    return failed;
}

/* A matrix whose numbers could not be computed is none. */
static failure finish(matrix *m, failure failed)
{
    if (failed) matrix_free(m);
    return failed;
}

failure matrix_free(matrix *m)
{
    failure failed = m->data ? m->on->backend->release(m->on, m->data, size_of(m)) : NULL;
    *m = (matrix){0};
    return failed;
}

static failure filled(matrix *m, device *on, int rows, int cols, float value)
{
    failure failed = create(m, on, rows, cols);
    if (failed || !m->data) return failed;
    return finish(m, on->backend->fill(on, m->data, value, size_of(m)));
}

failure matrix_zeros(matrix *m, device *on, int rows, int cols)
{
    return filled(m, on, rows, cols, 0.0f);
}

failure matrix_ones(matrix *m, device *on, int rows, int cols)
{
    return filled(m, on, rows, cols, 1.0f);
}

failure matrix_from_slice(matrix *m, device *on, const float *h_values, size_t count, int rows,
                          int cols)
{
    failure failed = create(m, on, rows, cols);
    if (failed) return failed;
    if (size_of(m) != count)
        return finish(m, refuse("shape mismatch: %zu numbers are no [%d, %d]", count, rows, cols));
    if (count == 0) return NULL;
    return finish(m, on->backend->upload(on, m->data, h_values, count));
}

failure matrix_to_vec(float *h_values, size_t count, const matrix *m)
{
    if (size_of(m) != count)
        return refuse("shape mismatch: [%d, %d] is not %zu numbers", m->rows, m->cols, count);
    return count ? m->on->backend->download(m->on, h_values, m->data, count) : NULL;
}

/* ---- what is computed with them -------------------------------------------------------------- */

failure matrix_matmul(matrix *c, const matrix *a, const matrix *b)
{
    *c = (matrix){0};
    if (a->on != b->on) return refuse_devices("x", a, b);
    if (a->cols != b->rows) return refuse_shapes("x", a, b);
    failure failed = create(c, a->on, a->rows, b->cols);
    if (failed || !c->data) return failed;
    return finish(
        c, a->on->backend->matmul(a->on, c->data, a->data, b->data, a->rows, b->cols, a->cols));
}

failure matrix_elementwise(matrix *y, matrix_op op, const matrix *a, const matrix *b)
{
    const char *sign = op == MATRIX_ADD ? "+" : "*";
    *y = (matrix){0};
    if (b && a->on != b->on) return refuse_devices(sign, a, b);
    if (b && (a->rows != b->rows || a->cols != b->cols)) return refuse_shapes(sign, a, b);
    failure failed = create(y, a->on, a->rows, a->cols);
    if (failed || !y->data) return failed;
    return finish(y, a->on->backend->elementwise(a->on, op, y->data, a->data, b ? b->data : NULL,
                                                 size_of(a)));
}

failure matrix_sum(float *h_total, const matrix *a)
{
    return a->on->backend->sum(a->on, h_total, a->data, size_of(a));
}
