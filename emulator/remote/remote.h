/*
 * remote.h: a device in a process of its own, and the wire between it and those who use it.
 *
 *   calls.def   what can be asked
 *   client.c    device.h for a program: each function is a message; the other half of
 *               build/remote/libsoftgpu.so
 *   start.c     the client's process of the device, if nobody else has started one
 *   link.c      a link: a page of shared memory for messages, a socket to wake who sleeps
 *   server.c    one link after the other is listened to; server.h is what the process shares
 *   perform.c   a message, checked and handed to the device; with perform_run.c
 *   watch.c     what a supervisor is told
 *   main.c      the program build/softgpu_device
 *
 * Up to two links lead to the process: that of the client, and that of a supervisor, who started
 * both and trusts only the process. Without a supervisor the client opens devices as it likes. With
 * one they are made by the process from its own environment; what the client calls opening and
 * closing them changes nothing. The supervisor allocates, writes and reads there too;
 * what is its own the client cannot free. It says when the client is listened to, and learns what
 * happened meanwhile.
 *
 * The process makes the memory of its links and of what host and device share, and seals its size:
 * nobody can take it away. It reads each message once, into memory of its own, and trusts nothing:
 * lengths, numbers and addresses are checked there or by the device.
 */
#ifndef SOFTGPU_REMOTE_H
#define SOFTGPU_REMOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/counts.h"
#include "device/finding.h"
#include "device/kernel.h"
#include "device/status.h"

#define REMOTE_VERSION 6
#define REMOTE_WINDOW  (UINT64_C(32) << 20) /* bytes that a message may bring or take with it */
#define REMOTE_CHUNK   (UINT64_C(1) << 20)  /* of a long copy: stays in the processors' caches */
#define REMOTE_NAME    4096                 /* the longest name, its end included */

typedef enum remote_verb {
    REMOTE_NOTHING,
#define OWN(verb, name) REMOTE_##verb,
#include "calls.def"
    REMOTE_VERBS,
} remote_verb;

/** What goes with a verb: see calls.def. */
typedef struct remote_request {
    uint32_t verb, device;
    uint64_t word[3];
    uint64_t payload; /**< bytes in the window */
    uint32_t small;
    uint32_t grid[3], block[3], cluster[3], dynamic_shared_bytes,
        cooperative;  /**< of a launch of word[0] */
    device_turn turn; /**< of a copy, a fill or a launch; work 0: after all that was */
} remote_request;

typedef struct remote_reply {
    int32_t status; /**< a device_status */
    uint32_t device;
    uint64_t word[2];
    uint64_t payload;
} remote_reply;

typedef struct remote_kernel {
    char name[128];
    device_counts counts;
} remote_kernel;

enum { REMOTE_FINDINGS = 16 };

/** What happened while the client was listened to. Copies are those between host and device. */
typedef struct remote_account {
    device_counts counts;   /**< of launches only if counted; all else always */
    uint32_t launches;      /**< that ran, counted or not */
    uint32_t round_trips;   /**< copies to the device after one to the host */
    uint32_t faults;        /**< launches that ended with a fault */
    uint32_t shares;        /**< ranges that were shared with the host at any time meanwhile */
    uint64_t printed;       /**< bytes, by kernels */
    uint32_t finding_count; /**< the first of them are here, as softgpu's hook gets them */
    device_finding findings[REMOTE_FINDINGS];
} remote_account;

/* ---- link.c ---------------------------------------------------------------------------------- */

/** The head of a link's shared memory; the window follows at REMOTE_HEAD. */
typedef struct remote_head {
    _Atomic int32_t asker_core, server_core; /**< where each end was when it last said something */
    _Atomic uint32_t asked, answered;        /**< how many requests, how many replies */
    _Atomic uint32_t server_sleeps, asleep;  /**< wants to be woken through the socket */
    remote_request request;
    remote_reply reply;
} remote_head;

#define REMOTE_HEAD 4096

/** One end. A link is broken when the other end is gone: `head` is NULL, or calls fail. */
typedef struct remote_link {
    int socket;
    remote_head *head;
    unsigned char *window;
    uint32_t count; /**< of messages, by this end */
} remote_link;

/** The first message, through the socket, with two files: the link's memory, the host's. */
typedef struct remote_hello {
    uint32_t version;
    char simd[16]; /**< as softgpu_simd */
} remote_hello;

/** A sealed file of that size, or -1. */
int remote_file(const char *name, uint64_t bytes);
/** The server's end: make the memory and greet. */
bool remote_link_offer(remote_link *, int socket, int host_memory, const char *simd);
/** The other end: wait for the greeting. @param host_memory the file, the caller's from now on */
bool remote_link_accept(remote_link *, int socket, int *host_memory, remote_hello *,
                        double deadline);
void remote_link_close(remote_link *);
/** Send what is in request and window, and wait. @return false: no answer within that many
 *  seconds (0: however long it takes), or the other end is gone */
bool remote_ask(remote_link *, const remote_request *, remote_reply *, double deadline);

/** The server's end: has something been asked? */
bool remote_asked(const remote_link *);
void remote_answer(remote_link *, const remote_reply *);
/** Wait until one of the links has something to say. A link whose other end is gone is closed.
 *  @param live how many of them are listened to, from the first on @param last who asked last */
void remote_wait(remote_link *links[], int live, int count, const remote_link *last);

/* ---- start.c --------------------------------------------------------------------------------- */

/** The link of this program to its device, which is started if need be. NULL after a message: it
 *  cannot be. */
remote_link *remote_start(void);
/** The file of what host and device share; -1: none. */
int remote_host_memory(void);

#endif
