/*
 * ranks.c: processes that find each other, and notice when one is gone.
 *
 * A star of TCP connections, with rank 0 in the middle. Its address is in a file, because tasks of
 * an srun share a folder and not much else. A connection of a process that ends, however it ends,
 * is closed by its kernel, and that of a host that is gone by the others', after some seconds of
 * silence. A thread waits for that: the main one may wait for a kernel of NCCL, which would wait
 * for ever.
 */
#include "ranks.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE 15 /* seconds until all are there */
#define WORDS    200

static struct {
    int to[RANKS_MOST]; /* of rank 0: to each other one; of these: to rank 0, at 0 */
    atomic_bool over;
} link_;

static int number_in(const char *variable, int otherwise)
{
    const char *value = getenv(variable);
    return value ? atoi(value) : otherwise;
}

int ranks_count(void)
{
    return number_in("SLURM_STEP_NUM_TASKS", 1);
}

int ranks_number(void)
{
    return ranks_count() > 1 ? number_in("SLURM_PROCID", 0) : 0;
}

/* @return false */
__attribute__((format(printf, 1, 2))) static bool say(const char *format, ...)
{
    char words[WORDS];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    fprintf(stderr, "gpt: rank %d of %d: %s\n", ranks_number(), ranks_count(), words);
    return false;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool put(int rank, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n =
            send(link_.to[rank], (const char *)data + done, bytes - done, MSG_NOSIGNAL);
        if (n <= 0) return say("rank %d is gone", rank);
        done += (size_t)n;
    }
    return true;
}

static bool get(int rank, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = recv(link_.to[rank], (char *)data + done, bytes - done, 0);
        if (n <= 0) return say("rank %d is gone", rank);
        done += (size_t)n;
    }
    return true;
}

bool ranks_share(void *data, size_t bytes)
{
    if (ranks_number() > 0) return get(0, data, bytes);
    bool all = true;
    for (int r = 1; r < ranks_count(); r++) all = put(r, data, bytes) && all;
    return all;
}

bool ranks_mean(float *x, int n)
{
    const size_t bytes = (size_t)n * sizeof *x;
    if (ranks_number() > 0) return put(0, x, bytes) && ranks_share(x, bytes);
    float *other = malloc(bytes);
    bool all = other != NULL;
    for (int r = 1; r < ranks_count() && all; r++) {
        all = get(r, other, bytes);
        for (int i = 0; i < n && all; i++) x[i] += other[i];
    }
    for (int i = 0; i < n; i++) x[i] /= (float)ranks_count();
    free(other);
    return all && ranks_share(x, bytes);
}

/* ---- who is gone ----------------------------------------------------------------------------- */

static void *watch(void *unused)
{
    struct pollfd at[RANKS_MOST];
    const int first = ranks_number() == 0, count = first ? ranks_count() - 1 : 1;
    for (int i = 0; i < count; i++) at[i] = (struct pollfd){link_.to[first + i], POLLRDHUP, 0};
    while (poll(at, (nfds_t)count, -1) < 0 && errno == EINTR) continue;
    for (int i = 0; i < count && !link_.over; i++)
        if (at[i].revents) {
            say("rank %d is gone, and without it nobody can go on", first + i);
            _exit(1);
        }
    return unused;
}

static bool begin_watch(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, watch, NULL) == 0 && pthread_detach(thread) == 0;
}

/* A host that is gone does not say so: after 5 seconds of silence it counts as that. */
static void keep_alive(int to)
{
    const int on = 1, idle = 2, between = 1, times = 3, most = 5000;
    setsockopt(to, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(to, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(to, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(to, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    setsockopt(to, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* ---- the meeting ----------------------------------------------------------------------------- */

/* @return where rank 0 listens; the file says it, whole or not at all. -1: it has been said why */
static int listen_at(const char *meeting)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof address;
    char host[256], new_path[4096];
    int at = socket(AF_INET, SOCK_STREAM, 0);
    bool fine = at >= 0 && bind(at, (struct sockaddr *)&address, bytes) == 0 &&
                listen(at, RANKS_MOST) == 0 &&
                getsockname(at, (struct sockaddr *)&address, &bytes) == 0 &&
                gethostname(host, sizeof host) == 0;
    snprintf(new_path, sizeof new_path, "%s.new", meeting);
    FILE *file = fine ? fopen(new_path, "w") : NULL;
    if (file) fprintf(file, "%s %d\n", host, ntohs(address.sin_port));
    fine = file && fclose(file) == 0 && rename(new_path, meeting) == 0;
    if (!fine) say("%s: %s", meeting, strerror(errno));
    return fine ? at : -1;
}

/* A rank that has come says its number first. */
static bool let_in(int at)
{
    int rank = 0, to = accept(at, NULL, NULL);
    const struct timeval patience = {PATIENCE, 0}, none = {0, 0};
    if (to < 0) return say("accept: %s", strerror(errno));
    setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (recv(to, &rank, sizeof rank, MSG_WAITALL) != sizeof rank || rank < 1 ||
        rank >= ranks_count() || link_.to[rank])
        return say("somebody has come who is none of these ranks");
    setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    keep_alive(to);
    link_.to[rank] = to;
    return true;
}

static bool say_missing(void)
{
    for (int r = 1; r < ranks_count(); r++)
        if (!link_.to[r]) say("rank %d has not come within %d seconds", r, PATIENCE);
    return false;
}

static bool wait_for_all(const char *meeting)
{
    const int at = listen_at(meeting);
    struct pollfd one = {at, POLLIN, 0};
    bool fine = at >= 0;
    for (int r = 1; r < ranks_count() && fine; r++)
        fine = poll(&one, 1, PATIENCE * 1000) == 1 ? let_in(at) : say_missing();
    if (at >= 0) close(at), unlink(meeting);
    return fine;
}

static bool connect_to(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    char here[256] = "";
    gethostname(here, sizeof here);
    if (strcmp(here, host) == 0) host = "127.0.0.1";
    if (getaddrinfo(host, port, &hints, &found) != 0) return false;
    const int to = socket(AF_INET, SOCK_STREAM, 0);
    const bool fine = to >= 0 && connect(to, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    if (!fine && to >= 0) close(to);
    if (fine) keep_alive(to), link_.to[0] = to;
    return fine;
}

static bool come(const char *meeting)
{
    char host[256], port[16];
    const int rank = ranks_number();
    for (int tenths = 0; tenths < 10 * PATIENCE; tenths++, usleep(100000)) {
        FILE *file = fopen(meeting, "r");
        const bool there = file && fscanf(file, "%255s %15s", host, port) == 2;
        if (file) fclose(file);
        if (there && connect_to(host, port)) return put(0, &rank, sizeof rank);
    }
    return say("rank 0 has not come within %d seconds: nobody listens as %s says", PATIENCE,
               meeting);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* What rank 0 finds: "" where all have its sizes. */
static bool compare(char words[WORDS], const ranks_size *sizes, int count)
{
    for (int r = 1; r < ranks_count(); r++)
        for (int i = 0; i < count; i++) {
            long other;
            if (!get(r, &other, sizeof other)) return false;
            if (other != sizes[i].value && !*words)
                snprintf(words, WORDS, "rank %d has %ld %s, and rank 0 has %ld", r, other,
                         sizes[i].name, sizes[i].value);
        }
    return true;
}

static bool agree(const ranks_size *sizes, int count)
{
    char words[WORDS] = "";
    if (ranks_number() == 0 && !compare(words, sizes, count)) return false;
    for (int i = 0; i < count && ranks_number() > 0; i++)
        if (!put(0, &sizes[i].value, sizeof sizes[i].value)) return false;
    if (!ranks_share(words, sizeof words)) return false;
    return *words ? say("%s", words) : true;
}

bool ranks_open(const char *meeting, const ranks_size *sizes, int count)
{
    if (ranks_count() == 1) return true;
    if (ranks_count() > RANKS_MOST) return say("there may be %d ranks", RANKS_MOST);
    const bool met = ranks_number() == 0 ? wait_for_all(meeting) : come(meeting);
    return met && agree(sizes, count) && begin_watch();
}

bool ranks_close(void)
{
    char done = 0;
    bool all = true;
    if (ranks_count() == 1) return true;
    link_.over = true; /* the first that hears of all ends before the others */
    if (ranks_number() > 0) return put(0, &done, 1) && ranks_share(&done, 1);
    for (int r = 1; r < ranks_count(); r++) all = get(r, &done, 1) && all;
    return all && ranks_share(&done, 1);
}
