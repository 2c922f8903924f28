/*
 * device_process.c: softgpu's device in a process of its own, which the grader starts next to a
 * worker. The worker is connected to it as a client, the grader as a supervisor: the grader
 * allocates, fills and reads the buffers of calls, and the device reports launches, copies,
 * findings and counts to it. No code of the student is in between. emulator/remote/remote.h has the
 * details.
 */
#include "call.h"

#include "sandbox/sandbox.h"

#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAST_PATIENCE 5.0        /* seconds for a launch to end when it shall */
#define PATIENCE      60.0       /* seconds for anything but a student's kernel */
#define DECOY_BYTES   (3u << 20) /* enough to move what is allocated after it */
#define CANARY        0xc7
#define MEMORY_MOST   ((uint64_t)8 << 30)

enum { CLIENT_FD = 3, SUPERVISOR_FD = 4 }; /* in the process */

struct device_process {
    pid_t process;
    unsigned long long oom_kills; /* when it was started */
    jail *jail;
    double patience;
    int client; /* the worker's end, until it has it */
    remote_link link;
    struct lent {
        uint32_t device;
        device_address address;
    } lent[WIRE_ARGUMENTS];
    int lent_count;
    device_address decoys[WIRE_DEVICES_MOST]; /* by device; or 0 */
    uint32_t devices;
    remote_account account;
    char *printed; /* by kernels, while the worker was listened to */
};

/* ---- the process ----------------------------------------------------------------------------- */

/* A kernel cannot have more memory than leaves some to the grader. */
static void limit_memory(void)
{
    char text[32];
    const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    snprintf(text, sizeof text, "%llu",
             (unsigned long long)(half < MEMORY_MOST ? half : MEMORY_MOST));
    setenv("SOFTGPU_MEMORY", text, 0);
}

void device_process_have(int devices)
{
    char text[16];
    snprintf(text, sizeof text, "%d", devices > 0 ? devices : 1);
    setenv(WIRE_DEVICES, text, 1);
}

/* It runs our code on a student's kernels: no files but its own. */
static jail *device_jail(const options *o)
{
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/softgpu_device", o->build);
    const char *const read[] = {program, NULL}, *const argv[] = {program, "3", "4", NULL};
    limit_memory();
    return jail_create(&(plan){.read = read, .light = true}, argv);
}

static void become_device(const jail *jail, int client, int supervisor)
{
    setsid();
    const int null = open("/dev/null", O_RDWR);
    const int moved[] = {fcntl(client, F_DUPFD, 10), fcntl(supervisor, F_DUPFD, 10)};
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(moved[0], CLIENT_FD);
    dup2(moved[1], SUPERVISOR_FD);
    for (int fd = SUPERVISOR_FD + 1; fd < 256; fd++) close(fd);
    jail_enter(jail);
    _exit(127);
}

device_process *device_process_start(const options *o)
{
    int clients[2], supervisors[2], host_memory = -1;
    remote_hello hello;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, clients) != 0) return NULL;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, supervisors) != 0) return NULL;
    device_process *d = calloc(1, sizeof *d);
    d->patience = PATIENCE * (o->slow > 1 ? o->slow : 1);
    d->client = clients[0];
    d->devices = getenv(WIRE_DEVICES) ? (uint32_t)atoi(getenv(WIRE_DEVICES)) : 1;
    d->jail = device_jail(o);
    d->process = fork();
    if (d->process == 0) become_device(d->jail, clients[1], supervisors[1]);
    close(clients[1]);
    close(supervisors[1]);
    if (remote_link_accept(&d->link, supervisors[0], &host_memory, &hello, d->patience)) {
        close(host_memory);
        return d;
    }
    close(supervisors[0]);
    device_process_stop(d, false);
    return NULL;
}

int device_process_client(const device_process *d)
{
    return d->client;
}

void device_process_client_given(device_process *d)
{
    close(d->client);
    d->client = -1;
}

/* It ends by itself when the grader's line closes, after it has written a profile if it shall. */
static void wait_for_end(const device_process *d)
{
    for (int i = 0; i < 3000; i++) {
        if (waitpid(d->process, NULL, WNOHANG) != 0) return;
        usleep(10000);
    }
}

void device_process_stop(device_process *d, bool patient)
{
    if (!d) return;
    remote_link_close(&d->link);
    if (d->client >= 0) close(d->client);
    if (patient) wait_for_end(d);
    if (d->process > 0) kill(d->process, SIGKILL);
    if (d->process > 0) waitpid(d->process, NULL, 0);
    jail_free(d->jail);
    free(d->printed);
    free(d);
}

bool device_process_killed(const device_process *d)
{
    siginfo_t ended = {0};
    const bool asked = waitid(P_PID, (id_t)d->process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
    return asked && ended.si_code == CLD_KILLED && ended.si_status == SIGKILL &&
           oom_kills() > d->oom_kills;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool ask(device_process *d, const remote_request *q, remote_reply *r)
{
    return remote_ask(&d->link, q, r, d->patience);
}

static bool done(device_process *d, remote_request q)
{
    remote_reply reply;
    return ask(d, &q, &reply) && reply.status == DEVICE_OK;
}

static size_t piece(size_t bytes, size_t at)
{
    return bytes - at < REMOTE_CHUNK ? bytes - at : REMOTE_CHUNK;
}

static bool write_bytes(device_process *d, const wire_argument *w, const void *from)
{
    bool well = true;
    for (size_t at = 0; at < w->bytes && well; at += REMOTE_CHUNK) {
        memcpy(d->link.window, (const char *)from + at, piece(w->bytes, at));
        well = done(d, (remote_request){.verb = REMOTE_WRITE,
                                        .device = w->device,
                                        .word = {w->address + at},
                                        .payload = piece(w->bytes, at)});
    }
    return well;
}

/* Piece by piece into the window, where `use` finds it. */
static bool read_pieces(device_process *d, uint32_t device, device_address from, size_t bytes,
                        bool (*use)(char *data, const void *window, size_t bytes), void *data)
{
    bool well = true;
    for (size_t at = 0; at < bytes && well; at += REMOTE_CHUNK) {
        well = done(d, (remote_request){.verb = REMOTE_READ,
                                        .device = device,
                                        .word = {from + at, piece(bytes, at)}}) &&
               use((char *)data + at, d->link.window, piece(bytes, at));
    }
    return well;
}

static bool take(char *data, const void *window, size_t bytes)
{
    memcpy(data, window, bytes);
    return true;
}

static bool is_same(char *data, const void *window, size_t bytes)
{
    return memcmp(data, window, bytes) == 0;
}

static bool is_canary(char *data, const void *window, size_t bytes)
{
    const unsigned char *c = window;
    (void)data;
    for (size_t i = 0; i < bytes; i++) {
        if (c[i] != CANARY) return false;
    }
    return true;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool allocate(device_process *d, uint32_t device, size_t bytes, device_address *address)
{
    remote_reply reply;
    const remote_request q = {.verb = REMOTE_ALLOC, .device = device, .word = {bytes}};
    if (!ask(d, &q, &reply) || reply.status != DEVICE_OK) return false;
    *address = reply.word[0];
    return true;
}

static void release(device_process *d, struct lent lent)
{
    done(d, (remote_request){.verb = REMOTE_FREE, .device = lent.device, .word = {lent.address}});
}

static void name(device_process *d, struct lent lent, const char *argument)
{
    const int length = snprintf((char *)d->link.window, REMOTE_NAME, "the argument %s", argument);
    done(d, (remote_request){.verb = REMOTE_CALL_IT,
                             .device = lent.device,
                             .word = {lent.address},
                             .payload = (uint64_t)length});
}

/* What keeps the data from being aligned is a canary; past the end softgpu looks for itself. */
static bool fill(device_process *d, const wire_argument *w, const void *data)
{
    const device_address at = w->address;
    if (w->before && !done(d, (remote_request){.verb = REMOTE_FILL,
                                               .device = w->device,
                                               .word = {at - w->before, CANARY, w->before},
                                               .small = 1})) {
        return false;
    }
    if (data) return write_bytes(d, w, data);
    const uint32_t width = w->bytes % 4 == 0 ? 4 : w->bytes % 2 == 0 ? 2 : 1; /* of the poison */
    return done(d, (remote_request){.verb = REMOTE_FILL,
                                    .device = w->device,
                                    .word = {at, w->value.u, w->bytes / width},
                                    .small = width}) &&
           done(d, (remote_request){
                       .verb = REMOTE_FORGET, .device = w->device, .word = {at, w->bytes}});
}

bool device_process_upload(device_process *d, wire_argument *w, const void *data)
{
    struct lent lent = {.device = w->device};
    if (!allocate(d, w->device, w->before + w->bytes, &lent.address)) return false;
    d->lent[d->lent_count++] = lent;
    w->address = lent.address + w->before;
    name(d, lent, w->name);
    return w->bytes == 0 || fill(d, w, data);
}

bool device_process_download(device_process *d, const wire_argument *w, void *data)
{
    return read_pieces(d, w->device, w->address, w->bytes, take, data);
}

bool device_process_holds(device_process *d, const wire_argument *w, const void *data)
{
    return read_pieces(d, w->device, w->address, w->bytes, is_same, (void *)data);
}

bool device_process_is_whole(device_process *d, const wire_argument *w)
{
    return w->bytes == 0 ||
           read_pieces(d, w->device, w->address - w->before, w->before, is_canary, NULL);
}

/* A decoy was nobody's, so that nobody reads what was freed where it lay. */
enum { UNUSED = 1 };

void device_process_release(device_process *d, bool relocate)
{
    while (d->lent_count > 0) release(d, d->lent[--d->lent_count]);
    for (uint32_t i = 0; i < d->devices; i++) {
        if (relocate && !d->decoys[i]) allocate(d, i, DECOY_BYTES, &d->decoys[i]);
        if (relocate || !d->decoys[i]) continue;
        done(d, (remote_request){.verb = REMOTE_FREE, .device = i, .word = {d->decoys[i], UNUSED}});
        d->decoys[i] = 0;
    }
}

size_t device_process_bytes(device_process *d)
{
    remote_reply reply;
    size_t bytes = 0;
    for (uint32_t i = 0; i < d->devices; i++)
        if (ask(d, &(remote_request){.verb = REMOTE_MEMORY, .device = i}, &reply))
            bytes += reply.word[1] - reply.word[0];
    return bytes;
}

/* ---- a call ---------------------------------------------------------------------------------- */

bool device_process_listen(device_process *d, bool count, unsigned long long shuffle)
{
    return done(d, (remote_request){.verb = REMOTE_LISTEN, .word = {count, shuffle}});
}

void device_process_interrupt(device_process *d)
{
    kill(d->process, SIGUSR1);
    d->patience = LAST_PATIENCE;
}

const remote_account *device_process_report(device_process *d)
{
    remote_reply reply;
    const remote_request q = {.verb = REMOTE_LISTEN_OFF};
    const size_t head = sizeof d->account;
    if (!ask(d, &q, &reply) || reply.payload < head || reply.payload > REMOTE_WINDOW) return NULL;
    memcpy(&d->account, d->link.window, head);
    free(d->printed);
    d->printed = strndup((const char *)d->link.window + head, reply.payload - head);
    return &d->account;
}

const char *device_process_printed(const device_process *d)
{
    return d->printed;
}
