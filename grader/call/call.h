/*
 * call.h: one call into the worker that holds the student's code.
 *
 *   worker_process.c  the worker: start, send, receive, stop
 *   device_process.c device_report.c  softgpu's device, in a process beside it, and what it says
 *   threads.c usage.c what runs in the worker beyond the one thread that it is; who had the cores
 *   file.c            the file that a call may read
 *   argument.c        what a call is given
 *   call.c            lay out buffers, run, check canaries and inputs
 */
#ifndef GRADER_CALL_H
#define GRADER_CALL_H

#include "call/argument.h"
#include "course/course.h"
#include "supervisor.h"
#include <sys/types.h>

/* ---- usage.c --------------------------------------------------------------------------------- */

/** Seconds so far: of work, of all threads of a process; that its first one waited for a core. */
typedef struct core_usage {
    double worked, waited;
} core_usage;

core_usage usage_of(pid_t process);
/** How many processes the kernel has ended for want of memory, by this file. */
unsigned long long oom_kills(void);
extern const char *oom_counter;
/** Memory that a process holds and shares with nobody. */
size_t bytes_held_by(pid_t process);
/** Before and after a timed call a worker copies its buffers. @param beside seconds that it worked
 *  there @param honest that a worker without a student's code did, for the same buffers
 *  @return what it worked more than that, and so did not do in the time that is claimed */
double work_hidden(double beside, double honest);
/** What a host took away from this virtual machine, and all there was; in ticks of all cores. */
void read_stolen(double *stolen, double *all);

/* ---- worker_process.c ------------------------------------------------------------------------ */

typedef struct worker worker;
typedef struct device_process device_process;

/** Killed: by SIGKILL, while the kernel ended processes for want of memory. */
typedef enum exchange { EXCHANGE_OK, EXCHANGE_DIED, EXCHANGE_DEADLINE, EXCHANGE_KILLED } exchange;

/** Start a worker with a library. @return NULL, and *why on its own memory, when it cannot even
 *  load the library in time, or was killed from outside while it did. */
worker *worker_start(const options *, place, const char *library, bool *killed, char why[512]);
/** Send a message and wait for the reply. After anything but EXCHANGE_OK the worker is spent. */
exchange worker_exchange(worker *, const wire_call *, wire_reply *, double deadline);
/** At least `bytes` of memory that the worker sees too. NULL when there is not so much. */
unsigned char *worker_memory(worker *, size_t bytes);
/** A file that the worker can read as WIRE_FILE_PATH. */
int worker_file(const worker *);
/** What the worker printed since the last call of this; valid until the next exchange. */
const char *worker_output(worker *);
/** Of the worker, with the time that the grader, which sees a call's end, waited for a core. */
core_usage worker_used(const worker *);
/** How many threads and processes it has beyond its own one. */
int worker_leftovers(const worker *);
/** Memory of its own. */
size_t worker_bytes(const worker *);
/** How a spent worker ended, in words. */
const char *worker_exit_reason(worker *);
/** softgpu's device, or NULL where it has none. */
device_process *worker_device(worker *);
/** Do those that start from now on? On a GPU they see all of the system's libraries. */
void worker_calls_cublas(bool);
void worker_stop(worker *); /* kills its whole process group; NULL is allowed */

/* ---- device_process.c: the device of a worker on softgpu, as a supervisor sees it ------------ */

/** Of workers and their devices that start from now on: how many devices there are. */
void device_process_have(int devices);
/** @return NULL when it cannot be had in time. */
device_process *device_process_start(const options *);
/** @param patient it may write a profile first */
void device_process_stop(device_process *, bool patient);
/** The worker's end of its line to it, until the worker has it. */
int device_process_client(const device_process *);
void device_process_client_given(device_process *);
/** Allocate a buffer of a call, which gets its address. @param data NULL: poison that counts as not
 *  written. The same for the others: @return false when the device or its memory is not there. */
bool device_process_upload(device_process *, wire_argument *, const void *data);
bool device_process_download(device_process *, const wire_argument *, void *data);
/** Is it still that data? Is what lies before it untouched? */
bool device_process_holds(device_process *, const wire_argument *, const void *data);
bool device_process_is_whole(device_process *, const wire_argument *);
/** Free what was lent. @param relocate what is lent next lies elsewhere */
void device_process_release(device_process *, bool relocate);
/** That are allocated there now. */
size_t device_process_bytes(device_process *);
/** From now on the device does what the worker asks, and counts launches if it shall.
 *  @param shuffle seed of another order, in which asynchronous copies arrive at once; 0: none */
bool device_process_listen(device_process *, bool count, unsigned long long shuffle);
/** End what runs there, with a finding that says where it was. The device is spent. */
void device_process_interrupt(device_process *);
/** ... and no longer. @return what happened meanwhile; NULL: the process is gone */
const remote_account *device_process_report(device_process *);
/** What kernels printed in that time; until the next report. */
const char *device_process_printed(const device_process *);
/** Was it ended for want of memory? */
bool device_process_killed(const device_process *);

/* ---- device_report.c ------------------------------------------------------------------------- */

/** Put what the device found before what the worker says of host code. */
void device_report_findings(const remote_account *, wire_reply *);

/* ---- threads.c */
/** Threads of a process, and of all that it has started, besides its first. */
int threads_beyond(pid_t);

/* ---- call.c ---------------------------------------------------------------------------------- */

/** All that a call depends on. */
typedef struct call_request {
    const char *function;
    const argument *arguments;
    int count;
    wire_return returns;
    int handle; /* the number under which a returned pointer is kept */
    int wanted; /* of WIRE_RETURN_CUDA: the error that it must return; 0: none */
    place place;
    double deadline;    /* seconds */
    bool relocate;      /* the buffers lie elsewhere than those of the call before */
    bool against_guard; /* buffers of the host end where unmapped memory begins */
    bool misaligned;    /* they begin 4 bytes past an aligned address, if not shifted anyway */
    const char *alone, *alone_in; /* ... this one alone, in calls of that function; or NULL */
    unsigned long long shuffle;   /* softgpu: as device_process_listen has it */
    bool timed;
    bool from_idle;       /* timed: the device has nothing to do when the call begins */
    bool wall_clock;      /* timed: by the clock also on the CPU, however many threads worked */
    bool counted;         /* softgpu: what its kernels cost */
    bool host_copies;     /* its results may come about on the host */
    bool is_baseline;     /* of the repository: its outputs are not looked at */
    uint32_t refuse_at;   /* the number of the library's call of the runtime that fails; 0: none */
    bool without_kernels; /* launches do nothing; an error is returned without them too */
} call_request;

/** What a case failed of. */
typedef enum failure {
    FAILURE_NONE,
    FAILURE_RESULT, /* it is not what it should be */
    FAILURE_CALL,   /* nothing below: how the call went */
    FAILURE_STUB,
    FAILURE_NO_FUNCTION,
    FAILURE_DEADLINE,
    FAILURE_CRASH,
    FAILURE_WROTE_OUTSIDE,
    FAILURE_CHANGED_INPUT,
    FAILURE_OUT_OF_BOUNDS,
    FAILURE_MISALIGNED,
    FAILURE_NO_BARRIER,
    FAILURE_RACE,
    FAILURE_UNWRITTEN,
    FAILURE_DEADLOCK,
    FAILURE_CUDA,
    FAILURES,
} failure;

/** Of a case that fails of this finding (device_report.c). */
failure failure_of(const device_finding *);

/** Causes beyond those of device_cause: what canaries and guard pages show. */
enum { CAUSE_WROTE_PAST_END = CAUSES, CAUSE_CRASHED_PAST_END, ALL_CAUSES };

/** All that came of it. */
typedef struct call_outcome {
    bool failed, did_without; /* a feature, which was refused: it was done in another way */
    failure failure;
    char message[2048]; /* why; without the likely mistake */
    unsigned cause;     /* what a likely mistake follows from */
    uint32_t culprit; /* of the findings: the number, from 1 on, of the one that failed it; or 0 */
    bool worker_is_spent;
    bool is_hopeless; /* the next call would wait as long */
    bool interrupted; /* somebody else ended the process: no verdict at all */
    union {
        int64_t i;
        double f;
    } returned;
    uint32_t finding_count; /* the first WIRE_FINDINGS are here */
    device_finding findings[WIRE_FINDINGS];
    const char *output;   /* what the worker printed, on softgpu what kernels did; until the next */
    double seconds, wall; /* of the call; by the grader's clock */
    double waited;        /* timed: what of it was waiting for a core */
    double overhead;      /* timed: what of it the call itself does not explain */
    double worked;        /* timed: that all threads of the worker worked during it */
    double overhead_cpu;  /* timed: that the worker worked before and after it, to copy */
    device_counts counts; /* on softgpu */
    wire_copies copies;
    wire_calls calls; /* if one was refused, and an error was returned: no outputs */
    long long kept;   /* device memory allocated less freed: bytes; on a GPU allocations */
} call_outcome;

/** @return whether the call went well; the outcome is filled in either way */
bool call_perform(worker *, const call_request *, call_outcome *);

#endif
