/*
 * server.h: the process of the device: what it holds, what it tells, what it does.
 */
#ifndef SOFTGPU_REMOTE_SERVER_H
#define SOFTGPU_REMOTE_SERVER_H

#include "device/device.h"
#include "remote.h"

/* ---- watch.c: what happens on a device ------------------------------------------------------- */

typedef struct remote_watch remote_watch;
/** @param supervised findings are kept until the account is taken, not until the next launch */
remote_watch *watch_open(device *, bool supervised);
void watch_close(remote_watch *);
/** It is the turn of the client's work, or, of a copy's next piece, still is; or the supervisor's,
 *  whose works are in no order with anything. */
void watch_turn(remote_watch *, bool supervisor, const remote_request *);
/** A launch is over. */
void watch_launched(remote_watch *, device_status);
/** Take what the device found. @return how many findings the client has not seen */
uint32_t watch_findings(remote_watch *);
/** What its kernel printed, or a piece of it. */
void watch_printed(remote_watch *, const char *text, uint64_t bytes);
/** The next finding for the client. @return false: there is none */
bool watch_finding(remote_watch *, device_finding *);
/** What the client has to say of that one. */
void watch_annotate(remote_watch *, bool is_host, const char *words);
/** A copy or a fill of the client's went well. */
void watch_transfer(remote_watch *, const remote_request *);
/** Everything since the device was opened: launches if counted, and the client's copies. */
void watch_total(remote_watch *, device_counts *);
/** One end wants launches counted, or no longer; while one of them does they are. */
void watch_count(remote_watch *, bool supervisor, bool on);
/** The client has so many bytes of the device more, or fewer. */
void watch_allocated(remote_watch *, uint64_t bytes);
void watch_freed(remote_watch *, uint64_t bytes);
/** A range is shared with the host, or no longer. */
void watch_share(remote_watch *, int change);
void watch_listen(remote_watch *, bool count);
/** Add what happened since then. */
void watch_account(remote_watch *, remote_account *);
/** The beginning of what was printed since listening began. @return bytes */
uint64_t watch_text(const remote_watch *, void *to);
/** An allocation is the supervisor's: not to be freed by others. @return false: it has too many */
bool watch_own(remote_watch *, device_address);
bool watch_owns(const remote_watch *, device_address);
void watch_disown(remote_watch *, device_address);
void watch_name(remote_watch *, device_address, const char *name);

/* ---- server.c, perform.c --------------------------------------------------------------------- */

enum { REMOTE_DEVICES = 8, REMOTE_SHARED = 1 << 16, REMOTE_MODULES = 1 << 12 };

/** All that the process holds. */
typedef struct remote_server {
    remote_link client, supervisor; /* .head is NULL where there is none */
    bool supervised, listening;     /* ... to the client */
    const remote_link *last;        /* that asked something; or NULL */
    struct remote_device {
        device *device;
        remote_watch *watch;
        uint64_t first_byte;    /* of its part of the addresses */
        uint32_t modules;       /* that were ever loaded */
        bool in_flight;         /* its last launch waits for one of another device */
        device_status finished; /* how it ended, until the client asks */
        struct remote_range {
            device_address address;
            uint64_t bytes;
        } * shared; /* with the host */
        uint32_t shared_count;
    } devices[REMOTE_DEVICES];
    uint64_t host_memory; /* where this process maps what is shared; 0: nowhere */
} remote_server;

/** Open a device in that place. @return whether it is open */
bool remote_device_open(remote_server *, uint32_t number, device_options);
void remote_device_close(remote_server *, uint32_t number);

/** Do what one end asks; the window holds what came with it, and then what goes back.
 *  @return false: that was no message */
bool remote_perform(remote_server *, bool supervisor, const remote_request *, unsigned char *window,
                    remote_reply *);
/** Serve until nobody is left. @return false: the client sent what is no message */
bool remote_serve(remote_server *);

#endif
