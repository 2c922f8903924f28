/*
 * device_report.c: what softgpu's device says of a call, and what follows from it. Findings of
 * kernels come from the device; the worker adds those of host code, which only its runtime sees. A
 * call whose results are on the device must have made them there.
 */
#include "buffers.h"

#include <stdio.h>
#include <string.h>

#define PRINTED_MAX 4096 /* bytes */

/* ---- findings -------------------------------------------------------------------------------- */

/* Where the name of a file begins that ends at `end`, and where its folder does. */
static const char *find_name(const char *line, const char *end, const char **folder)
{
    const char *name = end;
    for (*folder = end; *folder > line && (*folder)[-1] != ' ';) --*folder;
    while (name > *folder && name[-1] != '/') name--;
    return name;
}

/* The student knows the files, not the folders that they were compiled in: x/y/206_a.cu:13 ->
 * 206_a.cu:13. */
static void copy_without_folders(char *to, size_t bytes, const char *line)
{
    size_t used = 0;
    for (const char *end, *folder; used < bytes && (end = strstr(line, ".cu:")); line = end + 4) {
        const char *name = find_name(line, end, &folder);
        used += (size_t)snprintf(to + used, bytes - used, "%.*s%.*s", (int)(folder - line), line,
                                 (int)(end + 4 - name), name);
    }
    if (used < bytes) snprintf(to + used, bytes - used, "%s", line);
}

static unsigned kept_of(unsigned count)
{
    return count < WIRE_FINDINGS ? count : WIRE_FINDINGS;
}

void device_report_findings(const remote_account *a, wire_reply *reply)
{
    const wire_reply said = *reply;
    const unsigned kept = kept_of(a->finding_count);
    for (unsigned i = 0; i < kept; i++) {
        copy_without_folders(reply->findings[i].line, sizeof reply->findings[i].line, a->line[i]);
    }
    for (unsigned i = 0; kept + i < kept_of(kept + said.finding_count); i++) {
        copy_without_folders(reply->findings[kept + i].line, sizeof reply->findings[i].line,
                             said.findings[i].line);
    }
    reply->finding_count = a->finding_count + kept_of(said.finding_count);
}

/* ---- where the work was done ----------------------------------------------------------------- */

bool device_report_is_good(ongoing *c, const remote_account *a, bool has_results)
{
    const device_counts *n = &a->counts;
    const char *function = c->request->function;
    const bool worked = a->launches + n->fills.count + n->on_device.count > 0;
    if (a->faults > 0)
        return call_fails(c, "%s: a kernel failed, and the process that holds the code denies it",
                          function);
    if (!has_results) return true;
    if (!worked && a->round_trips > 0)
        return call_fails(c,
                          "%s: no kernel ran: %llu bytes went to the host and %llu came back. Its "
                          "work belongs on the device",
                          function, (unsigned long long)n->to_host.bytes,
                          (unsigned long long)n->to_device.bytes);
    if (c->request->host_copies) return true;
    if (n->to_host.bytes > 0)
        return call_fails(c,
                          "%s: data went to the host (%llu bytes), and its results are on the "
                          "device: what is in between belongs into a kernel",
                          function, (unsigned long long)n->to_host.bytes);
    if (a->printed > PRINTED_MAX)
        return call_fails(
            c, "%s: its kernels printed %llu bytes: more than %d are no message any more", function,
            (unsigned long long)a->printed, PRINTED_MAX);
    if (a->shares)
        return call_fails(
            c,
            "%s: used memory that host and device share (managed or pinned): its work "
            "belongs into kernels, on memory of the device",
            function);
    return true;
}
