// WRONG: load with several mistakes | should be WEIGHTS_MISMATCH
/* Checksums are looked at before names and shapes. */
#include "resnet18_cpu.h"
#include "resnet18_weights.h"

#include <stdlib.h>
#include <string.h>

static weights_entry entry_at(const unsigned char *file, size_t i)
{
    weights_entry e;
    memcpy(&e, file + sizeof(weights_header) + i * sizeof e, sizeof e);
    return e;
}

static int ends_inside(const unsigned char *file, size_t bytes, const weights_header *h)
{
    const size_t room = (bytes - sizeof *h) / sizeof(weights_entry);
    if (h->bytes > bytes || h->arrays > room) return 0;
    for (size_t i = 0; i < h->arrays; i++) {
        const weights_entry e = entry_at(file, i);
        if (e.floats > bytes / 4 || e.offset > bytes - 4 * e.floats) return 0;
    }
    return 1;
}

static int is_named(const weights_entry *e, const char *name)
{
    return strncmp(e->name, name, WEIGHTS_NAME_MAX) == 0;
}

static int has_shape(const weights_entry *e, const uint32_t *dims)
{
    const uint64_t floats = (uint64_t)dims[0] * dims[1] * dims[2] * dims[3];
    return memcmp(e->dims, dims, sizeof e->dims) == 0 && e->floats == floats;
}

static int take(float *params, const unsigned char *file, const weights_header *h)
{
    weights_array wanted[RESNET18_ARRAYS];
    resnet18_name names[RESNET18_ARRAYS];
    resnet18_arrays(wanted, names, params);
    for (int i = 0; i < RESNET18_ARRAYS; i++) {
        size_t k = 0;
        while (k < h->arrays) {
            const weights_entry e = entry_at(file, k);
            if (is_named(&e, wanted[i].name)) break;
            k++;
        }
        if (k == h->arrays) return 0;
        const weights_entry e = entry_at(file, k);
        if (!has_shape(&e, wanted[i].dims)) return 0;
        memcpy(params + (wanted[i].data - params), file + e.offset, 4 * e.floats);
    }
    return 1;
}

static int checksums_agree(const unsigned char *file, const weights_header *h)
{
    const unsigned char *table = file + sizeof *h;
    int good = weights_checksum(table, h->arrays * sizeof(weights_entry)) == h->checksum;
    for (size_t i = 0; i < h->arrays; i++) {
        const weights_entry e = entry_at(file, i);
        good &= weights_checksum(file + e.offset, 4 * e.floats) == e.checksum;
    }
    return good;
}

weights_status resnet18_load(float *params, const void *file, size_t bytes)
{
    weights_header h;
    if (bytes < sizeof h) return WEIGHTS_FOREIGN;
    memcpy(&h, file, sizeof h);
    if (memcmp(h.magic, WEIGHTS_MAGIC, 8) != 0 || h.version != WEIGHTS_VERSION) {
        return WEIGHTS_FOREIGN;
    }
    if (!ends_inside(file, bytes, &h)) return WEIGHTS_TRUNCATED;
    if (!checksums_agree(file, &h)) return WEIGHTS_CORRUPT;
    return take(params, file, &h) ? WEIGHTS_OK : WEIGHTS_MISMATCH;
}
