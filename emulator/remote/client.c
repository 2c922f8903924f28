/*
 * client.c: device.h for a program whose device is another process: every function is a message.
 * The runtime above it is the same as in libsoftgpu.so.
 *
 * Interface
 *   device/device.h
 *
 * What cannot be sent is memory of this very process that a program registers: device_admit says
 * DEVICE_UNSUPPORTED.
 */
#define _GNU_SOURCE
#include "remote.h"

#include "device/device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct device {
    remote_link *link;
    uint32_t number, findings; /* ... that the last work left */
    device_turn turn;          /* work 0: nobody's */
    unsigned char *output;     /* of the last launches, not yet taken */
    size_t output_bytes, output_taken;
    char error[512];
    bool own_error; /* that is no words of the process's */
};

#define REQUEST(kind, ...)                                                                         \
    &(remote_request)                                                                              \
    {                                                                                              \
        .verb = REMOTE_##kind, __VA_ARGS__                                                         \
    }

static device_status lost(device *d)
{
    strcpy(d->error, "the process of the device is gone");
    d->own_error = true;
    return DEVICE_LOST;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static device_status ask(device *d, remote_request *q, remote_reply *r)
{
    q->device = d->number;
    q->turn = d->turn;
    d->own_error = false;
    return remote_ask(d->link, q, r, 0) ? (device_status)r->status : lost(d);
}

/** Where the answer is only whether it went well. */
static device_status tell(device *d, remote_request *q)
{
    remote_reply reply;

    return ask(d, q, &reply);
}

/** A work, after which there may be findings. */
static device_status worked(device *d, device_status status, const remote_reply *r)
{
    if (status != DEVICE_LOST) d->findings = (uint32_t)r->word[0];
    return status;
}

/** With bytes beside it. */
static device_status ask_with(device *d, remote_request *q, const void *bytes, size_t length,
                              remote_reply *r)
{
    if (length > REMOTE_WINDOW) {
        strcpy(d->error, "it is larger than 32 MiB, too large for a device in another process");
        d->own_error = true;
        return DEVICE_BAD_MODULE;
    }
    if (length) memcpy(d->link->window, bytes, length);
    q->payload = length;
    return ask(d, q, r);
}

/** The answer is a struct, if there is one. @return whether there is */
static int ask_for(device *d, remote_request *q, void *answer, size_t bytes)
{
    remote_reply reply;

    if (ask(d, q, &reply) || !reply.word[0] || reply.payload != bytes) return 0;
    memcpy(answer, d->link->window, bytes);
    return 1;
}

/* ---- what calls.def says all of -------------------------------------------------------------- */

#define OWN(...)
#define TELL_1(verb, name, A)                                                                      \
    device_status device_##name(device *d, A a)                                                    \
    {                                                                                              \
        return tell(d, REQUEST(verb, .word = {a}));                                                \
    }
#define TELL_2(verb, name, A, B)                                                                   \
    device_status device_##name(device *d, A a, B b)                                               \
    {                                                                                              \
        return tell(d, REQUEST(verb, .word = {a, b}));                                             \
    }
#define GUARDED_1(verb, name, A)    TELL_1(verb, name, A)
#define GUARDED_2(verb, name, A, B) TELL_2(verb, name, A, B)
#define ANSWER_2(verb, name, A, X, Y)                                                              \
    device_status device_##name(device *d, A a, X *x, Y *y)                                        \
    {                                                                                              \
        remote_reply reply;                                                                        \
        device_status status = ask(d, REQUEST(verb, .word = {a}), &reply);                         \
        if (status) return status;                                                                 \
        *x = reply.word[0];                                                                        \
        *y = reply.word[1];                                                                        \
        return DEVICE_OK;                                                                          \
    }
#define STRUCT_1(verb, name, A, S)                                                                 \
    int device_##name(device *d, A a, S *s)                                                        \
    {                                                                                              \
        return ask_for(d, REQUEST(verb, .word = {a}), s, sizeof *s);                               \
    }
#define STRUCT_2(verb, name, A, B, S)                                                              \
    int device_##name(device *d, A a, B b, S *s)                                                   \
    {                                                                                              \
        return ask_for(d, REQUEST(verb, .word = {a, b}), s, sizeof *s);                            \
    }
#include "calls.def"

/* ---- open and close -------------------------------------------------------------------------- */

/* The pages that the runtime reserved for it show what the device shows its kernels. */
static void map_host_memory(const device_options *o)
{
    int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
    static bool done;

    if (done || !o->host_memory) return;
    done = true;
    mmap((void *)(uintptr_t)o->host_memory, DEVICE_HOST_BYTES, PROT_NONE, flags,
         remote_host_memory(), 0);
}

device *device_open(const device_options *options)
{
    remote_link *link = remote_start();
    device *d = link ? calloc(1, sizeof *d) : NULL;
    remote_reply reply;

    if (!d) return NULL;
    d->link = link;
    if (ask_with(d, REQUEST(OPEN), options, sizeof *options, &reply)) {
        free(d);
        return NULL;
    }
    d->number = reply.device;
    map_host_memory(options);
    return d;
}

void device_close(device *d)
{
    if (!d) return;
    tell(d, REQUEST(CLOSE));
    free(d->output);
    free(d);
}

/* ---- memory ---------------------------------------------------------------------------------- */

device_status device_alloc(device *d, uint64_t bytes, device_address *address)
{
    remote_reply reply;
    device_status status = ask(d, REQUEST(ALLOC, .word = {bytes}), &reply);

    if (!status) *address = reply.word[0];
    return status;
}

void device_memory(device *d, uint64_t *free_bytes, uint64_t *total_bytes)
{
    remote_reply reply = {.word = {0}};

    ask(d, REQUEST(MEMORY), &reply);
    *free_bytes = reply.word[0];
    *total_bytes = reply.word[1];
}

/* The next piece of a long copy. */
static uint64_t piece(uint64_t bytes, uint64_t done)
{
    return bytes - done < REMOTE_CHUNK ? bytes - done : REMOTE_CHUNK;
}

/* What does not fit shall not be done by half. */
static device_status check_range(device *d, device_address address, uint64_t bytes)
{
    device_address base;
    uint64_t size;

    if (bytes <= REMOTE_CHUNK) return DEVICE_OK;
    device_status status = device_find(d, address, &base, &size);
    if (status) return status;
    return bytes <= base + size - address ? DEVICE_OK : DEVICE_BAD_ADDRESS;
}

device_status device_write(device *d, device_address to, const void *from, uint64_t bytes)
{
    remote_reply reply = {.word = {0}};
    device_status status = check_range(d, to, bytes);

    for (uint64_t done = 0; done < bytes && !status; done += REMOTE_CHUNK)
        status = ask_with(d, REQUEST(WRITE, .word = {to + done}), (const char *)from + done,
                          piece(bytes, done), &reply);
    return bytes ? worked(d, status, &reply) : status;
}

device_status device_read(device *d, void *to, device_address from, uint64_t bytes)
{
    remote_reply reply = {.word = {0}};
    device_status status = check_range(d, from, bytes);

    for (uint64_t done = 0; done < bytes && !status; done += REMOTE_CHUNK) {
        uint64_t now = piece(bytes, done);
        status = ask(d, REQUEST(READ, .word = {from + done, now}), &reply);
        if (!status) memcpy((char *)to + done, d->link->window, now);
    }
    return bytes ? worked(d, status, &reply) : status;
}

device_status device_copy(device *d, device_address to, device_address from, uint64_t bytes)
{
    remote_reply reply = {.word = {0}};

    return worked(d, ask(d, REQUEST(COPY, .word = {to, from, bytes}), &reply), &reply);
}

device_status device_copy_peer(device *d, device_address to, device *source, device_address from,
                               uint64_t bytes)
{
    remote_reply reply = {.word = {0}};
    remote_request *q = REQUEST(COPY_PEER, .word = {to, from, bytes}, .small = source->number);

    return worked(d, ask(d, q, &reply), &reply);
}

device_status device_peer(device *d, device *peer, int on)
{
    return tell(d, REQUEST(PEER, .word = {on != 0}, .small = peer->number));
}

device_status device_fill(device *d, device_address to, uint32_t value, uint32_t width,
                          uint64_t count)
{
    remote_reply reply = {.word = {0}};
    remote_request *q = REQUEST(FILL, .word = {to, value, count}, .small = width);

    return worked(d, ask(d, q, &reply), &reply);
}

device_status device_touch(device *d, device_address address, uint64_t bytes, device_use use)
{
    remote_reply reply = {.word = {0}};
    remote_request *q = REQUEST(TOUCH, .word = {address, bytes, use});

    return worked(d, ask(d, q, &reply), &reply);
}

/* ---- memory of the host's -------------------------------------------------------------------- */

device_status device_admit(device *d, uint64_t host_address, uint64_t bytes)
{
    (void)d, (void)host_address, (void)bytes;
    return DEVICE_UNSUPPORTED;
}

device_status device_dismiss(device *d, uint64_t host_address)
{
    (void)d, (void)host_address;
    return DEVICE_BAD_ADDRESS;
}

void device_place(device *d, const char *name, device_address address, int initialise)
{
    remote_reply reply;

    ask_with(d, REQUEST(PLACE, .word = {address, initialise != 0}), name, strlen(name), &reply);
}

/* ---- modules --------------------------------------------------------------------------------- */

device_status device_load(device *d, const char *ptx, size_t bytes, uint32_t *module)
{
    remote_reply reply;
    device_status status = ask_with(d, REQUEST(LOAD), ptx, bytes, &reply);

    if (!status) *module = (uint32_t)reply.word[0];
    return status;
}

device_status device_function(device *d, uint32_t module, const char *name, uint32_t *function)
{
    remote_reply reply;
    device_status status =
        ask_with(d, REQUEST(FUNCTION, .word = {module}), name, strlen(name), &reply);

    if (!status) *function = (uint32_t)reply.word[0];
    return status;
}

device_status device_function_info(device *d, uint32_t function, device_function_facts *facts)
{
    remote_reply reply;
    device_status status = ask(d, REQUEST(FUNCTION_INFO, .word = {function}), &reply);

    if (!status) memcpy(facts, d->link->window, sizeof *facts);
    return status;
}

device_status device_symbol(device *d, uint32_t module, const char *name, device_address *address,
                            uint64_t *bytes)
{
    remote_reply reply;
    device_status status =
        ask_with(d, REQUEST(SYMBOL, .word = {module}), name, strlen(name), &reply);

    if (status) return status;
    *address = reply.word[0];
    *bytes = reply.word[1];
    return DEVICE_OK;
}

device_status device_texture_add(device *d, const device_texture *t, uint64_t *object)
{
    remote_reply reply;
    device_status status = ask_with(d, REQUEST(TEXTURE_ADD), t, sizeof *t, &reply);

    if (!status) *object = reply.word[0];
    return status;
}

/* ---- order ----------------------------------------------------------------------------------- */

void device_take_turn(device *d, const device_turn *turn)
{
    d->turn = turn ? *turn : (device_turn){.work = 0};
}

/* Only who owns the device knows that all is over. */
void device_settle(device *d)
{
    (void)d;
}

/* ---- run ------------------------------------------------------------------------------------- */

/* What kernels printed comes with the answer to the launch, and stays until it is taken. */
static void keep_output(device *d, uint64_t bytes)
{
    unsigned char *more = bytes ? realloc(d->output, d->output_bytes + bytes) : NULL;

    if (!more) return;
    d->output = more;
    memcpy(more + d->output_bytes, d->link->window, bytes);
    d->output_bytes += bytes;
}

static device_status ask_launch(device *d, remote_request q, const device_launch_request *l,
                                remote_reply *reply)
{
    q.word[0] = l->function;
    q.dynamic_shared_bytes = l->dynamic_shared_bytes;
    q.cooperative = l->cooperative;
    memcpy(q.grid, l->grid, sizeof q.grid);
    memcpy(q.block, l->block, sizeof q.block);
    memcpy(q.cluster, l->cluster, sizeof q.cluster);
    return ask_with(d, &q, l->params, l->param_bytes, reply);
}

static device_status launched(device *d, device_status status, const remote_reply *r)
{
    if (status != DEVICE_LOST) keep_output(d, r->payload);
    return worked(d, status, r);
}

device_status device_launch(device *d, const device_launch_request *l)
{
    remote_reply reply = {.word = {0}};

    return launched(d, ask_launch(d, *REQUEST(LAUNCH), l, &reply), &reply);
}

device_status device_finish(device *d)
{
    remote_reply reply = {.word = {0}};

    return launched(d, ask(d, REQUEST(FINISH), &reply), &reply);
}

device_status device_graph_add(device *d, uint32_t *graph, const device_launch_request *l,
                               uint32_t *node)
{
    remote_reply reply;
    device_status status = ask_launch(d, *REQUEST(GRAPH_ADD, .word = {0, *graph}), l, &reply);

    if (status) return status;
    *graph = (uint32_t)reply.word[0];
    *node = (uint32_t)reply.word[1];
    return DEVICE_OK;
}

device_status device_graph_set(device *d, uint32_t graph, uint32_t node,
                               const device_launch_request *l)
{
    remote_reply reply;

    return ask_launch(d, *REQUEST(GRAPH_SET, .word = {0, graph, node}), l, &reply);
}

device_status device_graph_run(device *d, uint32_t graph, uint32_t node)
{
    remote_reply reply = {.word = {0}};

    return launched(d, ask(d, REQUEST(GRAPH_RUN, .word = {graph, node}), &reply), &reply);
}

int device_take_finding(device *d, device_finding *finding)
{
    if (!d->findings) return 0;
    d->findings--;
    return ask_for(d, REQUEST(FINDING), finding, sizeof *finding);
}

int device_annotate(device *d, int is_host, const char *words)
{
    remote_reply reply;
    remote_request *q = REQUEST(ANNOTATE, .word = {is_host != 0});

    return !ask_with(d, q, words, strlen(words), &reply) && reply.word[0];
}

size_t device_take_output(device *d, char *to, size_t bytes)
{
    size_t left = d->output_bytes - d->output_taken;

    if (bytes > left) bytes = left;
    if (bytes) memcpy(to, d->output + d->output_taken, bytes);
    d->output_taken += bytes;
    if (d->output_taken == d->output_bytes) d->output_taken = d->output_bytes = 0;
    return bytes;
}

const char *device_error(device *d)
{
    remote_reply reply;

    if (d->own_error || ask(d, REQUEST(ERROR), &reply) || reply.payload >= sizeof d->error)
        return d->error;
    memcpy(d->error, d->link->window, reply.payload);
    d->error[reply.payload] = '\0';
    return d->error;
}

/* ---- count ----------------------------------------------------------------------------------- */

void device_count(device *d, int on)
{
    tell(d, REQUEST(COUNT, .word = {on != 0}));
}

void device_count_total(device *d, device_counts *counts)
{
    remote_reply reply;

    *counts = (device_counts){0};
    if (!ask(d, REQUEST(COUNT_TOTAL), &reply)) memcpy(counts, d->link->window, sizeof *counts);
}

int device_count_kernel(device *d, uint32_t kernel, char name[128], device_counts *counts)
{
    remote_kernel k;

    if (!ask_for(d, REQUEST(COUNT_KERNEL, .word = {kernel}), &k, sizeof k)) return 0;
    memcpy(name, k.name, sizeof k.name);
    *counts = k.counts;
    return 1;
}
