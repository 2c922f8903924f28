/*
 * mbarrier.h: barriers that are objects in shared memory, for the copies that complete their bytes.
 *
 * Interface
 *   mbarrier_complete_tx     bytes of a copy have arrived
 *   mbarrier_at              is there one, and how far is it?
 *
 * A copy names an address of shared::cluster: base/cluster.h's peer_of says whose memory that is,
 * and shared_offset where in it.
 */
#ifndef SOFTGPU_DEVICE_MBARRIER_H
#define SOFTGPU_DEVICE_MBARRIER_H

#include "device/base/cluster.h"

/** An mbarrier, beside the 8 bytes in shared memory. */
typedef struct mbarrier {
    uint32_t offset;          /**< in the shared memory of its block */
    uint32_t wanted, pending; /**< arrivals of a phase, and those that are still to come */
    int32_t bytes;            /**< of the open phase: expected and not yet here */
    uint64_t phase;           /**< phases completed */
    uint32_t init_line, expect_line,
        arrive_line; /**< the last of each, as those of an op; 0: none */
} mbarrier;

/** The live mbarrier there, or NULL. */
const mbarrier *mbarrier_at(const block *, uint32_t offset);

/** `bytes` that the mbarrier at that offset of that block's shared memory expects have arrived; may
 *  end its phase. `line` is that of the copy, as of an op. @return false: there is no mbarrier; the
 *  caller reports */
bool mbarrier_complete_tx(block *, uint32_t offset, uint32_t bytes, uint32_t line);

#endif
