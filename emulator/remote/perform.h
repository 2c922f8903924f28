/*
 * perform.h: a message, for perform.c (open and close, memory, what a supervisor asks) and
 * perform_run.c (modules, launches, findings, counts). One function a verb.
 */
#ifndef SOFTGPU_REMOTE_PERFORM_H
#define SOFTGPU_REMOTE_PERFORM_H

#include "remote.h"

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

/* perform_run.c */
typedef device_status perform(message *);
perform do_load, do_unload, do_function, do_function_info, do_symbol, do_launch, do_graph_add,
    do_graph_set, do_graph_run, do_graph_free, do_finding, do_annotate, do_error, do_count,
    do_count_total, do_count_kernel, do_count_site, do_count_launch;

#endif
