/*
 * attempts.c: what a hostile library may try. test_sandbox.c compiles it with -DATTEMPT=NAME and
 * has a worker load it: the constructor says "reached" or "held". Each attempt ends by itself and
 * does no harm where nothing holds it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static bool can_open(const char *path, int how)
{
    const int file = open(path, how);
    if (file >= 0) close(file);
    return file >= 0;
}

/* Files: a secret of the grader's, a solution, the grader's own memory, the library itself. */
bool secret(void)
{
    return can_open(SECRET, O_RDONLY);
}

bool solution(void)
{
    return can_open(ROOT "/solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", O_RDONLY);
}

bool grader_memory(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", GRADER);
    return can_open(path, O_RDONLY);
}

/* Of the system it has the libraries that it needs. */
bool other_library(void)
{
    return can_open("/usr/bin/env", O_RDONLY) || can_open("/bin/sh", O_RDONLY);
}

bool overwrite(void)
{
    return can_open(LIBRARY, O_WRONLY);
}

/* The only folder that can be written into, up to a size: 100 MB at most are tried. */
bool disk(void)
{
    static char block[1 << 20];
    signal(SIGXFSZ, SIG_IGN);
    const int file = open("filler", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int written = 0; /* MiB */
    while (file >= 0 && written < 100 && write(file, block, sizeof block) == sizeof block)
        written++;
    unlink("filler");
    return written == 100;
}

bool memory(void)
{
    return malloc((size_t)100 << 30) != NULL; /* never touched */
}

/* ... and what is in no limit on addresses. */
bool file_in_memory(void)
{
    return memfd_create("mine", 0) >= 0;
}

bool shared_memory(void)
{
    const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (id >= 0) shmctl(id, IPC_RMID, NULL);
    return id >= 0;
}

/* Not to be the one that goes when there is no memory left. */
bool last_to_go(void)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY);
    return file >= 0 && write(file, "0", 1) == 1;
}

bool variable(void)
{
    return getenv("COURSE_SECRET") != NULL;
}

/* Other processes. */
bool children(void)
{
    int made = 0;
    for (int i = 0; i < 300; i++) {
        const pid_t child = fork();
        if (child == 0) _exit(0);
        made += child > 0;
    }
    return made > 0;
}

bool program(void)
{
    execl("/bin/echo", "echo", "reached", (char *)NULL);
    return false;
}

bool outlive(void)
{
    const pid_t child = fork();
    if (child != 0) return child > 0;
    setsid();
    sleep(600); /* it holds the pipe that the grader reads */
    _exit(0);
}

bool trace(void)
{
    if (ptrace(PTRACE_SEIZE, GRADER, 0, 0) != 0) return false;
    ptrace(PTRACE_DETACH, GRADER, 0, 0);
    return true;
}

bool read_grader(void)
{
    char here[8];
    struct iovec to = {here, sizeof here}, from = {(void *)ADDRESS, sizeof here};
    return process_vm_readv(GRADER, &to, 1, &from, 1, 0) > 0;
}

bool signal_grader(void)
{
    return kill(GRADER, SIGURG) == 0; /* nobody minds SIGURG */
}

bool signal_group(void)
{
    return kill(0, SIGURG) == 0;
}

bool signal_by_file(void)
{
    int ends[2];
    return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, GRADER) == 0 &&
           fcntl(ends[0], F_SETSIG, SIGURG) == 0;
}

bool slow_grader(void)
{
    return setpriority(PRIO_PROCESS, GRADER, 1) == 0;
}

bool limit_grader(void)
{
    const struct rlimit none = {0, 0};
    return prlimit(GRADER, RLIMIT_CORE, &none, NULL) == 0;
}

bool open_secret(void)
{
    return chmod(SECRET, 0644) == 0;
}

bool open_secret_anew(void)
{
    return syscall(452, AT_FDCWD, SECRET, 0644, 0) == 0; /* fchmodat2 */
}

/* The machine. */
bool loopback(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    return s >= 0 && connect(s, (struct sockaddr *)&to, sizeof to) == 0;
}

bool namespace(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

/* What every exercise may do. */
static void *nothing(void *unused)
{
    return unused;
}

bool threads(void)
{
    pthread_t made[64];
    int count = 0;
    while (count < 64 && pthread_create(&made[count], NULL, nothing, NULL) == 0) count++;
    for (int i = 0; i < count; i++) pthread_join(made[i], NULL);
    FILE *file = fopen("note", "w");
    const bool wrote = file && fputs("mine\n", file) >= 0 && fclose(file) == 0;
    void *some = malloc((size_t)1 << 30);
    free(some);
    return count == 64 && wrote && some && raise(SIGURG) == 0;
}

__attribute__((constructor)) static void attempt(void)
{
    const bool reached = ATTEMPT();
    puts(reached ? "reached" : "held");
    fflush(stdout);
    _exit(0);
}
