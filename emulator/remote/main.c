/*
 * main.c: softgpu_device: a device in a process of its own. It is not started by hand:
 *
 *   softgpu_device CLIENT               the socket to the program that uses devices
 *   softgpu_device CLIENT SUPERVISOR    ... and to the one that started both
 *
 * SOFTGPU_PROFILE, under a supervisor, is written by this process at its end.
 */
#define _GNU_SOURCE
#include "server.h"

#include "runtime/options/options.h"
#include "runtime/profile/profile.h"
#include "softgpu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { EXIT_NO_START = 71, EXIT_NO_MESSAGE = 76 };

/* What the host shares. Where it cannot be mapped there is no managed and pinned memory. */
static int map_host_memory(remote_server *s)
{
    int file = remote_file("softgpu host memory", DEVICE_HOST_BYTES);
    int flags = MAP_SHARED | MAP_NORESERVE;

    if (file < 0) return -1;
    void *memory = mmap(NULL, DEVICE_HOST_BYTES, PROT_READ | PROT_WRITE, flags, file, 0);
    if (memory != MAP_FAILED) s->host_memory = (uint64_t)(uintptr_t)memory;
    return file;
}

/* Who shares this user may neither look inside nor take the system down with it. */
static void stand_apart(void)
{
    FILE *score = fopen("/proc/self/oom_score_adj", "w");

    if (score) fputs("1000", score);
    if (score) fclose(score);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool start(remote_server *s, int client, int supervisor)
{
    int file = map_host_memory(s);

    s->supervised = supervisor >= 0;
    s->listening = true;
    if (file < 0) return false;
    for (int i = 0; s->supervised && i < option_devices(); i++)
        if (!remote_device_open(s, (uint32_t)i, options_read(i))) return false;
    /* An end that is gone before it was greeted is no concern of the other. */
    if (s->supervised && !remote_link_offer(&s->supervisor, supervisor, file, softgpu_simd()))
        return false;
    if (!remote_link_offer(&s->client, client, file, softgpu_simd()) && !s->supervised)
        return false;
    close(file);
    return true;
}

static const char *profile_mode(void)
{
    const char *how = getenv("SOFTGPU_PROFILE");

    return how && *how && strcmp(how, "0") != 0 && strcmp(how, "off") != 0 ? how : NULL;
}

static void count_for_profile(remote_server *s)
{
    for (int i = 0; profile_mode() && i < option_devices(); i++)
        watch_count(s->devices[i].watch, false, true);
}

static void print_profile(remote_server *s)
{
    static struct profile profile;

    if (!profile_mode()) return;
    for (int i = 0; i < option_devices(); i++) {
        device_counts total;
        profile_add(&profile, s->devices[i].device);
        watch_total(s->devices[i].watch, &total);
        count_add(&profile.total, &total);
    }
    profile_print(&profile, profile_mode());
}

static remote_server server;

/* The supervisor's patience with a launch is at its end. */
static void on_interrupt(int number)
{
    (void)number;
    if (server.devices[0].device) device_interrupt(server.devices[0].device);
}

int main(int argc, char **argv)
{

    if (argc < 2 || argc > 3) {
        fputs("softgpu_device: started by programs, not by hand\n", stderr);
        return 2;
    }
    if (argc == 3) stand_apart();
    if (!start(&server, atoi(argv[1]), argc == 3 ? atoi(argv[2]) : -1)) {
        fputs("softgpu: the device cannot be opened: out of memory?\n", stderr);
        return EXIT_NO_START;
    }
    if (argc == 3)
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESTART},
                  NULL);
    if (argc == 3) count_for_profile(&server);
    bool clean = remote_serve(&server);
    if (argc == 3) print_profile(&server);
    if (!clean) fputs("softgpu: the program sent the device an invalid message\n", stderr);
    return clean ? EXIT_SUCCESS : EXIT_NO_MESSAGE;
}
