/*
 * weights.h: a file of named fp32 arrays, with checksums.
 *
 * All numbers are little-endian. The file is
 *
 *     weights_header                       64 bytes
 *     weights_entry [header.arrays]        128 bytes each
 *     the arrays, each at a multiple of 64 bytes, in the order of their entries
 *
 * and nothing else: header.bytes is its length. Each checksum is the CRC-32 of zlib. The header's
 * checksum covers the entries, and an entry's checksum covers the bytes of its array. So every byte
 * that means something is covered, and a wrong array can be named.
 *
 * Reading such a file is part of exercise 504; weights_image writes one.
 */
#ifndef COURSE_WEIGHTS_H
#define COURSE_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIGHTS_MAGIC     "CWEIGHTS" /* 8 bytes, no terminating 0 */
#define WEIGHTS_VERSION   1
#define WEIGHTS_NAME_MAX  88 /* with the terminating 0 */
#define WEIGHTS_DIMS      4
#define WEIGHTS_ALIGNMENT 64

typedef struct weights_header {
    char magic[8];
    uint32_t version;
    uint32_t arrays;
    uint64_t bytes;    /* of the whole file */
    uint32_t checksum; /* of all entries */
    uint8_t zero[36];
} weights_header;

typedef struct weights_entry {
    char name[WEIGHTS_NAME_MAX]; /* "layer1.0.conv1.weight", the rest 0 */
    uint32_t dims[WEIGHTS_DIMS]; /* the first one varies slowest; 1 if unused */
    uint64_t offset;             /* of the array, from the beginning of the file */
    uint64_t floats;             /* the product of dims */
    uint32_t checksum;           /* of the array's bytes */
    uint32_t zero;
} weights_entry;

/** One array in memory, to be written to a file. */
typedef struct weights_array {
    const char *name; /**< shorter than WEIGHTS_NAME_MAX */
    uint32_t dims[WEIGHTS_DIMS];
    const float *data;
} weights_array;

/** @return the CRC-32 of zlib */
uint32_t weights_checksum(const void *data, size_t bytes);

/** @return the bytes of a file of these arrays, which the caller frees, or NULL if memory is short
 *  or a name too long. @param bytes receives their number */
void *weights_image(size_t *bytes, const weights_array *arrays, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
