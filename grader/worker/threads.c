/* threads.c: on the CPU, the threads that a library starts: from one of them on, the system may
 * have no more (correctness/failures.c). A program's own symbols go before those of libraries. */
#ifndef WITH_CUDA
#include "worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static bool counting;
static uint32_t refuse_from; /* the number of the first that is refused; 0: none */
static wire_calls seen;

void calls_start(const wire_call *call, void *stream)
{
    (void)stream;
    seen = (wire_calls){0};
    refuse_from = call->refuse_at;
    counting = true;
}

void calls_stop(wire_reply *reply)
{
    counting = false;
    reply->calls = seen;
}

const char *calls_wrong_way(void)
{
    return "";
}

static bool is_refused(void)
{
    const uint32_t number = __atomic_add_fetch(&seen.count, 1, __ATOMIC_RELAXED);
    return refuse_from > 0 && number >= refuse_from;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    static __typeof__(&pthread_create) next;
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    if (!counting || !is_refused()) return next(thread, attributes, run, argument);
    snprintf(seen.refused, sizeof seen.refused, "pthread_create");
    snprintf(seen.refusal, sizeof seen.refusal, "EAGAIN");
    return EAGAIN;
}
#endif
