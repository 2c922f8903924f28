/*
 * analysis.h: analyses of a function before it runs: each reads the drafts and marks some of them.
 * None moves or changes operations, and without its marks a function computes the same. watch_wgmma
 * puts checks between them, and comes first.
 */
#ifndef SOFTGPU_DEVICE_ANALYSIS_H
#define SOFTGPU_DEVICE_ANALYSIS_H

#include "device/draft/draft.h"

void watch_wgmma(decoder *);         /* wgmma_flow.c */
void mark_cas_loops(decoder *);      /* cas_loop.c */
void mark_origins(decoder *);        /* provenance.c */
void mark_uniform(decoder *);        /* uniform.c */
void mark_stride_classes(decoder *); /* stride_class.c */

#endif
