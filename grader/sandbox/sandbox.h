/*
 * sandbox.h: the layers between a submission and the rest of the machine.
 *
 *   sandbox.c    which layers of isolation there are
 *   jail.c       start a program behind them
 *   mounts.c     what it sees
 *   landlock.c   the same without namespaces
 */
#ifndef GRADER_SANDBOX_H
#define GRADER_SANDBOX_H

#include "course/course.h"

/** What stands between a submission and the rest of the machine. */
typedef struct layers {
    bool namespaces;  /* mounts, processes, network of its own */
    bool files;       /* it reaches those that its plan names: by the namespace, or by Landlock */
    bool user;        /* it runs as a user that nobody else is, or in a user namespace */
    bool limits;      /* on time, memory, files, processes */
    bool seccomp;     /* of system calls it has those that an exercise can need */
    bool environment; /* it gets a few variables only */
} layers;

/** Find out, by trying, which layers there are, and warn once of those that are not.
 *  @return false after a message when one is missing that ISOLATION=required wants */
bool sandbox_start(const options *);
layers sandbox_layers(void); /* none before sandbox_start */
const options *sandbox_options(void);
bool sandbox_bounds_folders(void); /* folders in memory can be given a size */
json_t *sandbox_json(void);        /* of results.json */
int isolation(const options *);    /* print them */

/** What a program may reach. */
typedef struct plan {
    const char *const *read; /* files and folders beside the system's own; NULL ends */
    const char *program;     /* of the system's own it sees the libraries of this one; NULL: all */
    const char *write;       /* the folder that it starts in; NULL: an empty one, wiped after */
    bool gpu;                /* it drives a real one */
    bool light; /* our own code, fed with a student's: it keeps its user and starts at once */
    unsigned cpu_seconds; /* 0: without limit, here and below */
    size_t address_bytes, file_bytes;
} plan;

typedef struct jail jail;
jail *jail_create(const plan *, const char *const argv[]);
/** In a new child, with nothing open but what the program shall have. Returns when it failed. */
void jail_enter(const jail *);
void jail_free(jail *);
/** Does its process tell of a signal by exit status 128 + signal? */
bool jail_hides_signals(const jail *);
/** As process_run, behind all layers there are. */
process_result jail_run(const plan *, const char *const argv[], double deadline, size_t limit);

#endif
