/*
 * demo.h: the program `cuda_demo`, in one index.
 *
 * main.c   the order of things: what a device is, computes and refuses
 * speed.c  how fast, next to the CPU, and how right
 */
#ifndef CUDA_DEMO_H
#define CUDA_DEMO_H

#include "../backend/backend.h"

/** @return whether something failed; the words have been printed then */
bool says_no(failure failed);

/** Products and elementwise operations by this device, beside the CPU, which may be the same one:
 *  how fast they are, and how far apart. What softgpu emulates is not timed, and smaller. */
bool show_work(device *d, device *cpu);

#endif
