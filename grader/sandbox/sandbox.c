/*
 * sandbox.c: which layers of isolation this machine has. Each layer is tried: a worker without a
 * student's code is started as all others will be, and reports what it sees. A layer that does not
 * work is left out, with one warning; ISOLATION=required refuses to grade instead.
 */
#include "sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const options *options;
    layers on;
    bool bounds_folders;
} sandbox;

layers sandbox_layers(void)
{
    return sandbox.on;
}

const options *sandbox_options(void)
{
    return sandbox.options;
}

bool sandbox_bounds_folders(void)
{
    return sandbox.bounds_folders;
}

static bool bubblewrap_knows(const char *option)
{
    const char *const argv[] = {"bwrap", "--help", NULL};
    process_result r = process_run(argv, "/", 5.0, 1 << 14);
    const bool knows = r.status == 0 && strstr(r.output, option);
    free(r.output);
    return knows;
}

/* Start a worker so, and let it say what it sees. @return whether all that was wanted is so */
static bool attempt(layers wanted)
{
    char worker[PATH_MAX], secret[PATH_MAX], libraries[PATH_MAX];
    unsigned user = 0, hidden = 0, limits = 0, seccomp = 0;
    const bool gpu = sandbox.options->backend == BACKEND_CUDA;
    snprintf(worker, sizeof worker, "%s/%s", sandbox.options->build,
             gpu ? "worker_cuda" : "worker_cpu");
    snprintf(secret, sizeof secret, "%s/grader/main.c", sandbox.options->root);
    snprintf(libraries, sizeof libraries, "%s/libcourse.so", sandbox.options->build);
    const char *const argv[] = {worker, "--probe", secret, NULL};
    const char *const read[] = {worker, libraries, NULL};
    const plan plan = {.read = read, .program = worker, .gpu = gpu};

    sandbox.on = wanted;
    process_result r = jail_run(&plan, argv, gpu ? 60.0 : 10.0, 4096);
    const bool answered =
        r.status == 0 && sscanf(r.output, "user=%u hidden=%u limits=%u seccomp=%u", &user, &hidden,
                                &limits, &seccomp) == 4;
    free(r.output);
    sandbox.on.limits = answered && limits;
    sandbox.on.seccomp = answered && seccomp;
    return answered && (!wanted.files || hidden) && (!wanted.user || user != 0);
}

/* The first of these that works; nothing, should even limits keep a device from working. */
static void find_layers(void)
{
    static const layers rows[] = {{.namespaces = true, .files = true, .user = true},
                                  {.namespaces = true, .files = true},
                                  {.files = true, .user = true}, /* by Landlock, as below */
                                  {.files = true},
                                  {.user = true},
                                  {.user = false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        layers wanted = rows[i];
        if (geteuid() != 0 && wanted.user != wanted.namespaces)
            continue; /* it is the namespace's */
        wanted.limits = wanted.environment = true;
        if (attempt(wanted)) return;
    }
    sandbox.on = (layers){0};
}

/* What is missing, as "a, b and c" without the "and"; "" when nothing is. */
static const char *missing_layers(void)
{
    static char text[128];
    const layers *on = &sandbox.on;
    snprintf(text, sizeof text, "%s%s%s%s%s%s", on->namespaces ? "" : ", namespaces",
             on->files ? "" : ", files of its own", on->user ? "" : ", a user of its own",
             on->limits ? "" : ", limits", on->seccomp ? "" : ", seccomp",
             on->environment ? "" : ", an empty environment");
    return *text ? text + 2 : text;
}

bool sandbox_start(const options *o)
{
    sandbox.options = o;
    sandbox.on = (layers){0};
    if (o->isolation != ISOLATION_OFF && o->slow <= 1) {
        sandbox.bounds_folders = bubblewrap_knows("--size");
        find_layers();
    }
    if (!*missing_layers()) return true;
    if (o->isolation == ISOLATION_REQUIRED) {
        fprintf(stderr,
                "grader: ISOLATION=required, but this machine lacks: %s (make doctor says more)\n",
                missing_layers());
        return false;
    }
    fprintf(stderr, "grader: warning: submissions run without: %s%s\n", missing_layers(),
            o->slow > 1 ? " (under a checker)" : " (make doctor says more)");
    return true;
}

json_t *sandbox_json(void)
{
    const layers *on = &sandbox.on;
    return json_pack("{s:b, s:b, s:b, s:b, s:b, s:b}", "namespaces", on->namespaces, "files",
                     on->files, "user", on->user, "limits", on->limits, "seccomp", on->seccomp,
                     "environment", on->environment);
}

static void row(const char *name, bool on, const char *what)
{
    printf("  %-16s %-4s %s\n", name, on ? "yes" : "no", what);
}

int isolation(const options *o)
{
    if (!sandbox_start(o)) return 2;
    const layers *on = &sandbox.on;
    row("namespaces", on->namespaces, "own mounts, processes and network (bubblewrap)");
    row("files", on->files,
        on->namespaces || !on->files ? "only those that it needs"
                                     : "only those that it needs (Landlock)");
    row("user", on->user, "a user id, or user namespace, of its own");
    row("limits", on->limits, "on time, memory, processes and files");
    row("seccomp", on->seccomp, "a worker's system calls are filtered");
    row("environment", on->environment, "of a few variables");
    return 0;
}
