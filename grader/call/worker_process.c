/*
 * worker_process.c: the grader's end of a worker. The worker is exec'ed (never only forked: CUDA
 * does not survive a fork), holds one socket, one shared memory file and one pipe to print into,
 * and leads a process group of its own, so that everything that it starts ends with it.
 */
#include "call.h"

#include "build/build.h"

#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_KEPT    (1u << 20)  /* of what a worker prints between two calls */
#define OUTPUT_FLOOD   (64u << 20) /* a worker that prints more in its life is ended */
#define START_DEADLINE 60.0        /* seconds: a GPU context, or a slow disk */

struct worker {
    pid_t process;
    pid_t sender; /* the worker itself; `process` may be what isolates it */
    jail *jail;
    device_process *device; /* softgpu's, or NULL */
    bool patient;           /* let it end by itself: a checker around it has a report to write */
    bool forged;            /* it answered what it had not been asked */
    bool killed;            /* for want of memory */
    unsigned long long oom_kills; /* when it was started */
    int control, memory, file, printed;
    unsigned char *mapping;
    size_t mapping_bytes;
    char *output;
    size_t output_bytes, output_ever;
    char exit_reason[512];
};

/* In the child: nothing of the grader's stays open, nor a terminal. */
static void become_worker(const jail *jail, int control, int memory, int file, int printed,
                          int device)
{
    setsid();
    unsetenv("SOFTGPU_PROFILE"); /* the device writes it */
    int null = open("/dev/null", O_RDONLY);
    int moved[] = {fcntl(null, F_DUPFD, 10),    fcntl(printed, F_DUPFD, 10),
                   fcntl(control, F_DUPFD, 10), fcntl(memory, F_DUPFD, 10),
                   fcntl(device, F_DUPFD, 10),  fcntl(file, F_DUPFD, 10)};
    dup2(moved[0], STDIN_FILENO);
    dup2(moved[1], STDOUT_FILENO);
    dup2(moved[1], STDERR_FILENO);
    dup2(moved[2], WIRE_CONTROL_FD);
    dup2(moved[3], WIRE_MEMORY_FD);
    close(WIRE_DEVICE_FD);
    if (device >= 0) dup2(moved[4], WIRE_DEVICE_FD);
    dup2(moved[5], WIRE_FILE_FD);
    for (int fd = WIRE_FILE_FD + 1; fd < 256; fd++) close(fd);
    jail_enter(jail);
    _exit(127);
}

static const char *worker_program(place where, bool in_python)
{
    switch (where) {
    case ON_HOST: return "worker_cpu";
    case ON_PYTHON: return "python_worker.so";
    case ON_SOFTGPU: return in_python ? "python_worker_softgpu.so" : "worker_softgpu";
    default: return in_python ? "python_worker_cuda.so" : "worker_cuda";
    }
}

static bool calls_cublas;

void worker_calls_cublas(bool does)
{
    calls_cublas = does;
}

/* The worker sees its program, the course's libraries, the exercise and what that is linked with.
 */
static jail *worker_jail(const options *o, place where, const char *library)
{
    static const char *const libraries[] = {"libcourse.so", "remote/libsoftgpu.so",
                                            "python_cases.py", "python_driver.py"};
    enum { SHARED = sizeof libraries / sizeof *libraries, DRIVER = SHARED - 1, CASES = DRIVER - 1 };
    char program[PATH_MAX], shared[SHARED][PATH_MAX], cublas[PATH_MAX], *needs[LIBRARIES_MAX];
    const char *read[LIBRARIES_MAX + SHARED + 4] = {program, library};
    snprintf(program, sizeof program, "%s/%s", o->build, worker_program(where, is_python(library)));
    for (int i = 0; i < SHARED; i++) {
        snprintf(shared[i], PATH_MAX, "%s/%s", o->build, libraries[i]);
        read[2 + i] = shared[i];
    }
    const int count = build_needs(library, needs);
    for (int i = 0; i < count; i++) read[2 + SHARED + i] = needs[i];
    snprintf(cublas, sizeof cublas, "%s/libsoftgpu_cublas.so", o->build);
    if (calls_cublas) read[2 + SHARED + count] = cublas;
    const char *guard = sandbox_layers().limits ? "guarded" : "free";
    const char *const argv[] = {program, library, guard, NULL};
    const char *interpreter = is_python(library) ? python() : NULL;
    const char *with_python[LIBRARIES_MAX + 9] = {
        interpreter, "-I", "-B", shared[DRIVER], program, shared[CASES], library, guard};
    for (int i = 0; i < count; i++) with_python[8 + i] = needs[i];
    const bool whole = interpreter || (calls_cublas && where == ON_GPU);
    const plan plan = {.read = read, .program = whole ? NULL : program, .gpu = where == ON_GPU};
    jail *jail = jail_create(&plan, interpreter ? with_python : argv);
    for (int i = 0; i < count; i++) free(needs[i]);
    return jail;
}

static void keep_output(worker *w)
{
    char block[1 << 14];
    for (ssize_t n; (n = read(w->printed, block, sizeof block)) > 0;) {
        size_t room = OUTPUT_KEPT - w->output_bytes;
        size_t take = (size_t)n < room ? (size_t)n : room;
        memcpy(w->output + w->output_bytes, block, take);
        w->output_bytes += take;
        w->output[w->output_bytes] = '\0';
        w->output_ever += (size_t)n;
        if (w->output_ever > OUTPUT_FLOOD) return;
    }
}

/* @return the signal that ended it, or 0 */
static int ending_signal(const worker *w, int status)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const bool hidden = code > 128 && code <= 128 + SIGRTMAX && jail_hides_signals(w->jail);
    return WIFSIGNALED(status) ? WTERMSIG(status) : hidden ? code - 128 : 0;
}

/* The end of a worker in words: how it ended, and the last line that it printed. */
static void write_exit_reason(worker *w, int status)
{
    char how[128];
    const int number = ending_signal(w, status);
    if (w->forged) {
        snprintf(how, sizeof how, "it answered out of turn");
    } else if (w->output_ever > OUTPUT_FLOOD) {
        snprintf(how, sizeof how, "it printed more than %u MiB", OUTPUT_FLOOD >> 20);
    } else if (number == 0) {
        snprintf(how, sizeof how, "the process exited with status %d before the call was over",
                 WEXITSTATUS(status));
    } else {
        snprintf(how, sizeof how, "the process was ended by signal %d (%s)", number,
                 strsignal(number));
    }
    size_t end = w->output_bytes;
    while (end > 0 && w->output[end - 1] == '\n') end--;
    size_t begin = end;
    while (begin > 0 && end - begin < 200 && w->output[begin - 1] != '\n') begin--;
    snprintf(w->exit_reason, sizeof w->exit_reason, "%s%s%.*s", how,
             end > begin ? "; it last printed: " : "", (int)(end - begin), w->output + begin);
}

static void end_texts(device_finding *f)
{
    f->kernel[sizeof f->kernel - 1] = '\0';
    f->file[sizeof f->file - 1] = '\0';
    f->inlined_file[sizeof f->inlined_file - 1] = '\0';
    f->text[sizeof f->text - 1] = '\0';
}

/* The student's code can write to the socket too: texts end, and only failures spend a worker. */
static void sanitize_reply(wire_reply *reply)
{
    reply->text[sizeof reply->text - 1] = '\0';
    reply->past[sizeof reply->past - 1] = '\0';
    for (int i = 0; i < WIRE_FINDINGS; i++) end_texts(&reply->findings[i]);
    if (reply->status == WIRE_OK) reply->sticky = 0;
}

/* The kernel says who sent it, by the number that the process has here. */
static ssize_t take_message(worker *w, wire_reply *reply)
{
    char room[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec data = {reply, sizeof *reply};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    const ssize_t n = recvmsg(w->control, &message, MSG_DONTWAIT | MSG_TRUNC);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_type == SCM_CREDENTIALS) {
        w->sender = ((const struct ucred *)CMSG_DATA(header))->pid;
    }
    return n;
}

/* Wait for a message, keeping what is printed meanwhile from filling the pipe. */
static exchange receive(worker *w, wire_reply *reply, double deadline)
{
    const double end = seconds_now() + deadline;
    for (;;) {
        struct pollfd ready[] = {{.fd = w->control, .events = POLLIN},
                                 {.fd = w->printed, .events = POLLIN}};
        double left = end - seconds_now();
        if (left <= 0) return EXCHANGE_DEADLINE;
        if (poll(ready, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR) return EXCHANGE_DIED;
        if (ready[1].revents & POLLIN) keep_output(w);
        if (w->output_ever > OUTPUT_FLOOD) return EXCHANGE_DIED;
        if (ready[0].revents) {
            ssize_t n = take_message(w, reply);
            if (n == (ssize_t)sizeof *reply) {
                sanitize_reply(reply);
                return EXCHANGE_OK;
            }
            if (n >= 0 || (errno != EAGAIN && errno != EINTR)) return EXCHANGE_DIED;
        } else if (ready[1].revents & POLLHUP) {
            ready[1].fd = -1;
            usleep(1000); /* it closed its output; the control socket decides */
        }
    }
}

/* A process that is exiting by itself, and what isolates it, may say with which status. */
static pid_t await_exit(const worker *w, int *status)
{
    pid_t gone = 0;
    for (int i = 0; i < 500 && gone == 0; i++) {
        usleep(2000);
        gone = waitpid(w->process, status, WNOHANG);
    }
    return gone;
}

static void reap(worker *w, exchange outcome)
{
    int status = 0;
    if (w->process <= 0) return;
    pid_t gone = outcome == EXCHANGE_DIED ? await_exit(w, &status) : 0;
    w->killed = gone > 0 && ending_signal(w, status) == SIGKILL && oom_kills() > w->oom_kills;
    kill(-w->process, SIGKILL);
    kill(w->process, SIGKILL);
    if (gone == 0) waitpid(w->process, &status, 0);
    keep_output(w);
    write_exit_reason(w, status);
    w->process = 0;
}

exchange worker_exchange(worker *w, const wire_call *call, wire_reply *reply, double deadline)
{
    if (call->verb == WIRE_RUN) {
        w->output_bytes = 0;
        w->output[0] = '\0';
    }
    exchange outcome = EXCHANGE_DIED;
    /* One message is under way at most: there is no room only where none was taken out. */
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    const bool sent = send(w->control, call, sizeof *call, flags) == (ssize_t)sizeof *call;
    w->forged = !sent && errno == EAGAIN;
    if (sent) outcome = receive(w, reply, deadline);
    if (outcome == EXCHANGE_OK) keep_output(w);
    if (outcome == EXCHANGE_OK) w->forged = reply->nonce != call->nonce;
    if (outcome != EXCHANGE_OK || w->forged || reply->status == WIRE_CRASHED) reap(w, outcome);
    if (w->forged) outcome = EXCHANGE_DIED;
    return w->killed ? EXCHANGE_KILLED : outcome;
}

/* The worker opens what nobody may write, and has it open only to be read. */
static int open_to_read(int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return fchmod(file, 0444) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static bool open_channel(worker *w, int sockets[2], int pipes[2])
{
    w->memory = memfd_create("grader", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    w->file = memfd_create("file", MFD_CLOEXEC);
    if (w->memory < 0 || w->file < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 ||
        pipe2(pipes, O_CLOEXEC) != 0) {
        return false;
    }
    fcntl(w->memory, F_ADD_SEALS, F_SEAL_SHRINK); /* the worker cannot pull it away under us */
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    setsockopt(sockets[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int));
    w->control = sockets[0];
    w->printed = pipes[0];
    return true;
}

worker *worker_start(const options *o, place where, const char *library, bool *killed,
                     char why[512])
{
    int sockets[2], pipes[2];
    *killed = false;
    worker *w = calloc(1, sizeof *w);
    w->patient = o->slow > 1;
    w->output = calloc(1, OUTPUT_KEPT + 1);
    w->jail = worker_jail(o, where, library);
    if (!open_channel(w, sockets, pipes)) {
        snprintf(why, 512, "cannot open a channel to a worker: %s", strerror(errno));
        worker_stop(w);
        return NULL;
    }
    if (where == ON_SOFTGPU && !(w->device = device_process_start(o))) {
        snprintf(why, 512, "the process of the software GPU does not start");
        worker_stop(w);
        return NULL;
    }
    w->oom_kills = oom_kills();
    w->process = fork();
    if (w->process == 0) {
        const int device = w->device ? device_process_client(w->device) : -1;
        become_worker(w->jail, sockets[1], w->memory, open_to_read(w->file), pipes[1], device);
    }
    if (w->device) device_process_client_given(w->device);
    close(sockets[1]);
    close(pipes[1]);

    wire_reply hello = {0};
    exchange outcome = receive(w, &hello, START_DEADLINE * (o->slow > 0 ? o->slow : 1));
    if (outcome == EXCHANGE_OK && hello.status == WIRE_OK) return w;
    if (outcome == EXCHANGE_OK) {
        snprintf(why, 512, "%s", hello.text);
    } else {
        reap(w, outcome);
        snprintf(why, 512, "while it was loaded %s",
                 outcome == EXCHANGE_DEADLINE ? "it did not end" : w->exit_reason);
        *killed = w->killed;
    }
    worker_stop(w);
    return NULL;
}

unsigned char *worker_memory(worker *w, size_t bytes)
{
    if (bytes <= w->mapping_bytes) return w->mapping;
    if (w->mapping) munmap(w->mapping, w->mapping_bytes);
    w->mapping = NULL;
    w->mapping_bytes = 0;
    if (ftruncate(w->memory, (off_t)bytes) != 0) return NULL;
    void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->memory, 0);
    if (mapping == MAP_FAILED) return NULL;
    w->mapping = mapping;
    w->mapping_bytes = bytes;
    return w->mapping;
}

device_process *worker_device(worker *w)
{
    return w->device;
}

int worker_file(const worker *w)
{
    return w->file;
}

const char *worker_output(worker *w)
{
    return w->output;
}

core_usage worker_used(const worker *w)
{
    const core_usage worker = usage_of(w->sender), own = usage_of(getpid());
    return (core_usage){worker.worked, worker.waited + own.waited};
}

size_t worker_bytes(const worker *w)
{
    return bytes_held_by(w->sender);
}

int worker_leftovers(const worker *w)
{
    return w->sender > 0 ? threads_beyond(w->sender) : 0;
}

const char *worker_exit_reason(worker *w)
{
    return w->exit_reason;
}

static void wait_for_end(worker *w)
{
    shutdown(w->control, SHUT_RDWR);
    for (int i = 0; i < 3000; i++) {
        siginfo_t ended = {0};
        waitid(P_PID, (id_t)w->process, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (ended.si_pid != 0) return;
        keep_output(w);
        usleep(10000);
    }
}

void worker_stop(worker *w)
{
    if (!w) return;
    if (w->patient && w->device) device_process_listen(w->device, false, 0); /* to what ends it */
    if (w->patient && w->process > 0) wait_for_end(w);
    reap(w, EXCHANGE_OK);
    device_process_stop(w->device, w->patient);
    if (w->mapping) munmap(w->mapping, w->mapping_bytes);
    if (w->control > 0) close(w->control);
    if (w->printed > 0) close(w->printed);
    if (w->memory > 0) close(w->memory);
    if (w->file > 0) close(w->file);
    jail_free(w->jail);
    free(w->output);
    free(w);
}
