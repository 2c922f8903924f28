/*
 * fusion.h: several operations of a matrix product as one.
 */
#ifndef SOFTGPU_DEVICE_FUSION_H
#define SOFTGPU_DEVICE_FUSION_H

#include "device/draft/draft.h"

void gather_loads(decoder *);     /* gather.c: brings together what fuses */
void fuse_loads(decoder *);       /* fused.c */
uint32_t *count_reads(decoder *); /* fused.c: how often, by register */

#endif
