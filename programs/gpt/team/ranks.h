/*
 * ranks.h: several processes that train one network, on one host or on many: the tasks of an srun.
 * Each has a connection to rank 0. The connection passes the id that NCCL begins with, adds up
 * numbers of the hosts, and breaks when a process ends. A process that sees that says so and ends,
 * too.
 */
#ifndef GPT_RANKS_H
#define GPT_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#define RANKS_MOST 64

/** What all ranks must have alike. */
typedef struct ranks_size {
    const char *name;
    long value;
} ranks_size;

/** Which of how many: by srun, else 0 of 1. */
int ranks_number(void);
int ranks_count(void);

/**
 * Wait until all are there.
 * @param meeting a path that all share: rank 0 says there for a while where it is
 * @return false, and each rank has said why: one did not come in time, or has other sizes
 */
bool ranks_open(const char *meeting, const ranks_size *sizes, int count);
/** Rank 0's bytes become everybody's. */
bool ranks_share(void *data, size_t bytes);
/** x[n] becomes the mean of all. */
bool ranks_mean(float *x, int n);
/** All are done: from here on one may end without the others. */
bool ranks_close(void);

/** nccl.c: NCCL instead of 415, of all ranks' GPUs. @return false: it has been said why */
bool open_nccl(int gpus);

#endif
