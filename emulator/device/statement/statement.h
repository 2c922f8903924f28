/*
 * statement.h: one statement of PTX to drafts of operations. opcode.c says which decoder a
 * statement has; each decoder takes the statement from the decoder's `now`, and returns false when
 * the device lacks it.
 */
#ifndef SOFTGPU_DEVICE_STATEMENT_H
#define SOFTGPU_DEVICE_STATEMENT_H

#include "device/draft/draft.h"

/* opcode.c */
/** NULL: beyond the device. */
const opcode *opcode_find(const char *word);
/** Of the statement that is decoded now. */
device_class opcode_class(const decoder *);
uint32_t opcode_operations(const decoder *);
uint8_t opcode_multiplications(const decoder *);

/* The decoders, for opcode.c; decode_memory.c has the first two for decode_async.c too. */
/** The state space that the opcode names. */
space space_named(const decoder *);
/** Copy a word of a parameter, a row of the frame, to local memory. */
void push_formal_copy(decoder *, uint32_t row, uint32_t home);
/** The address operand goes to field A, its displacement to op.offset. */
bool set_address(decoder *, draft *, const ptx_operand *memory);

decode_special decode_plain, decode_move, decode_setp, decode_set, decode_cvt, decode_carry,
    decode_slct; /* decode_value.c */
decode_special decode_load, decode_store, decode_atomic, decode_cvta, decode_isspacep,
    decode_call; /* decode_memory.c */
decode_special decode_branch, decode_jump_table, decode_return, decode_exit, decode_barrier,
    decode_warp_sync, decode_fence, decode_shuffle, decode_elect, decode_vote, decode_match,
    decode_redux, decode_active_mask, decode_trap, decode_nothing; /* decode_control.c */
decode_special decode_copy_async, decode_mbarrier, decode_policy;  /* decode_async.c */
decode_special decode_cluster_barrier, decode_map, decode_rank_of; /* decode_cluster.c */
decode_special decode_bulk, decode_store_async;                    /* decode_bulk.c */
decode_special decode_wgmma, decode_registers;                     /* decode_wgmma.c */
decode_special decode_texture;                                     /* decode_texture.c */
decode_special decode_wmma, decode_mma, decode_ldmatrix, decode_stmatrix,
    decode_movmatrix; /* decode_matrix.c */

#endif
