/*
 * finding.h: a defect of a kernel, as the device names it: what it is, where, and of which memory.
 * Part of device.h.
 */
#ifndef SOFTGPU_FINDING_H
#define SOFTGPU_FINDING_H

#include <stdint.h>

typedef uint64_t device_address;

typedef enum device_finding_kind {
    FINDING_OUT_OF_BOUNDS,
    FINDING_MISALIGNED,
    FINDING_RACE,
    FINDING_UNINITIALISED,
    FINDING_DIVERGENT_BARRIER,
    FINDING_DEADLOCK,
    FINDING_ENDLESS_LOOP,
    FINDING_TRAP,
    FINDING_UNSUPPORTED,
    FINDING_ASSERT,
    FINDING_FREED,            /* memory that was freed is used */
    FINDING_BAD_FREE,         /* what a kernel frees is no allocation, or no longer */
    FINDING_MISSING_SYNCWARP, /* a race between the lanes of one warp, and no others */
    FINDING_INACTIVE_LANE,    /* a warp operation with a lane that does not take part */
    FINDING_EARLY_RETURN,     /* threads returned before a barrier of the others */
    FINDING_STREAM_RACE,      /* works of two streams, and neither comes after the other */
    FINDING_KINDS,
} device_finding_kind;

/** Where an address lies, seen from an allocation. */
typedef enum device_relation {
    RELATION_NONE, /* nothing is near; or it is no matter of allocations */
    RELATION_INSIDE,
    RELATION_BEFORE,
    RELATION_PAST,
    RELATION_FREED, /* inside, before it was freed */
    RELATION_NULL,  /* a null pointer, or near one */
    RELATION_ALIEN, /* no address of the device: a host pointer, say */
} device_relation;

/** One defect of a kernel, seen while it ran. The same defect at the same line is reported once a
 *  launch, with a count. */
typedef struct device_finding {
    device_finding_kind kind;
    uint32_t count;   /**< times seen in this launch */
    char kernel[128]; /**< name as in the source, not mangled; "": two copies or fills */
    char file[256];   /**< as the compiler recorded it; "" without -lineinfo */
    uint32_t line;
    char
        inlined_file[256]; /**< where the function that holds the line was inlined; "" if nowhere */
    uint32_t inlined_line;
    uint32_t block[3], thread[3]; /**< of the first thread that did it */
    device_address address;       /**< of shared and local memory an offset */
    device_relation relation;     /**< of the first byte that is wrong */
    device_address base;          /**< the allocation concerned; 0: none of device_alloc's */
    uint64_t bytes;
    char text[512]; /**< one sentence: what happened, to which memory, and the cause; if there is
                         a base, it ends with the words for that allocation */
} device_finding;

#endif
