/*
 * supervisor.h: softgpu for a supervisor, which has programs run on it and trusts none of them. The
 * course's grader is one, and includes nothing else of the emulator.
 * The functions of device.h are not here: a supervisor reaches a device through a connection.
 *
 *   softgpu.h          counts and findings, as data; what a program linked with softgpu may ask
 *   runtime/finding/   a finding in words
 *   remote/remote.h    the line to the device's process: what can be asked, and its account of what
 *                      a program did
 *
 * emulator.mk names the files that a supervisor compiles: SUPERVISOR_C.
 */
#ifndef SOFTGPU_SUPERVISOR_H
#define SOFTGPU_SUPERVISOR_H

#include "remote/remote.h"
#include "runtime/finding/finding.h"
#include "softgpu.h"

#endif
