/*
 * report.c: what a launch has to say. Findings become one line each, on stderr or to the hook of
 * softgpu.h; the kernels' printf goes through the program's own stdout, in order with its printf.
 */
#include "runtime.h"

#include "../softgpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static softgpu_finding_hook *hook;
static void *hook_context;

void softgpu_on_finding(softgpu_finding_hook *new_hook, void *context)
{
    hook = new_hook;
    hook_context = context;
}

/** @return the file as the reader would name it: from the working directory, if it lies below. */
static const char *shorten(const char *file)
{
    char here[4096];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

    if (!length || strncmp(file, here, length) != 0 || file[length] != '/') return file;
    return file + length + 1;
}

static void deliver(const char *line)
{
    if (hook)
        hook(line, hook_context);
    else
        fprintf(stderr, "softgpu: %s\n", line);
}

static void describe(const device_finding *f, char *line, size_t size)
{
    char place[300] = "", times[32] = "";

    if (*f->file) snprintf(place, sizeof place, "%s:%u, ", shorten(f->file), f->line);
    if (f->count > 1) snprintf(times, sizeof times, ", %u times", f->count);
    snprintf(line, size, "%s: %skernel %s, block (%u,%u,%u), thread (%u,%u,%u)%s", f->text, place,
             f->kernel, f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1],
             f->thread[2], times);
}

static void forward_output(void)
{
    char text[4096];
    size_t bytes;

    while ((bytes = device_take_output(runtime.device, text, sizeof text)))
        fwrite(text, 1, bytes, stdout);
}

bool report_launch(void)
{
    device_finding finding;
    char line[1200];
    bool assertion = false;

    forward_output();
    while (device_take_finding(runtime.device, &finding)) {
        describe(&finding, line, sizeof line);
        deliver(line);
        if (finding.kind == FINDING_TRAP && strstr(finding.text, "ssert")) assertion = true;
    }
    return assertion;
}
