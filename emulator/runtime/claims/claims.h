/*
 * claims.h: what the device claims to be: compute capability 8.0, small; its size is in
 * residency.h. For a program that was compiled for sm_90a it is 9.0, with more shared memory.
 */
#ifndef SOFTGPU_CLAIMS_H
#define SOFTGPU_CLAIMS_H

#include "runtime/core/runtime.h"

enum {
    MAX_BLOCK_THREADS = 1024,
    SHARED_DEFAULT = 48 << 10,
    SHARED_OPT_IN = 163 << 10,
    SHARED_OPT_IN_90 = 227 << 10,
    MAX_GRID_X = 0x7fffffff,
    MAX_GRID_YZ = 65535,
    MAX_BLOCK_Z = 64,
    PORTABLE_CLUSTER_BLOCKS = 8,
    MAX_CLUSTER_BLOCKS = 16,
    PITCH_ALIGNMENT = 512,
    TEXTURE_ALIGNMENT = 256, /* what memory has anyway */
    TEXTURE_PITCH_ALIGNMENT = 32,
    CUDA_VERSION_NUMBER = 13000,
};

/** A module of the program wants compute capability 9.0. */
extern bool claims_90;
/** Shared memory that a block may have on request. */
int shared_opt_in(void);

#endif
