/*
 * perform.h: a message, for perform.c (open and close, memory, what a supervisor asks) and
 * perform_run.c (modules, launches, findings, counts). One function a verb.
 */
#ifndef SOFTGPU_REMOTE_PERFORM_H
#define SOFTGPU_REMOTE_PERFORM_H

#include "server.h"

typedef struct message {
    remote_server *server;
    struct remote_device *at;
    device *device;
    bool supervisor;
    const remote_request *q;
    unsigned char *window;
    remote_reply *r;
} message;

/* perform.c */
/** @return its own copy of a name, which the other end cannot change any more; NULL: too long */
const char *name_in(const message *);
/** Whose work what follows is. */
void take_turn(const message *);

/** One function a verb: do_alloc, do_free, ... */
typedef device_status perform(message *);
#define OWN(verb, name) perform do_##name;
#include "calls.def"

#endif
