/*
 * start.c: where the client's device is. Either another process made one for it and gave this one a
 * socket (softgpu_attach), or the program softgpu_device is started, one folder above the library.
 * It ends when its socket closes, so it need not be stopped.
 */
#define _GNU_SOURCE
#include "remote.h"

#include "softgpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SOCKET = 3 };

static const double patience = 60.0; /* seconds for a process to start */

static int attached = -1, host_memory = -1;
static remote_link the_link = {.socket = -1};
static remote_hello hello;

int softgpu_attach(int socket)
{
    if (the_link.head || attached >= 0) return 0;
    attached = socket;
    return 1;
}

static bool find_program(char path[PATH_MAX])
{
    Dl_info here;
    char *end;

    if (!dladdr(&hello, &here) || !here.dli_fname || !realpath(here.dli_fname, path)) return false;
    for (int up = 0; up < 2; up++)
        if ((end = strrchr(path, '/'))) *end = '\0';
    strncat(path, "/softgpu_device", PATH_MAX - strlen(path) - 1);
    return true;
}

/* A grandchild: a program that waits for its children shall not wait for this one. */
static void become_device(const char *program, int socket)
{
    char number[16];

    if (fork() != 0) _exit(0);
    snprintf(number, sizeof number, "%d", CHILD_SOCKET);
    int null = open("/dev/null", O_RDWR), moved = fcntl(socket, F_DUPFD, 10);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(moved, CHILD_SOCKET);
    for (int fd = CHILD_SOCKET + 1; fd < 256; fd++) close(fd);
    execl(program, program, number, (char *)NULL);
    fprintf(stderr, "softgpu: %s cannot be started\n", program);
    _exit(127);
}

/* @return the socket, or -1 */
static int start_process(void)
{
    char program[PATH_MAX];
    int sockets[2];

    if (!find_program(program)) return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return -1;
    pid_t child = fork();
    if (child == 0) become_device(program, sockets[1]);
    close(sockets[1]);
    if (child > 0) waitpid(child, NULL, 0);
    return sockets[0];
}

remote_link *remote_start(void)
{
    static bool tried;

    if (tried) return the_link.head ? &the_link : NULL;
    tried = true;
    int socket = attached >= 0 ? attached : start_process();
    if (socket < 0 || !remote_link_accept(&the_link, socket, &host_memory, &hello, patience)) {
        fputs("softgpu: the process of the device does not answer\n", stderr);
        return NULL;
    }
    return &the_link;
}

int remote_host_memory(void)
{
    return host_memory;
}

const char *softgpu_simd(void)
{
    return remote_start() ? hello.simd : "none";
}
