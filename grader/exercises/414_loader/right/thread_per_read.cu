// RIGHT: a thread for each read, which ends with it; one page-locked allocation
/* A prefetch starts a thread and a load joins it. Where the caller would have to wait for a copy,
 * the thread does. */
#include "414_loader/loader.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct part {
    const loader *from;
    char *to;
    size_t number, bytes;
    unsigned long long age; /* 0: nobody has asked, or it has been loaded */
    pthread_t reader;
    cudaEvent_t sent;
    int failed;
} part;

struct loader {
    int fd, n;
    size_t total, full;
    unsigned long long clock;
    char *memory;
    part *last, parts[8];
};

static void *fetch(void *p)
{
    part *const me = (part *)p;
    char *to = me->to, *const end = to + me->bytes;
    off_t at = (off_t)(me->number * me->from->full);
    me->failed = cudaEventSynchronize(me->sent) != cudaSuccess;
    while (to != end && !me->failed) {
        const ssize_t got = pread(me->from->fd, to, (size_t)(end - to), at);
        if (got > 0)
            to += got, at += got;
        else
            me->failed = got == 0 || errno != EINTR;
    }
    return NULL;
}

static size_t how_many(const loader *l)
{
    return l->full == 0 ? 0 : l->total / l->full + (l->total % l->full != 0);
}

static cudaError_t begin(loader *l, part *p, size_t number)
{
    const size_t rest = l->total - number * l->full;
    p->number = number;
    p->bytes = rest > l->full ? l->full : rest;
    if (pthread_create(&p->reader, NULL, fetch, p) != 0) return cudaErrorOperatingSystem;
    p->age = ++l->clock;
    return cudaSuccess;
}

static void finish(part *p)
{
    if (p->age != 0) pthread_join(p->reader, NULL);
    p->age = 0;
}

/* The part with that batch, else an idle one, else the one that was asked for first. */
static part *choose(loader *l, size_t number)
{
    part *best = NULL;
    for (int i = 0; i < l->n; i++) {
        part *p = &l->parts[i];
        if (p->age != 0 && p->number == number) return p;
        if (best == NULL || p->age < best->age) best = p;
    }
    return best;
}

cudaError_t prefetch_next_batch(loader *l, size_t batch_idx)
{
    if (batch_idx >= how_many(l)) return cudaErrorInvalidValue;
    part *p = choose(l, batch_idx);
    if (p->age == 0) return begin(l, p, batch_idx);
    return p->number == batch_idx ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx, cudaStream_t stream)
{
    if (batch_idx >= how_many(l)) return cudaErrorInvalidValue;
    part *p = choose(l, batch_idx);
    if (p->age == 0 || p->number != batch_idx) {
        finish(p);
        const cudaError_t error = begin(l, p, batch_idx);
        if (error != cudaSuccess) return error;
    }
    finish(p);
    if (p->failed) return cudaErrorOperatingSystem;
    l->last = p;
    const cudaError_t error = cudaMemcpyAsync(d_batch, p->to, p->bytes, cudaMemcpyDefault, stream);
    return error == cudaSuccess ? cudaEventRecord(p->sent, stream) : error;
}

cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes)
{
    *h_buffer = NULL, *bytes = 0;
    if (l->last != NULL) *h_buffer = l->last->to, *bytes = l->last->bytes;
    return cudaSuccess;
}

cudaError_t loader_close(loader *l)
{
    cudaError_t first = cudaSuccess;
    if (l == NULL) return first;
    for (int i = 0; i < l->n; i++) {
        finish(&l->parts[i]);
        if (l->parts[i].sent == NULL) continue;
        const cudaError_t error = cudaEventSynchronize(l->parts[i].sent);
        if (first == cudaSuccess) first = error;
        cudaEventDestroy(l->parts[i].sent);
    }
    cudaFreeHost(l->memory);
    if (l->fd >= 0) close(l->fd);
    free(l);
    return first;
}

static cudaError_t set_up(loader *l, const char *path, size_t record, size_t batch)
{
    struct stat s;
    l->fd = open(path, O_RDONLY);
    if (l->fd == -1 || fstat(l->fd, &s) == -1 || !S_ISREG(s.st_mode)) return cudaErrorFileNotFound;
    l->total = (size_t)s.st_size;
    if (l->total % record) return cudaErrorInvalidSource;
    l->full = l->total / record < batch ? l->total : batch * record;
    const size_t step = (l->full + 511) / 512 * 512;
    cudaError_t error = cudaMallocHost((void **)&l->memory, step * (size_t)l->n + 1);
    for (int i = 0; i < l->n && error == cudaSuccess; i++) {
        l->parts[i].from = l;
        l->parts[i].to = l->memory + step * (size_t)i;
        error = cudaEventCreate(&l->parts[i].sent);
    }
    return error;
}

cudaError_t loader_open(loader **l, const char *path, size_t record_bytes, int batch, int depth)
{
    *l = NULL;
    if (record_bytes == 0 || batch < 1 || depth < 1 || depth > 8) return cudaErrorInvalidValue;
    loader *made = (loader *)malloc(sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    memset(made, 0, sizeof *made);
    made->n = depth;
    const cudaError_t error = set_up(made, path, record_bytes, (size_t)batch);
    if (error != cudaSuccess) {
        loader_close(made);
        (void)cudaGetLastError();
        return error;
    }
    *l = made;
    return cudaSuccess;
}
