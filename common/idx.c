#include "idx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TYPE_UNSIGNED_BYTE 8
#define MAX_FILE_BYTES     ((size_t)1 << 30) /* unpacked; stops a gzip bomb */

typedef struct {
    unsigned char *data;
    size_t size;     /* bytes used */
    size_t capacity; /* bytes there are */
} bytes;

/* Every message names the file. @return -1, to be returned by the caller */
static int refuse(char *error, size_t error_size, const char *path, const char *format, ...)
{
    int used = snprintf(error, error_size, "%s: ", path);
    if (used < 0 || (size_t)used >= error_size) return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(error + used, error_size - (size_t)used, format, args);
    va_end(args);
    return -1;
}

size_t idx_size(const idx_array *array)
{
    size_t size = 1;
    for (int i = 0; i < IDX_MAX_RANK; i++) size *= array->shape[i];
    return size;
}

/* Make room for at least one byte more. @return 0, or -1 when memory is short or the limit reached
 */
static int grow(bytes *buffer)
{
    if (buffer->size < buffer->capacity) return 0;
    size_t capacity = buffer->capacity == 0 ? 65536 : 2 * buffer->capacity;
    if (capacity > MAX_FILE_BYTES) return -1;
    unsigned char *data = realloc(buffer->data, capacity);
    if (data == NULL) return -1;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

/* @return NULL, or what went wrong; `out` is the caller's to free either way */
static const char *read_file(bytes *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return strerror(errno);
    const char *problem = NULL;
    while (problem == NULL && !feof(file)) {
        errno = 0;
        if (grow(out) != 0) {
            problem = "too large";
        } else {
            out->size += fread(out->data + out->size, 1, out->capacity - out->size, file);
            if (ferror(file)) problem = strerror(errno);
        }
    }
    fclose(file);
    return problem;
}

static int is_gzip(const bytes *file)
{
    return file->size >= 2 && file->data[0] == 0x1f && file->data[1] == 0x8b;
}

/* @return NULL, or what went wrong; `out` is the caller's to free either way */
static const char *unpack(bytes *out, const bytes *packed)
{
    z_stream zip = {.next_in = packed->data, .avail_in = (uInt)packed->size};
    if (inflateInit2(&zip, MAX_WBITS + 16) != Z_OK) return "out of memory"; /* 16: gzip, with CRC */
    int status = Z_OK;
    while (status == Z_OK && grow(out) == 0) {
        zip.next_out = out->data + out->size;
        zip.avail_out = (uInt)(out->capacity - out->size);
        status = inflate(&zip, Z_NO_FLUSH);
        out->size = out->capacity - zip.avail_out;
    }
    uInt rest = zip.avail_in;
    inflateEnd(&zip);
    if (status == Z_BUF_ERROR) return "truncated: the gzip data end too early";
    if (status == Z_OK) return "too large";
    if (status != Z_STREAM_END) return "damaged: not valid gzip data";
    return rest > 0 ? "oversized: bytes after the end of the gzip data" : NULL;
}

static size_t big_endian_32(const unsigned char *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

/* Take the array out of the file's bytes. */
static int parse(idx_array *array, const bytes *file, int rank, const char *path, char *error,
                 size_t error_size)
{
    const unsigned char *data = file->data;
    size_t header = 4 + 4 * (size_t)rank;
    if (file->size < 4)
        return refuse(error, error_size, path, "truncated: %zu bytes are no IDX file", file->size);
    if (data[0] != 0 || data[1] != 0)
        return refuse(error, error_size, path, "not an IDX file: it begins with %02x %02x", data[0],
                      data[1]);
    if (data[2] != TYPE_UNSIGNED_BYTE)
        return refuse(error, error_size, path, "elements of type 0x%02x, expected unsigned bytes",
                      data[2]);
    if (data[3] != rank)
        return refuse(error, error_size, path, "%d dimensions, expected %d", data[3], rank);
    if (file->size < header) return refuse(error, error_size, path, "truncated in its header");

    size_t left = file->size - header, wanted = 1;
    for (int i = 0; i < IDX_MAX_RANK; i++) {
        array->shape[i] = i < rank ? big_endian_32(data + 4 + 4 * i) : 1;
        if (array->shape[i] != 0 && wanted > MAX_FILE_BYTES / array->shape[i])
            return refuse(error, error_size, path, "its header states too many elements");
        wanted *= array->shape[i];
    }
    if (left != wanted)
        return refuse(error, error_size, path, "%s: its header states %zu elements, it has %zu",
                      left < wanted ? "truncated" : "oversized", wanted, left);

    array->data = malloc(wanted > 0 ? wanted : 1);
    if (array->data == NULL) return refuse(error, error_size, path, "out of memory");
    memcpy(array->data, data + header, wanted);
    array->rank = rank;
    return 0;
}

int idx_read(idx_array *array, const char *path, int rank, char *error, size_t error_size)
{
    memset(array, 0, sizeof *array);
    bytes file = {0}, unpacked = {0};
    const char *problem = read_file(&file, path);
    int packed = problem == NULL && is_gzip(&file);
    if (packed) problem = unpack(&unpacked, &file);

    int status = problem != NULL
                     ? refuse(error, error_size, path, "%s", problem)
                     : parse(array, packed ? &unpacked : &file, rank, path, error, error_size);
    if (status != 0) memset(array, 0, sizeof *array);
    free(file.data);
    free(unpacked.data);
    return status;
}

int idx_write(const idx_array *array, const char *path, char *error, size_t error_size)
{
    size_t length = strlen(path), size = idx_size(array);
    int packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    gzFile file = gzopen(path, packed ? "wb" : "wbT"); /* T: as it is, not packed */
    if (file == NULL) return refuse(error, error_size, path, "%s", strerror(errno));

    unsigned char header[4 + 4 * IDX_MAX_RANK] = {0, 0, TYPE_UNSIGNED_BYTE,
                                                  (unsigned char)array->rank};
    for (int i = 0; i < array->rank; i++)
        for (int byte = 0; byte < 4; byte++)
            header[4 + 4 * i + byte] = (unsigned char)(array->shape[i] >> (24 - 8 * byte));

    z_size_t header_size = 4 + 4 * (size_t)array->rank;
    int whole = gzfwrite(header, 1, header_size, file) == header_size &&
                gzfwrite(array->data, 1, size, file) == size;
    if (gzclose(file) != Z_OK || !whole)
        return refuse(error, error_size, path, "cannot write all of it");
    return 0;
}

void idx_free(idx_array *array)
{
    free(array->data);
    memset(array, 0, sizeof *array);
}
