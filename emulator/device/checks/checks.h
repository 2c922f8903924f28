/*
 * checks.h: the mistakes of kernels, and the words for them. Accesses and synchronisations report
 * to the checks; findings stay in the device until they are taken.
 */
#ifndef SOFTGPU_DEVICE_CHECKS_H
#define SOFTGPU_DEVICE_CHECKS_H

#include "device/base/state.h"

/* ---- race_cause.c ---------------------------------------------------------------------------- */

/** What happens now meets what happened before. */
typedef struct race {
    access_kind how; /**< now */
    uint32_t line;   /**< before; as that of an op */
    bool wrote;      /**< before */
    bool barrier;    /**< would one order them? */
    bool early;      /**< before: it replaced what had been read since the last barrier */
    device_cause cause;
} race;

/** Of CAUSE_NO_ATOMIC, what a barrier does not repair. */
#define NOTHING_ATOMIC "with nothing atomic: each reads, changes and writes one number"
/** The cause is not looked at. */
device_cause cause_of_race(warp *, const op *, uint32_t lane, const race *);
/** Does the last barrier stand between these lines? Then what was read is of the round before. */
bool is_between(const block *, uint32_t wrote, uint32_t read);

/* ---- finding.c ------------------------------------------------------------------------------- */

/** What a finding says of an allocation; see device_finding. */
typedef struct neighbour {
    device_relation relation;
    device_address base;
    uint64_t bytes;
    bool is_read; /* of global memory: what is near, was read */
} neighbour;
void report(warp *, const op *, device_finding_kind, uint32_t lane, uint64_t address,
            const char *format, ...) __attribute__((format(printf, 6, 7)));
void report_near(warp *, const op *, device_finding_kind, uint32_t lane, uint64_t address,
                 const neighbour *, const char *format, ...) __attribute__((format(printf, 7, 8)));
/** The same, of a mistake that the kind does not tell. */
void report_because(warp *, const op *, device_finding_kind, device_cause, uint32_t lane,
                    uint64_t address, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/** The same of a race, with its cause and the other line. */
void report_race(warp *, const op *, device_finding_kind, uint32_t lane, uint64_t address,
                 const race *, const char *format, ...) __attribute__((format(printf, 7, 8)));
void report_at(block *, const function *, uint32_t line, device_finding_kind, uint32_t thread,
               uint64_t address, const char *text);
/** The same of another block of the launch, by number, and with a cause. */
void report_of(block *, uint32_t number, const function *, uint32_t line, device_finding_kind,
               device_cause, uint32_t thread, uint64_t address, const char *text);
/** Where the thread or block of that number stands in a block or grid of that size. */
void place_in(const uint32_t size[3], uint32_t number, uint32_t xyz[3]);
/** A finding that is no thread's. Between launches. */
void finding_add(device *, const device_finding *);
/** " 33" or " (1,2,0)" */
const char *thread_name(const block *, uint32_t thread, char text[48]);

/* ---- address_words.c: the words of a finding for the memory concerned
 * --------------------------------- */

const char *access_verb(access_kind);
/** "3 floats past the end of a 400-byte buffer", with the allocation it speaks of. Wants
 * device->allocations. */
neighbour describe_address(device *, const op *, uint64_t address, char *text, size_t room);
/** "3 floats", "1 byte", "2 elements of 4 bytes" */
void describe_distance(const op *, uint64_t bytes, char *text, size_t room);
/** "a 400-byte buffer", or "the 40-byte variable table" */
neighbour describe_buffer(const device *, uint64_t base, uint64_t bytes, char *text, size_t room);

/* ---- local.c: which bytes of local memory were written --------------------------------------- */

void local_prepare(block *);
void local_start(warp *);
/** The frame of a function begins at an offset, for some lanes. */
void local_enter(warp *, const function *, uint32_t offset, uint32_t lanes);
/** An access happens: a store is remembered, what a load lacks goes to w->unwritten. */
void local_note(warp *, const op *, const run *, access_kind);
/** What these lanes have there counts as unwritten again. */
void local_forget(warp *, uint64_t offset, uint32_t bytes, uint32_t lanes);

/* ---- undefined.c: values that no lane gave, or that nothing has written ---------------------- */

enum { MOST_FOLLOWED = 1 << 20 }; /* followed in one launch, on one host thread */
/** A shuffle has read: may start the list of undefined rows. */
const op *undefined_read(warp *, const op *, uint32_t mask, const uint8_t source[LANES]);
/** The load that runs finds in some lanes that a component was never written. */
void undefined_note(warp *, const op *, space, uint32_t component, uint32_t lanes, uint64_t offset);
/** It has found such: may start the list too. */
const op *undefined_load(warp *, const op *);
/** Global memory, from DEVICE_BASE. */
void report_global_unwritten(warp *, const op *, uint64_t offset, uint32_t bytes, uint32_t lane);
/** In which lanes is the row undefined? */
uint32_t undefined_lanes(const warp *, operand row);
/** Where that came from; some lanes of the row are. */
const undefined *undefined_origin(const warp *, operand row);
/** In the lanes of `mask` exactly those of `lanes` are undefined from now on. */
void undefined_set(warp *, operand row, uint32_t mask, uint32_t lanes, const undefined *origin);
/** Stored or followed: a use, which is a finding. @return whether there was one */
bool undefined_use(warp *, const op *, operand row, uint32_t mask);
/** Was it loaded from global or shared memory? Some lanes of the row are undefined. */
bool undefined_is_of_memory(const warp *, operand row);
/** Is what lies that far from it, in that memory, written? */
bool undefined_neighbour(const warp *, const undefined *, int64_t distance, uint32_t bytes);

/* ---- shadow.c: shared memory ----------------------------------------------------------------- */

/** Set up for the layout of the launch's module; forget it all. */
void shadow_prepare(block *);
void shadow_close(block *);
void shadow_start(block *);
/** A synchronisation happens. @return the tick after it. */
uint32_t shadow_tick(block *);
/** After a change of ticks: bring up to date what shadow.h compares with. */
void shadow_refresh(block *);
/** May a run go ahead? False: take it apart into lanes. The run is within block->shared_bytes. */
bool shadow_load(warp *, const op *, const run *);
bool shadow_store(warp *, const op *, const run *);
/** Has this block written one of these bytes? */
bool shadow_written(const block *, uint64_t offset, uint32_t bytes);
/** False: there is no such memory (reported). */
bool shadow_lane(warp *, const op *, uint64_t offset, uint32_t bytes, uint32_t lane, access_kind,
                 const void *value);

/* ---- known.c: which warp knows that which wgmma is over ---------------------------------------
 */

/** Every warp of the block knows what any of them knows. */
void known_share(block *);
/** To who waits for a phase of the block's mbarrier, what the warp knows now. */
void known_tell(const warp *, const block *, mbarrier *);
/** The warp has waited for a phase. */
void known_learn(const warp *, const mbarrier *);

/* ---- visit.c: shared memory, by other blocks of the cluster ---------------------------------- */

/** As shadow_lane, of another block's memory. */
bool visit_lane(warp *, const op *, block *to, uint32_t offset, uint32_t bytes, uint32_t lane,
                access_kind, const void *value);
/** Tells of a race with the bytes of another block's memory that a copy overwrites; they are noted
 *  when the copy arrives. @return false: they are outside of that block's memory */
bool visit_copy(warp *, const op *, block *to, uint32_t offset, uint32_t bytes, uint32_t lane);
/** A block starts: nobody has been there yet; or has ended: may those who were? */
void visits_start(block *);
void visits_end(block *);
void visits_close(block *);

/* ---- watch.c: which accesses to global memory must be watched -------------------------------- */

void watch_add(function *, op *, uint64_t origin);
/** Choose for this launch; sets l->watched. */
void watch_prepare(launch *);
/** Count a report of `o`. @return false when it has been reported often enough. */
bool watch_may_report(launch *, const op *);
/** Does its code read what others set as a flag? */
bool watch_polls(const launch *);
handler run_watched;

/* ---- global_shadow.c: races in global memory; but for the last two, if l->watched ------------ */

bool global_shadow_open(launch *);
/** The launch is over: its accesses are those of a past work. */
void global_shadow_over(const launch *);
void global_shadow_start(block *, uint32_t number);
/** The block's accesses so far come before what others do after they have seen a later strong
 *  access of this block. */
void global_shadow_fence(block *);
void global_shadow_end(tracker *);
/** All blocks of the grid have met: what happened comes before what follows. Between the last
 *  arrival and the first block that goes on. */
void global_shadow_grid_sync(launch *);
/** Look for races of an access that is about to happen, and note it. @return whether to say when
 *  it has happened */
bool global_shadow_access(warp *, const op *, uint32_t mask);
void global_shadow_stored(const warp *);
void global_shadow_forget(device *, uint64_t offset, uint64_t bytes);
void global_shadow_close(device *);

#endif
