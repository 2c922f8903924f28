/*
 * finding.h: a defect of a program, as data. It is made where it is seen, on the device or in the
 * runtime, and crosses every boundary between processes as this struct; its words are made at the
 * end, by finding_line (runtime/finding/finding.h).
 */
#ifndef SOFTGPU_DEVICE_FINDING_H
#define SOFTGPU_DEVICE_FINDING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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
    FINDING_DESCRIPTOR,       /* of wgmma: it does not fit the tile that lies there */
    FINDING_MISUSE,           /* what PTX forbids: of an mbarrier, or of the number of registers */
    /* of host code: the runtime's, not the device's */
    FINDING_FREED_EARLY,     /* pinned memory that a copy may still touch */
    FINDING_UNCHECKED_ERROR, /* a call failed, and the program did not ask */
    FINDING_LEAK,
    FINDING_KINDS,
} device_finding_kind;

/** The mistake that a finding is a symptom of, where it tells. */
typedef enum device_cause {
    CAUSE_NONE,
    CAUSE_NO_EVENT,            /* that makes one stream wait for the other */
    CAUSE_ONE_PLACE,           /* several threads write to it */
    CAUSE_NO_ATOMIC,           /* several threads read, change and write it */
    CAUSE_NO_BARRIER_TO_WRITE, /* what others read is written, and no barrier in between */
    CAUSE_NO_BARRIER_TO_READ,  /* what others wrote is read, and no barrier in between */
    CAUSE_UNWRITTEN_SHARED,    /* shared memory that no thread of the block has written */
    CAUSE_UNWRITTEN,           /* global memory that nothing has written */
    CAUSE_PAST_END,            /* of an allocation or a variable */
    CAUSE_READ_OUTSIDE,        /* of an allocation, before or behind it: nothing is written */
    CAUSE_RETURNED,            /* the same as UNWRITTEN_SHARED, where threads have returned */
    CAUSES,
} device_cause;

/** Where an address lies, seen from an allocation. */
typedef enum device_relation {
    RELATION_NONE, /* nothing is near; or it is no matter of allocations */
    RELATION_INSIDE,
    RELATION_BEFORE,
    RELATION_PAST,
    RELATION_FREED, /* inside, before it was freed */
    RELATION_NULL,  /* a null pointer, or near one */
    RELATION_ALIEN, /* no address of the device */
    RELATION_HOST,  /* the same, and the host has memory there: a host pointer */
} device_relation;

/** One defect of a kernel, seen while it ran. The same defect at the same line is reported once a
 *  launch, with a count. */
typedef struct device_finding {
    device_finding_kind kind;
    device_cause cause;
    uint32_t count;   /**< times seen in this launch */
    char kernel[128]; /**< name as in the source, not mangled; "": two copies or fills, or host code
                       */
    char file[256];   /**< as the compiler recorded it; "" without -lineinfo. A tool gets the name
                           alone, without folders */
    uint32_t line;
    char
        inlined_file[256]; /**< where the function that holds the line was inlined; "" if nowhere */
    uint32_t inlined_line;
    uint32_t block[3], thread[3]; /**< of the first thread that did it */
    device_address address;       /**< of shared and local memory an offset */
    device_relation relation;     /**< of the first byte that is wrong */
    device_address base;          /**< the allocation concerned; 0: none of device_alloc's */
    uint64_t bytes;
    char text[1024]; /**< one sentence: what happened, to which memory, and the cause; from the
                          device it ends with the words for the base, and the runtime goes on with
                          what it knows of that (runtime/finding/finding.h) */
} device_finding;

static inline bool finding_is_race(device_finding_kind kind)
{
    return kind == FINDING_RACE || kind == FINDING_MISSING_SYNCWARP || kind == FINDING_STREAM_RACE;
}

/** Is it more than a warning: does it, or should it, end the launch? */
static inline bool finding_is_fatal(device_finding_kind kind)
{
    return !finding_is_race(kind) && kind != FINDING_UNINITIALISED &&
           kind != FINDING_INACTIVE_LANE && kind != FINDING_EARLY_RETURN &&
           kind != FINDING_DESCRIPTOR;
}

/** A file's name without its folders. */
static inline const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

#endif
