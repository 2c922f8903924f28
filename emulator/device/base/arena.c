/* arena.c: see arena.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

enum { CHUNK = 1 << 16 };

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
} chunk;

struct arena {
    chunk *first;
};

void *take(size_t count, size_t element)
{
    void *memory = calloc(count ? count : 1, element);
    if (memory) return memory;
    fprintf(stderr, "softgpu: out of host memory\n");
    abort();
}

void *retake(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes ? bytes : 1);
    if (memory) return memory;
    fprintf(stderr, "softgpu: out of host memory\n");
    abort();
}

arena *arena_new(void)
{
    return take(1, sizeof(arena));
}

void arena_free(arena *a)
{
    if (!a) return;
    for (chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

void *arena_take(arena *a, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!a->first || a->first->size - a->first->used < bytes) {
        size_t size = bytes > CHUNK ? bytes : CHUNK;
        chunk *c = take(1, sizeof *c + size);
        c->size = size;
        c->next = a->first;
        a->first = c;
    }
    void *memory = a->first->bytes + a->first->used;
    a->first->used += bytes;
    return memory;
}

char *arena_text(arena *a, const char *text, size_t length)
{
    char *copy = arena_take(a, length + 1);
    memcpy(copy, text, length);
    return copy;
}

/* The array's capacity is the power of two at or above its count: no need to store it. */
void *arena_grow(arena *a, void *array, uint32_t count, size_t element)
{
    if (count & (count - 1)) return array;
    if (count == 1) return array; /* 0 elements made room for 2 */
    void *bigger = arena_take(a, (count ? 2 * (size_t)count : 2) * element);
    if (count) memcpy(bigger, array, count * element);
    return bigger;
}
