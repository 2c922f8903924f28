/*
 * report.c: the reports of a launch. Findings become one line each on stderr (finding.c), or go
 * to the hook of softgpu.h as they are; the kernels' printf goes through the program's own stdout,
 * in order with its printf.
 *
 * On stderr one finding of one line of one kernel is printed for a few launches; how often it came
 * back after that is said at exit. The hook gets all of them.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include "softgpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static softgpu_finding_hook *hook;
static void *hook_context;
static bool fatal_seen;

void softgpu_on_finding(softgpu_finding_hook *new_hook, void *context)
{
    hook = new_hook;
    hook_context = context;
}

/* ---- the same again -------------------------------------------------------------------------- */

enum { SEEN = 256, OFTEN = 3 };

/** What was said before, in this or an earlier launch: all of the line that does not vary. */
static struct seen {
    char text[480];
    uint32_t times;
} seen[SEEN];
static int seen_count;

static bool is_old_news(const char *text)
{
    int i = 0;

    while (i < seen_count && strncmp(seen[i].text, text, sizeof seen->text - 1) != 0) i++;
    if (i == SEEN) return false;
    if (i == seen_count) snprintf(seen[seen_count++].text, sizeof seen->text, "%.479s", text);
    return ++seen[i].times > OFTEN;
}

static void report_repeated(void)
{
    for (int i = 0; i < seen_count; i++) {
        const struct seen *s = &seen[i];
        if (s->times > OFTEN)
            fprintf(stderr, "softgpu: %s, again %u times\n", s->text, s->times - OFTEN);
    }
}

/* ---- one line -------------------------------------------------------------------------------- */

static void call_hook(void *finding)
{
    finding_strip_folders(finding);
    hook(finding, hook_context);
}

/** @param news what does not vary of it; NULL: the line */
static void deliver(device_finding *f, const char *news)
{
    char line[2000];

    error_is_said();
    finding_line(f, line, sizeof line);
    if (hook)
        runtime_call_back(call_hook, f);
    else if (!is_old_news(news ? news : line))
        fprintf(stderr, "softgpu: %s\n", line);
}

void report_host(enum check check, device_finding_kind kind, device_relation relation,
                 const char *format, ...)
{
    device_finding f = {.kind = kind, .count = 1, .relation = relation};
    va_list list;

    if (check_level(check) == CHECK_OFF) return;
    if (check_level(check) == CHECK_FATAL) fatal_seen = true;
    va_start(list, format);
    vsnprintf(f.text, sizeof f.text, format, list);
    va_end(list);
    deliver(&f, NULL);
}

/* ---- what the runtime knows and the device does not ------------------------------------------ */

/** Does the host have memory there? */
static bool is_host_memory(device_address address)
{
    uintptr_t page = (uintptr_t)address & ~(uintptr_t)4095;
    unsigned char resident;

    return mincore((void *)page, 1, &resident) == 0;
}

static bool is_host_pointer(const device_finding *f)
{
    return f->relation == RELATION_ALIEN && is_host_memory(f->address);
}

/* ---- after a launch, and at the end ---------------------------------------------------------- */

static void forward_output(void)
{
    char text[4096];
    size_t bytes;

    while ((bytes = device_take_output(runtime.device, text, sizeof text)))
        fwrite(text, 1, bytes, stdout);
}

/** Words for the allocation, and for the call that asked for the copy. */
static void describe(const device_finding *f, bool is_copy, char *words, size_t size)
{
    const struct trace here = is_copy ? trace_here() : (struct trace){0};

    words[0] = '\0';
    if (f->base) allocation_describe(f->base, f->bytes, words, size);
    const size_t used = strlen(words);
    if (used) snprintf(words + used, size - used, ", copied");
    if (is_copy) trace_place(&here, NULL, words + strlen(words), size - strlen(words));
    if (!is_copy) words[used] = '\0';
}

bool report_work(bool is_copy)
{
    device_finding finding;
    char news[900], words[700];
    bool fatal = false;

    forward_output();
    while (device_take_finding(runtime.device, &finding)) {
        bool is_host = is_host_pointer(&finding);
        if (check_level(check_of(finding.kind)) == CHECK_FATAL) fatal = fatal_seen = true;
        describe(&finding, is_copy, words, sizeof words);
        if (device_annotate(runtime.device, is_host, words)) continue;
        finding_annotate(&finding, is_host, words);
        snprintf(news, sizeof news, "%s: %s:%u, kernel %s%s", finding_name(&finding),
                 shorten(finding.file), finding.line, finding.kernel, is_copy ? words : "");
        deliver(&finding, news);
    }
    return fatal;
}

/** Runs after the program's own exit handlers and destructors, which may free device memory. */
static void at_exit(int status, void *argument)
{
    (void)argument;
    error_report_unasked();
    report_repeated();
    if (runtime.owner == getpid() && check_level(CHECK_LEAKS) != CHECK_OFF) {
        runtime_lock();
        allocations_report_leaks();
        runtime_unlock();
    }
    if (!fatal_seen || status) return;
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

__attribute__((constructor)) static void prepare(void)
{
    on_exit(at_exit, NULL);
}
