/*
 * fatbin.c: find the PTX in the fat binary that the compiler put into the program.
 *
 * A wrapper (magic, version, pointer) leads to a header and a row of entries, each a small header
 * and a payload: PTX text or machine code. Only uncompressed PTX is of use here; cucc asks for it
 * with --no-compress.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

enum { WRAPPER_MAGIC = 0x466243b1, HEADER_MAGIC = 0xba55ed50u, KIND_PTX = 1 };

struct wrapper {
    uint32_t magic, version;
    const unsigned char *data;
};

struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
};

struct entry {
    uint16_t kind, attributes;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes; /* 0: not compressed */
};

/** @return the PTX of an entry without its padding, or NULL when the entry is something else. */
static const char *entry_ptx(const unsigned char *at, const struct entry *entry, size_t *bytes)
{
    const char *text = (const char *)at + entry->header_bytes;

    if (entry->kind != KIND_PTX) return NULL;
    if (entry->compressed_bytes) {
        fputs("softgpu: the program holds compressed PTX: compile it with cucc, or with nvcc "
              "--no-compress\n",
              stderr);
        return NULL;
    }
    *bytes = strnlen(text, entry->payload_bytes);
    return text;
}

/** @return the text of the first uncompressed PTX and its length, or NULL if there is none. */
const char *fatbin_ptx(const void *wrapper, size_t *bytes)
{
    const struct wrapper *outer = wrapper;
    struct header header;
    struct entry entry;

    if (outer->magic != WRAPPER_MAGIC) return NULL;
    memcpy(&header, outer->data, sizeof header);
    if (header.magic != HEADER_MAGIC) return NULL;

    const unsigned char *at = outer->data + header.header_bytes, *end = at + header.bytes;
    while ((size_t)(end - at) >= sizeof entry) {
        memcpy(&entry, at, sizeof entry);
        size_t left = (size_t)(end - at);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left) return NULL;
        if (entry.payload_bytes > left - entry.header_bytes) return NULL;
        const char *text = entry_ptx(at, &entry, bytes);
        if (text) return text;
        at += entry.header_bytes + entry.payload_bytes;
    }
    return NULL;
}
