/*
 * finding.c: a finding as one line. It is put together where the device is, if that is in another
 * process, so nothing here asks the runtime.
 *
 *     KIND: what happened, to which memory: FILE:LINE, kernel K, block (x,y,z), thread (x,y,z),
 *     address A, N times
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>
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
    [FINDING_STREAM_RACE] = {"stream race", CHECK_RACES},
};

enum check finding_check(const device_finding *f)
{
    return kinds[f->kind].check;
}

const char *finding_name(const device_finding *f, bool is_host)
{
    if (is_host) return "host pointer";
    if (f->relation == RELATION_NULL) return "null pointer";
    if (f->kind == FINDING_BAD_FREE && f->relation == RELATION_FREED) return "double free";
    return kinds[f->kind].name;
}

const char *shorten(const char *file)
{
    char here[4096];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;

    if (!length || strncmp(file, here, length) != 0 || file[length] != '/') return file;
    return file + length + 1;
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

void finding_line(const device_finding *f, bool is_host, const char *words, char *line, size_t size)
{
    char place[640], address[48] = "", times[32] = "";

    if (is_host) words = " but the host's: a kernel wants what cudaMalloc gave";
    describe_place(f, place, sizeof place);
    if (f->address)
        snprintf(address, sizeof address, ", address 0x%llx", (unsigned long long)f->address);
    if (f->count > 1) snprintf(times, sizeof times, ", %u times", f->count);
    if (!*f->kernel) {
        snprintf(line, size, "%s: %s%s%s", finding_name(f, is_host), f->text, words, address);
        return;
    }
    snprintf(line, size, "%s: %s%s: %skernel %s, block (%u,%u,%u), thread (%u,%u,%u)%s%s",
             finding_name(f, is_host), f->text, words, place, f->kernel, f->block[0], f->block[1],
             f->block[2], f->thread[0], f->thread[1], f->thread[2], address, times);
}
