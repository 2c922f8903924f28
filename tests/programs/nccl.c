/*
 * nccl.c: what the program gpt calls of NCCL, for machines without it: sums of processes on one
 * host, through a file that they share. Like NCCL it waits for ever for a rank that is gone.
 */
#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANKS  8
#define FLOATS (1 << 20)

typedef struct unique_id {
    char path[128];
} unique_id;

struct ncclComm {
    struct shared {
        atomic_int arrived;
        float of[RANKS][FLOATS];
    } * shared;
    int ranks, rank, meetings;
};

static struct asked {
    struct ncclComm *by;
    float *x;
    size_t n;
    int mean;
    cudaStream_t stream;
} asked[RANKS];
static int count;

int ncclGetUniqueId(unique_id *id)
{
    snprintf(id->path, sizeof id->path, "%s/nccl", getenv("NCCL_FOLDER"));
    return 0;
}

int ncclCommInitRank(struct ncclComm **result, int ranks, unique_id id, int rank)
{
    struct ncclComm *c = calloc(1, sizeof *c);
    const int file = open(id.path, O_RDWR | O_CREAT, 0600);
    if (!c || file < 0 || ftruncate(file, sizeof *c->shared) != 0) return 2;
    c->shared = mmap(NULL, sizeof *c->shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    c->ranks = ranks;
    c->rank = rank;
    *result = c;
    return c->shared == MAP_FAILED;
}

int ncclGroupStart(void)
{
    count = 0;
    return 0;
}

int ncclAllReduce(const void *from, void *to, size_t n, int type, int how, struct ncclComm *by,
                  cudaStream_t stream)
{
    (void)from, (void)type;
    asked[count++] = (struct asked){by, to, n, how == 4, stream};
    return n > FLOATS;
}

static void meet(struct ncclComm *c)
{
    c->meetings++;
    atomic_fetch_add(&c->shared->arrived, 1);
    while (atomic_load(&c->shared->arrived) < c->meetings * c->ranks) sched_yield();
}

static int reduce(const struct asked *a)
{
    struct ncclComm *c = a->by;
    float *sum = calloc(a->n + 1, sizeof *sum);
    const size_t bytes = a->n * sizeof *sum;
    int error = cudaMemcpyAsync(c->shared->of[c->rank], a->x, bytes, cudaMemcpyDefault, a->stream);
    if (!error) error = cudaStreamSynchronize(a->stream);
    meet(c);
    for (int r = 0; r < c->ranks; r++)
        for (size_t i = 0; i < a->n; i++) sum[i] += c->shared->of[r][i];
    for (size_t i = 0; i < a->n && a->mean; i++) sum[i] /= (float)c->ranks;
    meet(c);
    if (!error) error = cudaMemcpyAsync(a->x, sum, bytes, cudaMemcpyDefault, a->stream);
    if (!error) error = cudaStreamSynchronize(a->stream);
    free(sum);
    return error;
}

int ncclGroupEnd(void)
{
    return count > 0 ? reduce(&asked[0]) : 0; /* one device a process */
}

const char *ncclGetErrorString(int error)
{
    return error == 0 ? "no error" : "an error";
}
