/*
 * decode.h: the syntax of a function to its operations.
 *
 *   decode.c        the frame; then, for the body, all steps in their order
 *   instruction.c   the counting operations of an instrumented copy
 *   flow.c          where lanes meet
 *   registers.c     registers to rows
 */
#ifndef SOFTGPU_DEVICE_DECODE_H
#define SOFTGPU_DEVICE_DECODE_H

#include "device/draft/draft.h"

/** Decode a body into `f`, made by decode_header. False when labels do not resolve. */
bool decode_body(function *f, const ptx_module *, const ptx_function *, bool counted);
/** The frame's layout, known before any body is decoded. */
function *decode_header(module *, const ptx_function *);

void add_count(decoder *, uint32_t first); /* instruction.c: for the drafts from `first` on */
void settle_counts(decoder *);             /* instruction.c */
void flow_turn(decoder *);                 /* flow.c */
bool flow_finish(decoder *);               /* flow.c */
void assign_registers(decoder *);          /* registers.c */

#endif
