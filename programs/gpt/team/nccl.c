/*
 * nccl.c: NCCL in the place of 415 (--comm nccl), to compare it with a library on the same
 * gradients, and for several processes. The linker puts a function of this file before
 * allreduce_ring (--wrap, in programs.mk). NCCL is loaded only when it is asked for, so that the
 * program runs without it.
 */
#include "../program.h"
#include "ranks.h"
#include "layers.h"
#include "optimization.h"

#include <dlfcn.h>
#include <stdio.h>

typedef struct ncclComm *communicator;

/* Of nccl.h, which need not be there. */
enum { NCCL_FLOAT = 7, NCCL_SUM = 0, NCCL_AVERAGE = 4 };

/* By which ranks find each other: an address of rank 0. */
typedef struct unique_id {
    char bytes[128];
} unique_id;

static struct {
    int (*name)(unique_id *);
    int (*open)(communicator *, int count, unique_id, int rank);
    int (*begin)(void);
    int (*reduce)(const void *from, void *to, size_t n, int type, int how, communicator,
                  cudaStream_t);
    int (*end)(void);
    const char *(*words)(int error);
    communicator of[GPT_TEAM_MAX];
    int gpus; /* 0: 415 does it */
} nccl;

cudaError_t __real_allreduce_ring(const allreduce *, float *const *, size_t, allreduce_op,
                                  const cudaStream_t *);

static bool said(int error)
{
    if (error != 0) fprintf(stderr, "gpt: NCCL: %s\n", nccl.words(error));
    return error != 0;
}

cudaError_t __wrap_allreduce_ring(const allreduce *ring, float *const *buffers, size_t n,
                                  allreduce_op op, const cudaStream_t *streams)
{
    if (nccl.gpus == 0) return __real_allreduce_ring(ring, buffers, n, op, streams);
    int error = nccl.begin();
    for (int g = 0; g < nccl.gpus && error == 0; g++)
        error = nccl.reduce(buffers[g], buffers[g], n, NCCL_FLOAT,
                            op == ALLREDUCE_MEAN ? NCCL_AVERAGE : NCCL_SUM, nccl.of[g], streams[g]);
    const int ended = nccl.end();
    return said(error ? error : ended) ? cudaErrorUnknown : cudaSuccess;
}

/* Each process opens its own GPUs, all at once, since each waits for all others. */
static bool open_all(void)
{
    unique_id id = {{0}};
    if (ranks_number() == 0 && said(nccl.name(&id))) return false;
    if (!ranks_share(&id, sizeof id)) return false;
    int error = nccl.begin();
    for (int g = 0; g < nccl.gpus && error == 0; g++) {
        if (cudaSetDevice(g) != cudaSuccess) return false;
        error =
            nccl.open(&nccl.of[g], ranks_count() * nccl.gpus, id, ranks_number() * nccl.gpus + g);
    }
    const int ended = nccl.end();
    return !said(error ? error : ended) && cudaSetDevice(0) == cudaSuccess;
}

bool open_nccl(int gpus)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "gpt: --comm nccl: %s\n", dlerror());
        return false;
    }
    *(void **)&nccl.name = dlsym(library, "ncclGetUniqueId");
    *(void **)&nccl.open = dlsym(library, "ncclCommInitRank");
    *(void **)&nccl.begin = dlsym(library, "ncclGroupStart");
    *(void **)&nccl.reduce = dlsym(library, "ncclAllReduce");
    *(void **)&nccl.end = dlsym(library, "ncclGroupEnd");
    *(void **)&nccl.words = dlsym(library, "ncclGetErrorString");
    if (!nccl.name || !nccl.open || !nccl.begin || !nccl.reduce || !nccl.end || !nccl.words) {
        fputs("gpt: --comm nccl: that library is not NCCL\n", stderr);
        return false;
    }
    nccl.gpus = gpus;
    return open_all();
}
