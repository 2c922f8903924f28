/*
 * 4e_allreduce_oneshot.cu: small arrays of several GPUs, summed by one kernel per GPU.
 *
 * The idea: each GPU sends its whole array to all others, at once, and each adds up what it
 * received and its own, all in the same order. Nothing on the host connects them: a kernel that has
 * written to the memory of another GPU sets a flag there, and waits for the flags in its own
 * memory.
 *
 *     GPU 0   send to 1, 2 │ set flags │ wait for 1, 2 │ add
 *     GPU 1   send to 0, 2 │ set flags │ wait for 0, 2 │ add
 *     GPU 2   send to 0, 1 │ set flags │ wait for 0, 1 │ add
 *
 * Block b of a GPU sends to block b of the others and to no other. So every pair of GPUs has a flag
 * for each block, and blocks of one GPU need not wait for each other.
 *
 * A flag is the number of the sum, the epoch. It never has to be reset, and a GPU that comes late
 * sees a larger number. The arrays go to the two halves of the room in turn: a GPU that writes half
 * 0 again has seen the flags of the sum before, and the GPUs that set them were done with half 0.
 *
 * What it removes: 2 (N - 1) steps, each with an event and a launch or a copy. One way over the
 * link is left, and one launch. What it costs: N - 1 arrays leave each GPU, where the ring sends
 * less than two. And kernels that wait for each other must all run at the same time.
 */
#include "4e_allreduce_oneshot/allreduce_oneshot.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"

#include <stdlib.h>

#define THREADS     512
#define BLOCKS_MOST 32 /* all of them must run at the same time */

/* Where each GPU finds what the others send it. */
struct inboxes {
    float *room[ONESHOT_GPUS];     /* of each GPU: [2][gpus][ONESHOT_FLOATS], by half and sender */
    unsigned *flags[ONESHOT_GPUS]; /* of each GPU: [gpus][BLOCKS_MOST], by sender */
};

struct oneshot {
    int gpus;
    unsigned epoch[ONESHOT_GPUS]; /* sums that each GPU has been asked for */
    inboxes in;
};

/* ---- flags ---- */

/** A thread on any GPU that sees this value of the flag also sees all that this thread wrote
 *  before, and what others of its block wrote before a barrier. */
__device__ static void set_flag(unsigned *flag, unsigned value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/** The receiving side: what is read after this call is not older than the flag. */
__device__ static unsigned read_flag(const unsigned *flag)
{
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

/* ---- a GPU's part ---- */

/** A sum, as one GPU sees it. */
struct part {
    float *x; /* [n] */
    size_t n;
    float scale; /* of the sum */
    int me, gpus;
    unsigned epoch; /* number of this sum, from 1 on */
};

/** Where `receiver` finds what `sender` has sent it: [n]. */
__device__ static float *slot(const inboxes *in, int receiver, int sender, const part *p)
{
    const size_t half = p->epoch % 2;
    return in->room[receiver] + (half * p->gpus + sender) * ONESHOT_FLOATS;
}

/** Send x to all others. */
__device__ static void send(const inboxes *in, const part *p)
{
    /* TODO: a grid-stride loop; each element is read once and written to the slots of all
       others. Begin with the next GPU, so that not all write to the same one (about 7 lines). */
}

/** Announce this block's data, and wait for that of the same block on all others. */
__device__ static void meet(const inboxes *in, const part *p)
{
    /* TODO: when the whole block has sent, thread g tells GPU g so, and waits for its flag:
       until the number there is not before this one, also when numbers wrap around after 2^32 - 1.
       No thread goes on before all have seen theirs (about 9 lines). */
}

/** x becomes the sum of all. */
__device__ static void add(const inboxes *in, const part *p)
{
    /* TODO: the same loop. The sum goes from GPU 0 to the last one on every GPU, whichever this
       is; its own part is in x (about 7 lines). */
}

/** Both stay in parameter memory: a thread needs no copy of its own. */
__global__ static void oneshot_kernel(const __grid_constant__ inboxes in,
                                      const __grid_constant__ part p)
{
    /* TODO: three calls (about 3 lines). */
}

/* ---- open and close ---- */

/** From now on kernels of a GPU, which is the current device, touch the memory of `peer`. */
static cudaError_t let_touch(int peer)
{
    /* TODO: as in 415: it may be enabled already (about 4 lines). */
    NOT_IMPLEMENTED(peer);
    return cudaSuccess;
}

/** A GPU's room and flags, and its ways to all others. It is the current device afterwards. */
static cudaError_t prepare(oneshot *o, int gpu)
{
    const size_t room = 2 * (size_t)o->gpus * ONESHOT_FLOATS * sizeof(float);
    const size_t flags = (size_t)o->gpus * BLOCKS_MOST * sizeof(unsigned);
    /* TODO: make it the current device, let it touch the memory of all others, allocate both;
       the flags begin at 0, before any kernel of another GPU can set them (about 10 lines). */
    NOT_IMPLEMENTED(o, gpu);
    return cudaSuccess;
}

/** CUDA loads a kernel at its first launch, and may then wait for running kernels, which wait for
 *  this one. So load it on the current device here. */
static cudaError_t load_kernel(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)oneshot_kernel);
}

cudaError_t oneshot_open(oneshot **o, int gpus)
{
    int devices = 0, current = 0;
    *o = NULL;
    if (gpus < 1 || gpus > ONESHOT_GPUS) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (!error && gpus > devices) error = cudaErrorInvalidDevice;
    if (!error) error = cudaGetDevice(&current);
    if (error) return error;
    oneshot *made = (oneshot *)calloc(1, sizeof *made);
    if (!made) return cudaErrorMemoryAllocation;
    made->gpus = gpus;

    for (int g = 0; g < gpus && !error; g++) {
        error = prepare(made, g);
        if (!error) error = load_kernel();
    }
    cudaError_t back = cudaSetDevice(current);
    if (!error) error = back;
    if (error)
        oneshot_close(made);
    else
        *o = made;
    return error;
}

cudaError_t oneshot_close(oneshot *o)
{
    cudaError_t error = cudaSuccess;
    if (!o) return error;

    for (int g = 0; g < o->gpus; g++) {
        cudaError_t room = cudaFree(o->in.room[g]), flags = cudaFree(o->in.flags[g]);
        if (!error) error = room ? room : flags;
    }
    free(o);
    return error;
}

/* ---- a sum ---- */

cudaError_t allreduce_oneshot_part(oneshot *o, int gpu, float *buffer, size_t n, allreduce_op op,
                                   cudaStream_t stream)
{
    int current = 0;
    if (gpu < 0 || gpu >= o->gpus || n > ONESHOT_FLOATS) return cudaErrorInvalidValue;
    /* TODO: nothing to do without elements. The number of the next sum, and the launch on that
       device: a thread per element, up to BLOCKS_MOST blocks. Make the device that was current the
       current one again, after an error too (about 11 lines). */
    NOT_IMPLEMENTED(o, gpu, buffer, n, op, stream);
    return cudaSuccess;
}

cudaError_t allreduce_oneshot(oneshot *o, float *const *buffers, size_t n, allreduce_op op,
                              const cudaStream_t *streams)
{
    cudaError_t error = cudaSuccess;
    /* TODO: the part of each GPU (about 3 lines). */
    NOT_IMPLEMENTED(o, buffers, n, op, streams);
    return error;
}
