/*
 * main.c: the worker's loop. `worker LIBRARY guarded` gives up what no exercise needs, loads one
 * and answers the grader until the channel closes. protocol.h has the conversation. (`worker
 * LIBRARY free` gives up nothing: a checker around it needs more.)
 */
#include "worker.h"

#include "not_implemented.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(WITH_CUDA) && !defined(WITH_SOFTGPU)
static const bool real_gpu = true;
#else
static const bool real_gpu = false;
#endif

static void *handles[WIRE_HANDLES];
static wire_call call;
static worker_buffer buffers[WIRE_ARGUMENTS];
static unsigned char *shared; /* kept from call to call: its pages are found but once */
static size_t shared_bytes;

static void send_reply(const wire_reply *reply)
{
    if (write(WIRE_CONTROL_FD, reply, sizeof *reply) != (ssize_t)sizeof *reply) _exit(1);
}

static void set_text(wire_reply *reply, wire_status status, const char *text)
{
    reply->status = status;
    snprintf(reply->text, sizeof reply->text, "%s", text);
}

static void set_cuda_error(wire_reply *reply, const char *where, int error)
{
    reply->status = WIRE_CUDA_ERROR;
    snprintf(reply->text, sizeof reply->text, "%s: %s", where, device_error_text(error));
}

/* Another one than it should. */
static void set_unwanted(wire_reply *reply)
{
    set_cuda_error(reply, "it returned", (int)reply->returned.i);
    const size_t length = strlen(reply->text);
    if (call.wanted == 0)
        snprintf(reply->text + length, sizeof reply->text - length, "%s", calls_wrong_way());
    else
        snprintf(reply->text + length, sizeof reply->text - length, ", and should return %s",
                 device_error_text(call.wanted));
}

static void free_buffers(void)
{
    for (uint32_t i = 0; i < call.count; i++) {
        if (call.arguments[i].kind != WIRE_BUFFER) continue;
        if (buffers[i].is_pinned) device_unpin(&buffers[i]);
        if (call.arguments[i].space == WIRE_DEVICE)
            device_buffer_free(&buffers[i]);
        else
            host_buffer_free(&buffers[i]);
    }
    memset(buffers, 0, sizeof buffers);
}

static bool create_host_buffer(worker_buffer *buffer, const wire_argument *argument,
                               wire_reply *reply)
{
    if (!host_buffer_create(buffer, argument, shared)) {
        set_text(reply, WIRE_NO_MEMORY, "host memory");
        return false;
    }
    int error = argument->pinned ? device_pin(buffer) : 0;
    if (error) set_cuda_error(reply, "page-locking", error);
    buffer->is_pinned = argument->pinned && !error;
    return !error;
}

static bool create_buffer(uint32_t i, wire_reply *reply)
{
    const wire_argument *argument = &call.arguments[i];
    if (argument->space == WIRE_HOST) return create_host_buffer(&buffers[i], argument, reply);
    int error = device_buffer_create(&buffers[i], argument, shared + argument->at);
    if (!error) return true;
    set_cuda_error(reply, "copying in", error);
    return false;
}

/* The shared memory only ever grows. */
static bool map_shared(size_t bytes)
{
    if (bytes <= shared_bytes) return true;
    if (shared) munmap(shared, shared_bytes);
    shared_bytes = 0;
    shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, WIRE_MEMORY_FD, 0);
    if (shared == MAP_FAILED) shared = NULL;
    if (shared) shared_bytes = bytes;
    return shared != NULL;
}

static void prepare(wire_reply *reply)
{
    crash_watch(&call, buffers);
    if (!map_shared(call.memory_bytes)) {
        set_text(reply, WIRE_NO_MEMORY, "shared memory");
        return;
    }
    device_relocate(call.relocate);
    if (!call.timed) device_next_stream();
    for (uint32_t points = 0; points < 2; points++) { /* what points comes last */
        for (uint32_t i = 0; i < call.count; i++) {
            const wire_argument *argument = &call.arguments[i];
            if (argument->kind != WIRE_BUFFER || argument->addresses != points) continue;
            if (points) addresses_enter(argument, shared + argument->at, &call, buffers);
            if (!create_buffer(i, reply)) return;
        }
    }
    device_wait(); /* copies may be on their way still, and the stream waits for none */
}

/* @return the number of the argument; call.count: there is none */
static uint32_t stream_at(void)
{
    uint32_t i = 0;
    while (i < call.count && call.arguments[i].kind != WIRE_STREAM) i++;
    return i;
}

/* Then all that the call does has its place in the stream's order. */
static bool takes_stream(void)
{
    return stream_at() < call.count;
}

static void *stream_of(void *const pointers[])
{
    return takes_stream() ? pointers[stream_at()] : NULL;
}

/* The grader's image of a hidden buffer may be the buffer itself: it is wiped afterwards, and only
 * the data. */
static void *buffer_pointer(const wire_argument *argument, unsigned char *data)
{
    if (!argument->opaque) return data;
    void *token = context_hide(data, argument->bytes);
    memset(shared + argument->at + argument->before, 0, argument->bytes);
    return token;
}

/* Not NULL before a call that may fail, so that one that is left alone does not pass for NULL. */
static void *handle_place(void **handle)
{
    if (call.refuse_at || call.wanted) *handle = handles;
    return handle;
}

static void *argument_pointer(uint32_t i, void *pointers[])
{
    const wire_argument *argument = &call.arguments[i];
    switch (argument->kind) {
    case WIRE_BUFFER: return buffer_pointer(argument, buffers[i].base + argument->before);
    case WIRE_ALIAS: return pointers[argument->value.i];
    case WIRE_POINTER: return handles[argument->value.i];
    case WIRE_HANDLE_OUT: return handle_place(&handles[argument->value.i]);
    case WIRE_STREAM: return device_stream(argument->device);
    case WIRE_FILE: reads_befall(argument->value.u); return (void *)WIRE_FILE_PATH;
    case WIRE_FUNCTION: return (void *)worker_function_find(argument->name);
    default: return NULL;
    }
}

/* With the error that it should return, or of a call that was refused. */
static bool gives_with_error(const wire_reply *reply)
{
    const bool expected = reply->returned.i == call.wanted || *reply->calls.refused;
    if (call.returns != WIRE_RETURN_CUDA || reply->returned.i == 0 || !expected) return false;
    for (uint32_t i = 0; i < call.count; i++) {
        const wire_argument *argument = &call.arguments[i];
        if (argument->kind == WIRE_HANDLE_OUT && handles[argument->value.i]) return true;
    }
    return false;
}

static void check_after(wire_reply *reply)
{
    bool sticky = false;
    const int error = device_take_error(&sticky);
    const char *stub = not_implemented_take();
    reply->finding_count = device_take_findings(reply->findings);
    reply->sticky = sticky;
    const char *meddled = crash_unwatched();
    if (meddled) {
        set_text(reply, WIRE_MEDDLED, meddled);
    } else if (stub) {
        set_text(reply, WIRE_NOT_IMPLEMENTED, stub);
    } else if (gives_with_error(reply)) {
        set_text(reply, WIRE_MEDDLED, "returned an error, and a pointer that is not NULL");
    } else if (*reply->calls.refused && !sticky) {
        return; /* what it makes of that, the grader judges */
    } else if (call.returns == WIRE_RETURN_CUDA && reply->returned.i != call.wanted) {
        set_unwanted(reply);
    } else if (error && (sticky || call.returns != WIRE_RETURN_I32)) {
        set_cuda_error(reply,
                       call.wanted && !sticky ? "it returned the right error, but "
                                                "cudaGetLastError still says"
                                              : "afterwards the device reports",
                       error);
    }
}

static void run(wire_reply *reply)
{
    void *pointers[WIRE_ARGUMENTS];
    if (!code_has(call.function)) {
        set_text(reply, WIRE_NO_FUNCTION, call.function);
        return;
    }
    for (uint32_t i = 0; i < call.count; i++) pointers[i] = argument_pointer(i, pointers);

    if (call.timed) device_flush_caches();
    if (call.from_idle) device_wait();
    const bool in_order = takes_stream() && !call.timed;
    if (in_order) device_buffers_enter(buffers, &call);
    device_clock_start();
    const int device = device_make_current(-1);
    calls_start(&call, stream_of(pointers));
    for (uint32_t i = 0; i < call.repeats; i++) code_call(&call, pointers, reply);
    calls_stop(reply);
    reply->calls.moved = device_make_current(device) != device;
    if (in_order) device_buffers_leave(buffers, &call);
    reply->seconds = device_clock_stop();
    context_reveal();

    if (call.returns == WIRE_RETURN_HANDLE) {
        handles[call.return_handle] = (void *)(intptr_t)reply->returned.i;
    }
    check_after(reply);
    fflush(stdout);
}

static void fetch(wire_reply *reply)
{
    for (uint32_t i = 0; i < call.count && reply->status == WIRE_OK; i++) {
        if (call.arguments[i].kind != WIRE_BUFFER) continue;
        unsigned char *image = shared + call.arguments[i].at;
        int error = 0;
        if (call.arguments[i].space == WIRE_HOST)
            host_buffer_read(image, &buffers[i]);
        else
            error = device_buffer_read(image, &buffers[i]);
        if (error) set_cuda_error(reply, "copying out", error);
        if (call.arguments[i].addresses) addresses_leave(&call.arguments[i], image, &call, buffers);
    }
    free_buffers();
}

/* The device comes first: to start it takes calls and memory that a library shall not have. */
static void start(const char *path, bool guarded)
{
    wire_reply reply = {.status = WIRE_OK};
    if (guarded) confine_processes();
    int error = device_start();
    if (guarded) seal_images();
    if (guarded) confine(real_gpu);
    if (error) {
        set_cuda_error(&reply, "starting the device", error);
    } else {
        const char *why = code_load(path);
        if (why) set_text(&reply, WIRE_NO_LIBRARY, why);
    }
    send_reply(&reply);
}

int main(int argc, char **argv)
{
    wire_call next;
    if (argc == 2 && strcmp(argv[1], "--device") == 0) return device_print_facts();
    if (argc == 2 && strcmp(argv[1], "--uuid") == 0) return device_print_uuid();
    if (argc == 2 && strcmp(argv[1], "--count") == 0) return device_print_count();
    if (argc == 3 && strcmp(argv[1], "--probe") == 0) return confine_probe(argv[2], real_gpu);
    if (argc != 3) {
        fprintf(stderr, "worker: started by the grader, not by hand\n");
        return 2;
    }
    start(argv[1], strcmp(argv[2], "free") != 0);
    while (read(WIRE_CONTROL_FD, &next, sizeof next) == (ssize_t)sizeof next) {
        wire_reply reply = {.status = WIRE_OK, .nonce = next.nonce};
        if (next.verb == WIRE_PREPARE) {
            free_buffers();
            call = next;
            prepare(&reply);
        } else if (next.verb == WIRE_RUN) {
            call.nonce = next.nonce; /* for the last words of a crash */
            run(&reply);
        } else {
            fetch(&reply);
        }
        send_reply(&reply);
    }
    return 0;
}
