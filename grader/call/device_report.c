/*
 * device_report.c: the report of softgpu's device about a call, and the conclusions from it.
 * Findings of kernels come from the device; the worker adds those of host code, which only its
 * runtime sees. A call whose results are on the device must have made them there.
 */
#include "buffers.h"

#define PRINTED_MAX 4096 /* bytes */

/* ---- findings -------------------------------------------------------------------------------- */

failure failure_of(const device_finding *f)
{
    switch (f->kind) {
    case FINDING_OUT_OF_BOUNDS: return FAILURE_OUT_OF_BOUNDS;
    case FINDING_MISALIGNED: return FAILURE_MISALIGNED;
    case FINDING_MISSING_SYNCWARP: return FAILURE_NO_BARRIER;
    case FINDING_RACE:
    case FINDING_STREAM_RACE: return FAILURE_RACE;
    case FINDING_UNINITIALISED: return FAILURE_UNWRITTEN;
    case FINDING_DEADLOCK: return FAILURE_DEADLOCK;
    case FINDING_UNCHECKED_ERROR: return FAILURE_CUDA;
    default: return FAILURE_CALL;
    }
}

static unsigned kept_of(unsigned count)
{
    return count < WIRE_FINDINGS ? count : WIRE_FINDINGS;
}

void device_report_findings(const remote_account *a, wire_reply *reply)
{
    const wire_reply said = *reply;
    const unsigned kept = kept_of(a->finding_count);
    for (unsigned i = 0; i < kept; i++) reply->findings[i] = a->findings[i];
    for (unsigned i = 0; kept + i < kept_of(kept + said.finding_count); i++)
        reply->findings[kept + i] = said.findings[i];
    reply->finding_count = a->finding_count + kept_of(said.finding_count);
}

/* ---- where the work was done ----------------------------------------------------------------- */

bool device_report_is_good(ongoing *c, const remote_account *a, bool has_results)
{
    const device_counts *n = &a->counts;
    const char *function = c->request->function;
    const bool worked = a->launches + n->fills.count + n->on_device.count > 0;
    if (a->faults > 0)
        return call_fails(
            c, FAILURE_CALL,
            "%s: a kernel failed, but the process that holds the code reports no error", function);
    if (!has_results) return true;
    if (!worked && a->round_trips > 0)
        return call_fails(c, FAILURE_CALL,
                          "%s: no kernel ran: %llu bytes went to the host and %llu came back. Its "
                          "work belongs on the device",
                          function, (unsigned long long)n->to_host.bytes,
                          (unsigned long long)n->to_device.bytes);
    if (c->request->host_copies) return true;
    if (n->to_host.bytes > 0)
        return call_fails(c, FAILURE_CALL,
                          "%s: data went to the host (%llu bytes), and its results are on the "
                          "device: the work in between belongs in a kernel",
                          function, (unsigned long long)n->to_host.bytes);
    if (a->printed > PRINTED_MAX)
        return call_fails(c, FAILURE_CALL,
                          "%s: its kernels printed %llu bytes: more than %d are not allowed",
                          function, (unsigned long long)a->printed, PRINTED_MAX);
    if (a->shares)
        return call_fails(c, FAILURE_CALL,
                          "%s: used memory that host and device share (managed or pinned): its "
                          "work belongs in kernels, on device memory",
                          function);
    return true;
}
