/*
 * call.h: one call into the worker that holds the student's code.
 *
 *   worker_process.c  the worker: start, send, receive, stop
 *   device_process.c  softgpu's device, in a process beside the worker
 *   device_report.c   what that device says of a call
 *   threads.c usage.c what runs in the worker beyond the one thread that it is; who had the cores
 *   argument.c        what a call is given
 *   call.c            lay out buffers, run, check canaries and inputs
 */
#ifndef GRADER_CALL_H
#define GRADER_CALL_H

#include "call/argument.h"
#include "course/course.h"
#include "remote/remote.h"
#include <sys/types.h>

/* ---- usage.c --------------------------------------------------------------------------------- */

/** Seconds so far: of work, of all threads of a process; that its first one waited for a core. */
typedef struct core_usage {
    double worked, waited;
} core_usage;

core_usage usage_of(pid_t process);
/** Memory that a process holds and shares with nobody. */
size_t bytes_held_by(pid_t process);
/** Before and after a timed call a worker copies its buffers. @param beside seconds that it worked
 *  there @param honest that a worker without a student's code did, for the same buffers
 *  @return what it worked more than that, and so did not do in the time that is claimed */
double work_hidden(double beside, double honest);
/** What a host took away from this virtual machine, and all there was; in ticks of all cores. */
void read_stolen(double *stolen, double *all);

/* ---- channel.c ------------------------------------------------------------------------------- */

typedef struct worker worker;
typedef struct softdevice softdevice;

typedef enum exchange { EXCHANGE_OK, EXCHANGE_DIED, EXCHANGE_DEADLINE } exchange;

/** Start a worker with a library. @return NULL, and *why on its own memory, when it cannot even
 *  load the library in time. */
worker *worker_start(const options *, place, const char *library, char why[512]);
/** Send a message and wait for the reply. After anything but EXCHANGE_OK the worker is spent. */
exchange worker_exchange(worker *, const wire_call *, wire_reply *, double deadline);
/** At least `bytes` of memory that the worker sees too. NULL when there is not so much. */
unsigned char *worker_memory(worker *, size_t bytes);
/** What the worker printed since the last call of this; valid until the next exchange. */
const char *worker_output(worker *);
/** Of the worker; that the grader, which has to see the end of a call, waited for a core is in it.
 */
core_usage worker_used(const worker *);
/** How many threads and processes it has beyond its own one. */
int worker_leftovers(const worker *);
/** Memory of its own. */
size_t worker_bytes(const worker *);
/** How a spent worker ended, in words. */
const char *worker_epitaph(worker *);
/** softgpu's device, or NULL where it has none. */
softdevice *worker_device(worker *);
void worker_stop(worker *); /* kills its whole process group; NULL is allowed */

/* ---- softdevice.c: the device of a worker on softgpu, as a supervisor sees it ---------------- */

/** @return NULL when it cannot be had in time. */
softdevice *softdevice_start(const options *);
void softdevice_stop(softdevice *, bool patient); /* patient: it may write a profile first */
/** The worker's end of its line to it, until the worker has it. */
int softdevice_client(const softdevice *);
void softdevice_client_given(softdevice *);
/** Allocate a buffer of a call, which gets its address. @param data NULL: poison that counts as not
 *  written. The same for the others: @return false when the device or its memory is not there. */
bool softdevice_lend(softdevice *, wire_argument *, const void *data);
bool softdevice_read(softdevice *, const wire_argument *, void *data);
/** Is it still that data? Is what lies before it untouched? */
bool softdevice_holds(softdevice *, const wire_argument *, const void *data);
bool softdevice_is_whole(softdevice *, const wire_argument *);
/** Free what was lent. @param relocate what is lent next lies elsewhere */
void softdevice_take_home(softdevice *, bool relocate);
/** That are allocated there now. */
size_t softdevice_bytes(softdevice *);
/** From now on the device does what the worker asks, and counts launches if it shall. */
bool softdevice_listen(softdevice *, bool count);
/** ... and no longer. @return what happened meanwhile; NULL: the process is gone */
const remote_account *softdevice_account(softdevice *);

/* ---- account.c ------------------------------------------------------------------------------- */

/** Put what the device found before what the worker says of host code. */
void account_findings(const remote_account *, wire_reply *);
/** Fail the case if its results were not made on the device. */
void account_work(const remote_account *, const char *function, bool has_results);

/* ---- threads.c ------------------------------------------------------------------------------- */

/** Threads of a process, and of all that it has started, besides its first. */
int threads_beyond(pid_t);

#endif
