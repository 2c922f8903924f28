/*
 * handle.c: lists of live streams, events and pools, so that a handle that was destroyed or never
 * existed gives an error instead of a crash. A handle is the first member of what it stands for.
 */
#include "runtime.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void handle_add(struct handle **list, struct handle *handle)
{
    pthread_mutex_lock(&lock);
    handle->next = *list;
    *list = handle;
    pthread_mutex_unlock(&lock);
}

/** @return false when it is not in the list. */
bool handle_remove(struct handle **list, const void *handle)
{
    pthread_mutex_lock(&lock);
    while (*list && *list != handle) list = &(*list)->next;
    bool found = *list != NULL;
    if (found) *list = (*list)->next;
    pthread_mutex_unlock(&lock);
    return found;
}

bool handle_lives(struct handle *const *list, const void *handle)
{
    pthread_mutex_lock(&lock);
    const struct handle *at = *list;
    while (at && at != handle) at = at->next;
    pthread_mutex_unlock(&lock);
    return at != NULL;
}
