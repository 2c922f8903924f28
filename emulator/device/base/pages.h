/*
 * pages.h: large memory, which the system fills with pages on first use.
 *
 * Interface
 *   pages_reserve, pages_reserve_huge, pages_release, pages_clear, pages_grow
 */
#ifndef SOFTGPU_DEVICE_PAGES_H
#define SOFTGPU_DEVICE_PAGES_H

#include <stddef.h>
#include <stdint.h>

/** Zeroed; NULL when there is no room for it. */
void *pages_reserve(size_t bytes);
/** The same in huge pages, where the system has them: a kernel's strides are hard on the TLB. */
void *pages_reserve_huge(size_t bytes);
/** NULL is fine. */
void pages_release(void *memory, size_t bytes);
/** Zero a range; whole pages go back to the system instead. */
void pages_clear(uint8_t *memory, uint64_t first, uint64_t bytes);
/** At least `bytes` of zeroed pages; what they held is lost when they move. */
void pages_grow(uint8_t **memory, size_t *capacity, size_t bytes);

#endif
