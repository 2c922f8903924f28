/*
 * fatbin.c: find the PTX in the fat binary that the compiler put into the program.
 *
 * A wrapper (magic, version, pointer) leads to a header and a row of entries, each a small header
 * and a payload: PTX text or machine code. Only uncompressed PTX is of use here; cucc asks for it
 * with --no-compress.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <link.h>
#include <stdbool.h>
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
        static bool said;
        if (!said)
            fputs("softgpu: the program holds compressed PTX: compile it with cucc, or with nvcc "
                  "--no-compress\n",
                  stderr);
        said = true;
        return NULL;
    }
    *bytes = strnlen(text, entry->payload_bytes);
    return text;
}

/** @return the text of the first uncompressed PTX in a fat binary and its length, or NULL if there
 *  is none. Reads nothing beyond `room` bytes, whatever the headers say. */
const char *fatbin_find(const unsigned char *at, size_t room, size_t *bytes)
{
    struct header header;
    struct entry entry;

    if (room < sizeof header) return NULL;
    memcpy(&header, at, sizeof header);
    if (header.magic != HEADER_MAGIC || header.header_bytes > room) return NULL;
    at += header.header_bytes;
    room -= header.header_bytes;
    if (header.bytes < room) room = header.bytes;
    while (room >= sizeof entry) {
        memcpy(&entry, at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > room) return NULL;
        if (entry.payload_bytes > room - entry.header_bytes) return NULL;
        const char *text = entry_ptx(at, &entry, bytes);
        if (text) return text;
        at += entry.header_bytes + entry.payload_bytes;
        room -= entry.header_bytes + entry.payload_bytes;
    }
    return NULL;
}

struct search {
    uintptr_t address;
    size_t room; /* from the address to the end of its segment */
};

static int search_segments(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || search->address - start >= segment->p_memsz) continue;
        search->room = start + segment->p_memsz - search->address;
        return 1;
    }
    return 0;
}

/** The fat binary has no length of its own that could be trusted: it ends where the part of the
 *  program does that holds it. */
const char *fatbin_ptx(const void *wrapper, size_t *bytes)
{
    const struct wrapper *outer = wrapper;
    struct search search = {.address = (uintptr_t)outer->data};

    if (outer->magic != WRAPPER_MAGIC) return NULL;
    dl_iterate_phdr(search_segments, &search);
    return fatbin_find(outer->data, search.room, bytes);
}

/** The target stands near the top. */
bool fatbin_wants_90(const void *wrapper)
{
    enum { HEAD = 1024 };
    static const char target[] = ".target sm_90";
    size_t bytes;
    const char *ptx = fatbin_ptx(wrapper, &bytes);

    return ptx && memmem(ptx, bytes < HEAD ? bytes : HEAD, target, sizeof target - 1);
}
