/*
 * softgpu.h: what softgpu offers beyond the CUDA runtime API. A program needs none of it; a tool
 * that runs programs on softgpu (a grader, a test) reads findings through it.
 */
#ifndef SOFTGPU_H
#define SOFTGPU_H

#include <stddef.h>

#include "device/counts.h"
#include "device/finding.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called once for every finding, after the launch that caused it, instead of the line on stderr.
 *  Its files are names without folders. */
typedef void softgpu_finding_hook(const device_finding *, void *context);
void softgpu_on_finding(softgpu_finding_hook *hook, void *context);

/** What findings call an allocation, after its size: "the argument c". By default the source line
 *  where it was made. NULL forgets one that another process made and the program was lent. */
void softgpu_name(const void *device_pointer, const char *name);

/** The program's caller has this memory written, or read, by work of that stream. Nothing moves;
 *  but work that is in no order with it races. */
void softgpu_touch(void *stream, const void *device_pointer, size_t bytes, int writes);

/** Use the device of a process at the other end of this socket (emulator/remote). To be called
 *  before anything of CUDA. @return 0: this library has its devices in this very process */
int softgpu_attach(int socket);

/** Why this thread's last launch since it last asked was refused: the limit and the number; or "".
 *  Valid until it asks again. */
const char *softgpu_refusal(void);

/** What the device was compiled for: "plain", "avx2" or "avx512". */
const char *softgpu_simd(void);

/** Count what launches and copies cost from here on, from zero. Costs speed. */
void softgpu_count_start(void);
/** Stop counting. @param counts sums over everything since softgpu_count_start */
void softgpu_count_stop(device_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
