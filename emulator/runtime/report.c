/*
 * report.c: what a launch has to say. Findings become one line each, on stderr or to the hook of
 * softgpu.h; the kernels' printf goes through the program's own stdout, in order with its printf.
 *
 *     KIND: what happened, to which memory: FILE:LINE, kernel K, block (x,y,z), thread (x,y,z),
 *     address A, N times
 *
 * On stderr one finding of one line of one kernel is printed for a few launches; how often it came
 * back after that is said at exit. The hook gets all of them.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include "../softgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** What a finding is called, and by which check it is switched. */
static const struct kind {
    const char *name;
    enum check check;
} kinds[FINDING_KINDS] = {
    [FINDING_OUT_OF_BOUNDS] = {"out of bounds", CHECK_FAULTS},
    [FINDING_MISALIGNED] = {"misaligned access", CHECK_FAULTS},
    [FINDING_RACE] = {"race", CHECK_RACES},
    [FINDING_UNINITIALISED] = {"uninitialised read", CHECK_UNINITIALISED},
    [FINDING_DIVERGENT_BARRIER] = {"divergent barrier", CHECK_BARRIERS},
    [FINDING_DEADLOCK] = {"deadlock", CHECK_FAULTS},
    [FINDING_ENDLESS_LOOP] = {"endless loop", CHECK_FAULTS},
    [FINDING_TRAP] = {"trap", CHECK_FAULTS},
    [FINDING_UNSUPPORTED] = {"unsupported", CHECK_FAULTS},
    [FINDING_ASSERT] = {"failed assert", CHECK_FAULTS},
    [FINDING_FREED] = {"use after free", CHECK_FAULTS},
    [FINDING_BAD_FREE] = {"bad free", CHECK_FAULTS},
    [FINDING_MISSING_SYNCWARP] = {"missing __syncwarp", CHECK_RACES},
    [FINDING_INACTIVE_LANE] = {"inactive lane", CHECK_LANES},
    [FINDING_EARLY_RETURN] = {"early return", CHECK_LINT},
};

static softgpu_finding_hook *hook;
static void *hook_context;
static bool fatal_seen;

void softgpu_on_finding(softgpu_finding_hook *new_hook, void *context)
{
    hook = new_hook;
    hook_context = context;
}

const char *shorten(const char *file)
{
    char here[4096];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

    if (!length || strncmp(file, here, length) != 0 || file[length] != '/') return file;
    return file + length + 1;
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

    if (hook) return false;
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

static void call_hook(void *line)
{
    hook(line, hook_context);
}

static void deliver(const char *line)
{
    if (hook)
        runtime_call_back(call_hook, (void *)line);
    else
        fprintf(stderr, "softgpu: %s\n", line);
}

void report_line(enum check check, const char *line)
{
    if (check_level(check) == CHECK_OFF) return;
    if (check_level(check) == CHECK_FATAL) fatal_seen = true;
    if (!is_old_news(line)) deliver(line);
}

/* ---- the line of a finding ------------------------------------------------------------------- */

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

static const char *name_of(const device_finding *f)
{
    if (is_host_pointer(f)) return "host pointer";
    if (f->relation == RELATION_NULL) return "null pointer";
    if (f->kind == FINDING_BAD_FREE && f->relation == RELATION_FREED) return "double free";
    return kinds[f->kind].name;
}

/** What the runtime knows and the device does not. */
static void describe_memory(const device_finding *f, char *text, size_t size)
{
    text[0] = '\0';
    if (f->base) allocation_describe(f->base, f->bytes, text, size);
    if (is_host_pointer(f))
        snprintf(text, size, " but the host's: a kernel wants what cudaMalloc gave");
}

static void describe_place(const device_finding *f, char *text, size_t size)
{
    char outer[300] = "";

    text[0] = '\0';
    if (*f->inlined_file)
        snprintf(outer, sizeof outer, "inlined at %s:%u, ", shorten(f->inlined_file),
                 f->inlined_line);
    if (*f->file) snprintf(text, size, "%s:%u, %s", shorten(f->file), f->line, outer);
}

/** Everything that a finding's line can say. */
static void describe(const device_finding *f, char *line, size_t size)
{
    char place[640], memory[700], address[48] = "", times[32] = "";

    describe_memory(f, memory, sizeof memory);
    describe_place(f, place, sizeof place);
    if (f->address)
        snprintf(address, sizeof address, ", address 0x%llx", (unsigned long long)f->address);
    if (f->count > 1) snprintf(times, sizeof times, ", %u times", f->count);
    snprintf(line, size, "%s: %s%s: %skernel %s, block (%u,%u,%u), thread (%u,%u,%u)%s%s",
             name_of(f), f->text, memory, place, f->kernel, f->block[0], f->block[1], f->block[2],
             f->thread[0], f->thread[1], f->thread[2], address, times);
}

/* ---- after a launch, and at the end ---------------------------------------------------------- */

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
    char line[2000];
    bool fatal = false;

    forward_output();
    while (device_take_finding(runtime.device, &finding)) {
        enum check_level level = check_level(kinds[finding.kind].check);
        if (level == CHECK_FATAL) fatal = fatal_seen = true;
        snprintf(line, sizeof line, "%s: %s:%u, kernel %s", name_of(&finding),
                 shorten(finding.file), finding.line, finding.kernel);
        if (is_old_news(line)) continue;
        describe(&finding, line, sizeof line);
        deliver(line);
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
