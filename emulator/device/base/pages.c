/*
 * pages.c: large memory, which the system fills with pages on first use: see pages.h.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pages.h"

void *pages_reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *pages_reserve_huge(size_t bytes)
{
    void *memory = pages_reserve(bytes);
    if (memory) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

void pages_release(void *memory, size_t bytes)
{
    if (memory) munmap(memory, bytes);
}

void pages_grow(uint8_t **memory, size_t *capacity, size_t bytes)
{
    if (bytes <= *capacity) return;
    pages_release(*memory, *capacity);
    *capacity = (bytes + bytes / 2 + 4095) & ~(size_t)4095;
    *memory = pages_reserve(*capacity);
    if (!*memory) abort();
}

/* To write zeros to memory that was never touched would have the system clear a huge page first. */
static void clear_part(uint8_t *memory, uint64_t bytes)
{
    uint8_t any = 0;
    for (uint64_t i = 0; i < bytes; i++) any |= memory[i];
    if (any) memset(memory, 0, bytes);
}

void pages_clear(uint8_t *memory, uint64_t first, uint64_t bytes)
{
    uint64_t page = 4096, end = first + bytes;
    uint64_t low = (first + page - 1) & ~(page - 1), high = end & ~(page - 1);
    if (low >= high || madvise(memory + low, high - low, MADV_DONTNEED)) low = high = end;
    clear_part(memory + first, low - first);
    clear_part(memory + high, end - high);
}
