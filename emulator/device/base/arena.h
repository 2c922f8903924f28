/*
 * arena.h: memory that is freed all at once.
 *
 * Interface
 *   arena_new, arena_take, arena_text, arena_grow, arena_free
 *
 * Memory is zeroed. When the system has none left the process ends: a device that cannot hold a
 * kernel's text cannot go on either.
 */
#ifndef SOFTGPU_DEVICE_ARENA_H
#define SOFTGPU_DEVICE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct arena arena;

arena *arena_new(void);
void arena_free(arena *);
void *arena_take(arena *, size_t bytes);
char *arena_text(arena *, const char *text, size_t length);

/** Room for one more element behind `count` of them. Returns the array, which may have moved. */
void *arena_grow(arena *, void *array, uint32_t count, size_t element);

/** calloc and realloc that end the process when memory is short. */
void *take(size_t count, size_t element);
void *retake(void *old, size_t bytes);

#endif
