/*
 * memory.h: the memory behind an address, and the operations on it.
 */
#ifndef SOFTGPU_DEVICE_MEMORY_H
#define SOFTGPU_DEVICE_MEMORY_H

#include "device/checks/checks.h"

/* ---- memory.c: besides what device.h says of memory ------------------------------------------ */

/** Allocate and free, module variables too. */
bool claim_range(device *, uint64_t bytes, device_address *);
bool release_range(device *, device_address);
/** Where the module that is being loaded finds that variable, or NULL. */
const placement *find_placement(const device *, const char *name);
void forget_placements(device *);

/* ---- access.c: loads and stores of a warp; words.c: of a word for each lane ------------------ */

handler run_load, run_load_global, run_load_shared, run_load_global_word, run_load_shared_word;
handler run_store_shared_word;
/** Find out how the addresses of a full warp lie, and note it. */
void note_stride(warp *, const op *);
/** Lane by lane, with reports. */
void store_lanes(warp *, const op *, uint32_t mask);
handler run_store, run_store_global, run_store_shared;

/* ---- mover.c: rows from and to host memory --------------------------------------------------- */

/** Values between a row and memory: `lanes` of them, from the row's given lane on, in memory at
 * even steps; or those of the lanes in `mask`, each at its pointer plus `offset`. */
typedef struct mover {
    void (*run)(void *row, uint8_t *memory, int64_t step, uint32_t lanes);
    void (*spread)(void *row, uint8_t *const *memory, uint32_t offset, uint32_t mask);
} mover;
const mover *find_mover(bool load, uint32_t size, bool is_signed, uint32_t width);

/* ---- reach.c --------------------------------------------------------------------------------- */

space space_of_address(uint64_t generic);
/** Where a space begins among generic addresses; 0 for global memory. */
uint64_t window_of(space);
/** NULL: not as a whole. `step`: bytes from lane to lane in host memory. */
uint8_t *reach_local(warp *, const op *, const run *, access_kind, int64_t *step);
uint8_t *reach_params(const warp *, const run *);
/** Host memory behind an access of one lane, or NULL: reported. `value`: what a store will write.
 */
uint8_t *reach_lane(warp *, const op *, space, uint64_t address, uint32_t bytes, uint32_t lane,
                    access_kind, const void *value);
/** Global memory, also of a peer or of the host's, without a report or a note; NULL: none. */
uint8_t *memory_at(const device *, uint64_t address, uint64_t bytes);

/* ---- peers.c: memory of other devices -------------------------------------------------------- */

/** Host memory behind it, or NULL: there is none that kernels may touch. */
uint8_t *peer_reach(warp *, const op *, uint64_t offset, uint32_t bytes, access_kind);
/** It is over, or waits for other devices: what it has touched so far is told to its owners. */
void peers_end(const launch *);
void peers_close(device *);

/* ---- meeting.c: where the blocks of a cooperative grid meet ---------------------------------- */

void meeting_open(grid *);
void meeting_close(grid *);
/** The block has ended. */
void meeting_leave(block *);
/** Host memory behind an address in GRID_WINDOW, or NULL. */
uint8_t *meeting_reach(warp *, const op *, uint64_t address, uint32_t bytes, uint32_t lane,
                       access_kind);

/* ---- atomic.c -------------------------------------------------------------------------------- */

typedef uint64_t atomic_function(void *memory, uint64_t operand, uint64_t replacement);
atomic_function *find_atomic(const char *name, const char *type);
handler run_atomic;

/* ---- texture.c ------------------------------------------------------------------------------- */

/** op.variant: of two dimensions; the coordinates are integers. op.a: the object; b, c: where. */
enum { TEXTURE_2D = 1, TEXTURE_BY_NUMBER = 2 };
handler run_texture;
/** What lanes fetch: a texel each or, between texels, up to four. */
enum { TEXELS = 4 };
typedef struct texels {
    uint64_t address[TEXELS][LANES];
    uint32_t mask[TEXELS];
    uint32_t bytes; /**< of one */
} texels;
/** What run_texture is about to read. Finds nothing wrong. */
void texture_touches(warp *, const op *, uint32_t mask, texels *);
void textures_free(device *);

/* ---- async.c: copies to shared memory that take effect when they are waited for -------------- */

handler run_copy_async, run_copy_commit, run_copy_wait;
/** Forget what is under way: a new block starts. */
void flights_start(block *);
/** All earlier copies of a lane will be waited for at that mbarrier. */
void flights_assign(warp *, uint32_t lane, uint32_t barrier);
/** Whatever that mbarrier waits for takes effect. */
void flights_land(block *, uint32_t barrier);
/** The shadow is to say this of the last write of these bytes, whole words. */
void flights_mark(block *, uint32_t offset, uint32_t bytes, uint32_t cell, uint32_t line);

#endif
