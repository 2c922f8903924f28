/*
 * crash.c: the last message of a worker whose student code faulted. A fault in the unmapped page
 * behind a buffer is an access past its end, and the message says so.
 */
#include "worker.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static const wire_call *current_call;
static const worker_buffer *current_buffers;

/* On x86-64 a fault that the kernel knows no address of is one of alignment, or of a pointer that
 * is none. */
static const char *signal_text(int number, int code)
{
    switch (number) {
    case SIGSEGV:
        return code == SI_KERNEL ? "segmentation fault at no address: usually a vector that is "
                                   "not aligned; load and store it with memcpy"
                                 : "segmentation fault";
    case SIGBUS: return "bus error";
    case SIGFPE: return "arithmetic fault (division by zero?)";
    case SIGILL: return "illegal instruction";
    default: return "abort";
    }
}

static void find_buffer(wire_reply *reply, const unsigned char *address)
{
    for (uint32_t i = 0; current_call && i < current_call->count; i++) {
        const wire_argument *argument = &current_call->arguments[i];
        const worker_buffer *buffer = &current_buffers[i];
        if (argument->kind != WIRE_BUFFER || argument->space != WIRE_HOST) continue;
        const unsigned char *end = buffer->base + argument->before + argument->bytes;
        const unsigned char *map = buffer->mapping;
        if (address >= end && address < map + buffer->mapping_bytes) {
            snprintf(reply->past, sizeof reply->past, "%s", argument->name);
            reply->distance = (uint64_t)(address - end);
        }
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    wire_reply reply = {.status = WIRE_CRASHED};
    calls_stop(&reply);
    if (current_call) reply.nonce = current_call->nonce;
    if (number == SIGSEGV || number == SIGBUS) find_buffer(&reply, info->si_addr);
    snprintf(reply.text, sizeof reply.text, "%s", signal_text(number, info->si_code));
    ssize_t sent = write(WIRE_CONTROL_FD, &reply, sizeof reply);
    _exit(sent == sizeof reply ? 128 + number : 1);
}

void crash_watch(const wire_call *call, const worker_buffer *buffers)
{
    static char stack[64 << 10]; /* a stack overflow needs a stack of its own */
    current_call = call;
    current_buffers = buffers;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
}

/* With a handler of its own, a library could read what is not its own and go on. */
const char *crash_unwatched(void)
{
    static char text[64];
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        sigaction(signals[i], NULL, &now);
        if (now.sa_sigaction == on_signal) continue;
        snprintf(text, sizeof text, "replaced the handler of signal %d", signals[i]);
        return text;
    }
    return NULL;
}
