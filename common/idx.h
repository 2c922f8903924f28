/*
 * idx.h: the files of MNIST. Bytes in an array of up to four dimensions, plain or gzipped.
 *
 * An IDX file is 0, 0, the type of the elements (8: unsigned bytes), the number of dimensions, each
 * dimension as 4 bytes with the most significant first, then the elements, the last index fastest.
 *
 * The reader trusts nothing: it refuses a file that is truncated, is damaged, has another type or
 * shape, or has bytes after its end. The message says what is wrong with the file.
 */
#ifndef COURSE_IDX_H
#define COURSE_IDX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDX_MAX_RANK 4

typedef struct {
    unsigned char *data;        /* [shape[0] x .. x shape[rank-1]] */
    size_t shape[IDX_MAX_RANK]; /* 1 after the last dimension */
    int rank;                   /* 1 .. IDX_MAX_RANK */
} idx_array;

/** @return the number of elements, which are bytes */
size_t idx_size(const idx_array *array);

/**
 * Read a whole file.
 * @param array on success to be freed with idx_free; empty on an error
 * @param rank  the number of dimensions that the file must have
 * @param error receives the message, at most error_size bytes
 * @return 0, or -1 on an error
 */
int idx_read(idx_array *array, const char *path, int rank, char *error, size_t error_size);
/** Write a whole file, gzipped when its name ends in .gz. @return 0, or -1 on an error */
int idx_write(const idx_array *array, const char *path, char *error, size_t error_size);
/** An empty array is allowed. */
void idx_free(idx_array *array);

#ifdef __cplusplus
}
#endif

#endif
