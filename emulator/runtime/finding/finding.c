/*
 * finding.c: a finding as one line.
 *
 *     KIND: what happened, to which memory: FILE:LINE, kernel K, block (x,y,z), thread (x,y,z),
 *     address A, N times
 */
#include "finding.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[FINDING_KINDS] = {
    [FINDING_OUT_OF_BOUNDS] = "out of bounds",
    [FINDING_MISALIGNED] = "misaligned access",
    [FINDING_RACE] = "race",
    [FINDING_UNINITIALISED] = "uninitialised read",
    [FINDING_DIVERGENT_BARRIER] = "divergent barrier",
    [FINDING_DEADLOCK] = "deadlock",
    [FINDING_ENDLESS_LOOP] = "endless loop",
    [FINDING_TRAP] = "trap",
    [FINDING_UNSUPPORTED] = "unsupported",
    [FINDING_ASSERT] = "failed assert",
    [FINDING_FREED] = "use after free",
    [FINDING_BAD_FREE] = "bad free",
    [FINDING_MISSING_SYNCWARP] = "missing __syncwarp",
    [FINDING_INACTIVE_LANE] = "inactive lane",
    [FINDING_EARLY_RETURN] = "early return",
    [FINDING_STREAM_RACE] = "stream race",
    [FINDING_DESCRIPTOR] = "wrong descriptor",
    [FINDING_MISUSE] = "misuse",
    [FINDING_FREED_EARLY] = "freed too early",
    [FINDING_UNCHECKED_ERROR] = "unchecked error",
    [FINDING_LEAK] = "leak",
};

const char *finding_name(const device_finding *f)
{
    if (f->relation == RELATION_HOST) return "host pointer";
    if (f->relation == RELATION_NULL) return "null pointer";
    if (f->kind == FINDING_BAD_FREE && f->relation == RELATION_FREED) return "double free";
    return (unsigned)f->kind < FINDING_KINDS ? names[f->kind] : "finding";
}

void finding_annotate(device_finding *f, bool is_host, const char *words)
{
    const size_t length = strlen(f->text);

    if (is_host) f->relation = RELATION_HOST;
    if (is_host) words = " but the host's: a kernel needs memory from cudaMalloc";
    snprintf(f->text + length, sizeof f->text - length, "%s", words);
}

static void strip_folders(char *file)
{
    const char *name = base_name(file);

    memmove(file, name, strlen(name) + 1);
}

void finding_strip_folders(device_finding *f)
{
    strip_folders(f->file);
    strip_folders(f->inlined_file);
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

void finding_line(const device_finding *f, char *line, size_t size)
{
    char place[640], address[48] = "", times[32] = "";

    describe_place(f, place, sizeof place);
    if (f->address)
        snprintf(address, sizeof address, ", address 0x%llx", (unsigned long long)f->address);
    if (f->count > 1) snprintf(times, sizeof times, ", %u times", f->count);
    if (!*f->kernel) {
        snprintf(line, size, "%s: %s%s", finding_name(f), f->text, address);
        return;
    }
    snprintf(line, size, "%s: %s: %skernel %s, block (%u,%u,%u), thread (%u,%u,%u)%s%s",
             finding_name(f), f->text, place, f->kernel, f->block[0], f->block[1], f->block[2],
             f->thread[0], f->thread[1], f->thread[2], address, times);
}
