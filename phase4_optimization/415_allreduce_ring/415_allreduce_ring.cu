/*
 * 415_allreduce_ring.cu: each GPU has an array of n, and afterwards each has the sum of them all.
 *
 * The idea: a ring of GPUs, in which each reads from the one before it and from no other. The array
 * is cut into as many chunks as there are GPUs. In each of the first N - 1 steps a GPU adds one
 * chunk of its neighbour's to its own, each time another one. So a chunk travels once around the
 * ring and collects a part on each GPU: *reduce-scatter*. In N - 1 more steps the finished chunks
 * travel around once more and are copied: *all-gather*. In step s GPU g takes chunk g - 1 - s, all
 * numbers modulo N, in both halves.
 *
 * No scratch memory: a kernel reads its neighbour's memory, at its address there, and adds it to
 * its own. A GPU writes nothing but its own buffer. Every chunk is added up by one GPU in each
 * step, and then copied, so that all GPUs have the same bits.
 *
 * The order of the steps: an event per GPU, recorded after each of its steps. Before a step a GPU
 * waits for the event of the one before it. At the end it waits for the one behind it, which may
 * still read.
 *
 * What it removes: the one GPU that all others send to. Here all links work at the same time, each
 * in both directions, and carry 2 (N - 1) / N of the array each way, however many GPUs there are.
 * What it leaves: 2 (N - 1) steps that wait for each other, each some microseconds. For small
 * arrays that is all the time.
 */
#include "415_allreduce_ring/allreduce_ring.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#include <stdlib.h>

#define THREADS     256
#define BLOCKS_MOST 1024 /* enough to keep a link busy */

struct allreduce {
    int gpus;
    cudaEvent_t *done; /* [gpus], of each: it has done all steps so far. NULL: not there yet */
};

static int before(const allreduce *a, int gpu)
{
    return (gpu + a->gpus - 1) % a->gpus;
}

static int behind(const allreduce *a, int gpu)
{
    return (gpu + 1) % a->gpus;
}

/* ---- open and close ---- */

/** NULL: no memory. Also after an error allreduce_close frees it. */
static allreduce *new_allreduce(int gpus)
{
    allreduce *a = (allreduce *)calloc(1, sizeof *a);
    cudaEvent_t *done = (cudaEvent_t *)calloc((size_t)gpus, sizeof *done);
    if (!a || !done) {
        free(a);
        free(done);
        return NULL;
    }
    a->gpus = gpus;
    a->done = done;
    return a;
}

/** From now on kernels of a GPU, which is the current device, read the memory of `peer`. */
static cudaError_t let_read(int peer)
{
    /* TODO: enable it; if it is enabled already, that is no error: clear it from
       cudaGetLastError too (about 4 lines). */
    NOT_IMPLEMENTED(peer);
    return cudaSuccess;
}

/** A GPU's event, and its access to the one before it. */
static cudaError_t prepare(allreduce *a, int gpu)
{
    /* TODO: make it the current device, let it read if there is another one, and make the
       event, without a time (about 4 lines). */
    NOT_IMPLEMENTED(a, gpu);
    return cudaSuccess;
}

cudaError_t allreduce_open(allreduce **a, int gpus)
{
    int devices = 0, current = 0;
    *a = NULL;
    if (gpus < 1) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (!error && gpus > devices) error = cudaErrorInvalidDevice;
    if (!error) error = cudaGetDevice(&current);
    if (error) return error;

    /* TODO: prepare all GPUs, as long as all goes well; make the device that was current the
       current one again; give back the new one, or close it after an error (about 9 lines). */
    NOT_IMPLEMENTED(a, gpus);
    return error;
}

cudaError_t allreduce_close(allreduce *a)
{
    cudaError_t error = cudaSuccess;
    if (!a) return error;

    /* TODO: destroy the events that are there, keep the first error, and free the rest in any
       case (about 6 lines). */
    NOT_IMPLEMENTED(a);
    return error;
}

/* ---- a step ---- */

/** Elements first .. first + count - 1. */
struct chunk {
    size_t first, count;
};

/** Chunk number c of n elements in `gpus` chunks, which differ by one element at most. */
static chunk chunk_of(size_t n, int gpus, int c)
{
    chunk k = {0, 0};
    /* TODO: n / gpus each, and one more in the first n % gpus chunks (about 3 lines). */
    NOT_IMPLEMENTED(n, gpus, c);
    return k;
}

/** sum[i] = (sum[i] + from[i]) * scale, for n elements; `from` is of another GPU. */
__global__ static void add_kernel(float *__restrict__ sum, const float *__restrict__ from, size_t n,
                                  float scale)
{
    /* TODO: a grid-stride loop. Loads from another GPU take long, so unroll it by 4: then a
       thread has four loads in flight (about 4 lines). */
}

/** Launch it on the current device. n is not 0. */
static cudaError_t add(float *sum, const float *from, size_t n, float scale, cudaStream_t stream)
{
    const size_t wanted = (n + 4 * THREADS - 1) / (4 * THREADS);
    const unsigned blocks = (unsigned)(wanted < BLOCKS_MOST ? wanted : BLOCKS_MOST);
    add_kernel<<<blocks, THREADS, 0, stream>>>(sum, from, n, scale);
    return cudaGetLastError();
}

/** A call of allreduce_ring. */
struct call {
    const allreduce *a;
    float *const *buffers;
    size_t n;
    float scale; /* of the sum */
    const cudaStream_t *streams;
};

/** What a GPU does in a step: it takes a chunk of the one before it. */
static cudaError_t take(const call *c, int gpu, int step)
{
    const int gpus = c->a->gpus, from = before(c->a, gpu);
    /* TODO: chunk gpu - 1 - step, modulo gpus, of both buffers; nothing if it is empty. In the
       first gpus - 1 steps add it on this GPU, in the last of them with the scale; afterwards copy
       it by cudaMemcpyPeerAsync (about 11 lines). */
    NOT_IMPLEMENTED(c, gpu, step);
    return cudaSuccess;
}

/** Every GPU waits until its neighbour has done what is in its stream so far. */
static cudaError_t meet(const call *c, int (*neighbour)(const allreduce *, int))
{
    /* TODO: record the events of all GPUs, each in its stream; then let each stream wait for
       the neighbour's event (about 6 lines). */
    NOT_IMPLEMENTED(c, neighbour);
    return cudaSuccess;
}

/** All steps, one after the other. */
static cudaError_t go_around(const call *c)
{
    cudaError_t error = cudaSuccess;
    /* TODO: in each of the 2 (gpus - 1) steps the GPUs meet the one before them, and then each
       takes its chunk. At the end they meet the one behind them (about 7 lines). */
    NOT_IMPLEMENTED(c);
    return error;
}

cudaError_t allreduce_ring(const allreduce *a, float *const *buffers, size_t n, allreduce_op op,
                           const cudaStream_t *streams)
{
    const float scale = op == ALLREDUCE_MEAN ? 1.0f / (float)a->gpus : 1.0f;
    const call c = {a, buffers, n, scale, streams};
    int current = 0;

    /* TODO: note the current device, go around, and make it the current one again, after an
       error too (about 4 lines). */
    NOT_IMPLEMENTED(a, buffers, n, op, streams);
    return cudaSuccess;
}
