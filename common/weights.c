/* weights.c: a file of named arrays, laid out in memory. */
#include "weights.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

_Static_assert(sizeof(weights_header) == 64 && sizeof(weights_entry) == 128, "as in the file");

uint32_t weights_checksum(const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(0, data, bytes);
}

static size_t aligned(size_t bytes)
{
    return (bytes + WEIGHTS_ALIGNMENT - 1) / WEIGHTS_ALIGNMENT * WEIGHTS_ALIGNMENT;
}

static uint64_t floats_of(const weights_array *a)
{
    uint64_t floats = 1;
    for (int i = 0; i < WEIGHTS_DIMS; i++) floats *= a->dims[i];
    return floats;
}

static void put_array(unsigned char *file, weights_entry *entry, const weights_array *a, size_t at)
{
    entry->offset = at;
    entry->floats = floats_of(a);
    strcpy(entry->name, a->name);
    memcpy(entry->dims, a->dims, sizeof entry->dims);
    memcpy(file + at, a->data, entry->floats * sizeof(float));
    entry->checksum = weights_checksum(file + at, entry->floats * sizeof(float));
}

void *weights_image(size_t *bytes, const weights_array *arrays, uint32_t count)
{
    const size_t table = count * sizeof(weights_entry);
    size_t at = sizeof(weights_header) + table;
    *bytes = at;
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(arrays[i].name) >= WEIGHTS_NAME_MAX) return NULL;
        *bytes += aligned(floats_of(&arrays[i]) * sizeof(float));
    }
    unsigned char *file = calloc(1, *bytes);
    if (file == NULL) return NULL;
    weights_entry *entries = (weights_entry *)(file + sizeof(weights_header));
    for (uint32_t i = 0; i < count; i++) {
        put_array(file, &entries[i], &arrays[i], at);
        at += aligned(entries[i].floats * sizeof(float));
    }
    weights_header header = {.version = WEIGHTS_VERSION, .arrays = count, .bytes = *bytes};
    memcpy(header.magic, WEIGHTS_MAGIC, sizeof header.magic);
    header.checksum = weights_checksum(entries, table);
    memcpy(file, &header, sizeof header);
    return file;
}
