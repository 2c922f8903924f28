/*
 * link.c: messages between two processes. A message is written into shared memory and counted; the
 * other end watches the count for a moment, which makes a launch cheap, and then sleeps at the
 * socket, through which it is woken. Where both share a core, watching would keep the other from
 * working: there it sleeps at once. The socket also tells when the other end is gone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FOREVER 1e9 /* seconds */

enum { LOOKS = 2000 }; /* before sleeping: about as long as waking somebody takes */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_briefly(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

/* How long to watch for somebody who was last seen on that core. */
static int looks_worth(_Atomic int32_t *core)
{
    return atomic_load(core) == sched_getcpu() ? 0 : LOOKS;
}

/* ---- making a link --------------------------------------------------------------------------- */

int remote_file(const char *name, uint64_t bytes)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (file < 0) return -1;
    if (ftruncate(file, (off_t)bytes) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    close(file);
    return -1;
}

static bool map(remote_link *link, int socket, int file)
{
    void *memory =
        mmap(NULL, REMOTE_HEAD + REMOTE_WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (memory == MAP_FAILED) return false;
    *link = (remote_link){socket, memory, (unsigned char *)memory + REMOTE_HEAD, 0};
    return true;
}

/* Room for the two files that come with the greeting. */
union files {
    struct cmsghdr head;
    char room[CMSG_SPACE(2 * sizeof(int))];
};

static bool greet(int socket, const int files[2], const char *simd)
{
    remote_hello hello = {.version = REMOTE_VERSION};
    struct iovec part = {&hello, sizeof hello};
    union files control = {.room = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    strncpy(hello.simd, simd, sizeof hello.simd - 1);
    control.head = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), files, 2 * sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof hello;
}

bool remote_link_offer(remote_link *link, int socket, int host_memory, const char *simd)
{
    int file = remote_file("softgpu link", REMOTE_HEAD + REMOTE_WINDOW);
    bool done =
        file >= 0 && map(link, socket, file) && greet(socket, (int[]){file, host_memory}, simd);

    if (file >= 0) close(file);
    return done;
}

static bool wait_for_socket(int socket, double end)
{
    struct pollfd ready = {.fd = socket, .events = POLLIN};

    for (;;) {
        double left = end - seconds();
        int found = poll(&ready, 1, left <= 0 ? 0 : left > 100 ? 100000 : (int)(left * 1000) + 1);
        if (found > 0 || (found < 0 && errno != EINTR)) return found > 0;
        if (left <= 0) return false;
    }
}

/* What the other end sends belongs to nobody else's children. */
static bool receive_greeting(int socket, remote_hello *hello, int files[2])
{
    struct iovec part = {hello, sizeof *hello};
    union files control = {.room = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *hello) return false;
    if (message.msg_controllen < CMSG_LEN(2 * sizeof(int))) return false;
    memcpy(files, CMSG_DATA(&control.head), 2 * sizeof(int));
    return hello->version == REMOTE_VERSION;
}

bool remote_link_accept(remote_link *link, int socket, int *host_memory, remote_hello *hello,
                        double deadline)
{
    int files[2] = {-1, -1};

    if (!wait_for_socket(socket, seconds() + deadline)) return false;
    if (!receive_greeting(socket, hello, files)) return false;
    bool done = map(link, socket, files[0]);
    close(files[0]);
    *host_memory = files[1];
    return done;
}

void remote_link_close(remote_link *link)
{
    if (!link->head) return;
    munmap(link->head, REMOTE_HEAD + REMOTE_WINDOW);
    close(link->socket);
    *link = (remote_link){.socket = -1};
}

/* ---- waking ---------------------------------------------------------------------------------- */

static void wake(const remote_link *link, _Atomic uint32_t *sleeps)
{
    if (atomic_exchange(sleeps, 0)) send(link->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Take what somebody sent to wake this end. @return false: the other end is gone */
static bool woken(const remote_link *link)
{
    char bytes[16];
    ssize_t n = recv(link->socket, bytes, sizeof bytes, MSG_DONTWAIT);

    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* ---- the end that asks ----------------------------------------------------------------------- */

static bool answered(const remote_link *link)
{
    return atomic_load(&link->head->answered) == link->count;
}

/* Sleep until there is an answer, or no hope of one. */
static bool sleep_for_answer(remote_link *link, double deadline)
{
    const double end = seconds() + (deadline > 0 ? deadline : FOREVER);

    for (;;) {
        atomic_store(&link->head->asleep, 1);
        if (answered(link)) break;
        if (!wait_for_socket(link->socket, end)) return false;
        if (!woken(link) && !answered(link)) return false;
    }
    atomic_store(&link->head->asleep, 0);
    return true;
}

bool remote_ask(remote_link *link, const remote_request *request, remote_reply *reply,
                double deadline)
{
    if (!link->head) return false;
    link->head->request = *request;
    atomic_store(&link->head->asker_core, sched_getcpu());
    atomic_store(&link->head->asked, ++link->count);
    wake(link, &link->head->server_sleeps);
    const int looks = looks_worth(&link->head->server_core);
    for (int look = 0; look < looks && !answered(link); look++) pause_briefly();
    if (!answered(link) && !sleep_for_answer(link, deadline)) return false;
    *reply = link->head->reply;
    return true;
}

/* ---- the end that answers -------------------------------------------------------------------- */

bool remote_asked(const remote_link *link)
{
    return link->head && atomic_load(&link->head->asked) != link->count;
}

/* Whatever the count says, it is one message: who counts wrongly waits in vain. */
void remote_answer(remote_link *link, const remote_reply *reply)
{
    link->count++;
    link->head->reply = *reply;
    atomic_store(&link->head->server_core, sched_getcpu());
    atomic_store(&link->head->answered, link->count);
    wake(link, &link->head->asleep);
}

static bool any_asked(remote_link *links[], int live)
{
    for (int i = 0; i < live; i++)
        if (remote_asked(links[i])) return true;
    return false;
}

static void sleep_at(remote_link *links[], int live, int count)
{
    struct pollfd ready[2] = {{.fd = -1}, {.fd = -1}}; /* count is 1 or 2 */

    for (int i = 0; i < 2 && i < count; i++) {
        if (!links[i]->head) continue;
        ready[i] = (struct pollfd){.fd = links[i]->socket, .events = POLLIN};
        atomic_store(&links[i]->head->server_sleeps, 1);
    }
    if (any_asked(links, live) || poll(ready, 2, -1) < 0) return;
    for (int i = 0; i < 2 && i < count; i++)
        if (ready[i].revents && !woken(links[i])) remote_link_close(links[i]);
}

void remote_wait(remote_link *links[], int live, int count, const remote_link *last)
{
    const int looks = last && last->head ? looks_worth(&last->head->asker_core) : LOOKS;

    for (int look = 0; look < looks; look++) {
        if (any_asked(links, live)) return;
        pause_briefly();
    }
    sleep_at(links, live, count);
}
