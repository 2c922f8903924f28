/*
 * call.c: one call into the worker: place, prepare, run, fetch, take back. The request says all
 * that the call depends on, the outcome all that came of it; nothing else is read or written.
 */
#include "buffers.h"
#include "runtime/core/finding.h"

#include "timer.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define CLOCK_SLACK 0.002 /* seconds by which two clocks may differ */
#define PATIENCE    60.0  /* seconds for what is no student's work */

bool call_fails(ongoing *c, failure failure, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->outcome->message, sizeof c->outcome->message, format, arguments);
    va_end(arguments);
    c->outcome->failed = true;
    c->outcome->failure = failure;
    return false;
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/* What ends a launch fails the call. */
static bool finding_fails(ongoing *c, const wire_reply *reply)
{
    char line[2000];
    const device_finding *f = &reply->findings[0];
    const uint32_t number = c->outcome->finding_count - reply->finding_count + 1;
    finding_line(f, line, sizeof line);
    c->outcome->cause = f->cause;
    c->outcome->culprit = number <= WIRE_FINDINGS ? number : 0;
    return call_fails(c, failure_of(f), "%s: %s%s", c->request->function, line,
                      reply->finding_count > 1 ? " (and more)" : "");
}

static bool crash_fails(ongoing *c, const wire_reply *reply)
{
    char where[96] = "";
    if (*reply->past) {
        c->outcome->cause = CAUSE_CRASHED_PAST_END;
        snprintf(where, sizeof where, ", %llu bytes past the end of `%s`",
                 (unsigned long long)reply->distance, reply->past);
    }
    return call_fails(c, FAILURE_CRASH, "%s crashed: %s%s", c->request->function, reply->text,
                      where);
}

static void keep_findings(ongoing *c, const wire_reply *reply)
{
    call_outcome *o = c->outcome;
    for (uint32_t i = 0; i < reply->finding_count && i < WIRE_FINDINGS; i++) {
        const uint32_t at = o->finding_count + i;
        if (at < WIRE_FINDINGS) o->findings[at] = reply->findings[i];
    }
    o->finding_count += reply->finding_count;
}

static bool reply_is_good(ongoing *c, const wire_reply *reply)
{
    const char *function = c->request->function;
    if (reply->sticky || reply->status == WIRE_CRASHED) c->outcome->worker_is_spent = true;
    keep_findings(c, reply);
    if (reply->status != WIRE_OK && reply->finding_count > 0) return finding_fails(c, reply);
    switch (reply->status) {
    case WIRE_OK: return true;
    case WIRE_NO_FUNCTION:
        return call_fails(c, FAILURE_NO_FUNCTION, "the file does not define %s", function);
    case WIRE_NOT_IMPLEMENTED:
        return call_fails(c, FAILURE_STUB, "%s is not implemented yet", reply->text);
    case WIRE_CUDA_ERROR: return call_fails(c, FAILURE_CUDA, "%s: %s", function, reply->text);
    case WIRE_MEDDLED: return call_fails(c, FAILURE_CALL, "%s %s", function, reply->text);
    case WIRE_CRASHED: return crash_fails(c, reply);
    case WIRE_NO_MEMORY:
        return call_fails(c, c->request->place == ON_HOST ? FAILURE_CALL : FAILURE_CUDA,
                          "%s: no memory for its buffers: %s", function, reply->text);
    default:
        return call_fails(c, FAILURE_CALL, "%s: the worker's answer %u means nothing", function,
                          reply->status);
    }
}

/* @return whether there is a reply */
static bool ask(ongoing *c, wire_verb verb, wire_reply *reply, double deadline)
{
    const char *function = c->request->function;
    c->wire.verb = verb;
    if (getrandom(&c->wire.nonce, sizeof c->wire.nonce, 0) < 0) c->wire.nonce++;
    const exchange outcome = worker_exchange(c->worker, &c->wire, reply, deadline);
    if (outcome == EXCHANGE_OK) {
        if (reply->status != WIRE_CRASHED || verb == WIRE_RUN) return true;
        return reply_is_good(c, reply);
    }
    c->outcome->worker_is_spent = true;
    if (outcome == EXCHANGE_DEADLINE) {
        c->outcome->is_hopeless = true;
        return call_fails(c, FAILURE_DEADLINE, "%s did not return within %.0f s", function,
                          deadline);
    }
    return call_fails(c, FAILURE_CRASH, "%s did not return: %s", function,
                      worker_exit_reason(c->worker));
}

/* ---- what is known of it --------------------------------------------------------------------- */

/* On a device, threads of its driver come and go; here all are the student's. */
static bool left_nothing(ongoing *c)
{
    const int left = c->request->place == ON_HOST ? worker_leftovers(c->worker) : 0;
    if (left == 0) return true;
    c->outcome->worker_is_spent = true;
    return call_fails(c, FAILURE_CALL, "%s left %d thread%s running", c->request->function, left,
                      left == 1 ? "" : "s");
}

/* On the CPU the time is what the kernel says that the worker's threads worked, or what its clock
 * showed less its waiting for a core, whichever is larger: neither other programs nor threads of
 * its own change that. On a GPU it is what the worker's events show. Either may show no more than
 * the grader's clock saw; speed.c looks at how much less it is. */
static bool take_time(ongoing *c, const wire_reply *reply, const core_usage *before)
{
    call_outcome *o = c->outcome;
    const core_usage after = worker_used(c->worker);
    const double worked = after.worked - before->worked;
    if (!(reply->seconds > 0 && reply->seconds <= o->wall + CLOCK_SLACK))
        return call_fails(c, FAILURE_CALL,
                          "%s: the worker claims %.6f s, the grader measured %.6f s",
                          c->request->function, reply->seconds, o->wall);
    o->waited = after.waited - before->waited;
    o->overhead = o->wall - reply->seconds;
    if (c->request->place != ON_HOST) return true;
    o->seconds = fmax(worked, reply->seconds - o->waited);
    o->overhead = o->wall - o->waited - o->seconds;
    return true;
}

static bool has_results(const ongoing *c)
{
    for (uint32_t i = 0; i < c->wire.count; i++) {
        const wire_argument *w = &c->wire.arguments[i];
        if (device_buffers.have(c, w) && is_output(&c->request->arguments[i]) && w->bytes > 0)
            return true;
    }
    return false;
}

/* What the worker says of kernels is what their device says. */
static bool take_report(ongoing *c, wire_reply *reply)
{
    call_outcome *o = c->outcome;
    device_process *d = worker_device(c->worker);
    o->printed = -1;
    if (!d) return true;
    const remote_account *a = device_process_report(d);
    if (!a) {
        o->worker_is_spent = true;
        o->is_hopeless = true; /* it ended, or does not answer: the next would wait as long */
        return call_fails(c, FAILURE_CALL, "%s: the process of the software GPU ended while it ran",
                          c->request->function);
    }
    device_report_findings(a, reply);
    o->counts = a->counts;
    o->copies.count = (uint32_t)(a->counts.to_device.count + a->counts.to_host.count);
    o->copies.bytes = a->counts.to_device.bytes + a->counts.to_host.bytes;
    o->printed = (long long)a->printed;
    if (!c->request->counted) o->counts.launches = a->launches;
    return reply->status != WIRE_OK || device_report_is_good(c, a, has_results(c));
}

/* ---- the steps ------------------------------------------------------------------------------- */

static bool begin(ongoing *c)
{
    const call_request *r = c->request;
    c->wire = (wire_call){.returns = r->returns,
                          .return_handle = (uint32_t)r->handle,
                          .count = (uint32_t)r->count,
                          .relocate = r->relocate,
                          .timed = r->timed,
                          .from_idle = r->timed && r->from_idle,
                          .repeats = 1};
    snprintf(c->wire.function, sizeof c->wire.function, "%s", r->function);
    if (r->count > WIRE_ARGUMENTS)
        return call_fails(c, FAILURE_CALL, "too many arguments for %s", r->function);
    for (int i = 0; i < r->count; i++) {
        c->wire.arguments[i] = r->arguments[i].wire;
        if (r->place == ON_HOST) c->wire.arguments[i].space = WIRE_HOST;
    }
    return true;
}

static bool place_buffers(ongoing *c)
{
    return shared_buffers.place(c) && device_buffers.place(c);
}

static bool prepare(ongoing *c)
{
    wire_reply reply = {0};
    return ask(c, WIRE_PREPARE, &reply, PATIENCE) && reply_is_good(c, &reply);
}

static bool run(ongoing *c)
{
    call_outcome *o = c->outcome;
    wire_reply reply = {0};
    const bool timed = c->request->timed;
    const core_usage before = timed ? worker_used(c->worker) : (core_usage){0};
    const double began = seconds_now();
    if (!ask(c, WIRE_RUN, &reply, c->request->deadline)) return false;
    o->wall = seconds_now() - began;
    o->output = worker_output(c->worker);
    o->copies = reply.copies;
    o->returned.i = reply.returned.i;
    if (!take_report(c, &reply) || !reply_is_good(c, &reply) || !left_nothing(c)) return false;
    o->seconds = reply.seconds;
    return !timed || take_time(c, &reply, &before);
}

static bool fetch(ongoing *c)
{
    wire_reply reply = {0};
    return ask(c, WIRE_FETCH, &reply, PATIENCE) && reply_is_good(c, &reply);
}

static bool take_buffers_back(ongoing *c)
{
    for (int i = 0; i < c->request->count; i++) {
        const wire_argument *w = &c->wire.arguments[i];
        const buffers *holder = device_buffers.have(c, w) ? &device_buffers : &shared_buffers;
        if (holder->have(c, w) && !holder->take_back(c, i)) return false;
    }
    return true;
}

/* A baseline's outputs are not looked at. On the CPU they are fetched all the same: what the worker
 * works beside the call is held against that of the student's. */
bool call_perform(worker *w, const call_request *request, call_outcome *outcome)
{
    ongoing c = {.worker = w, .request = request, .outcome = outcome};
    *outcome = (call_outcome){.printed = -1};
    if (!begin(&c) || !place_buffers(&c)) return false;
    const core_usage idle = request->timed ? worker_used(w) : (core_usage){0};
    if (!prepare(&c) || !run(&c)) return false;
    if (request->is_baseline && request->place != ON_HOST) return true;
    if (!fetch(&c)) return false;
    if (request->timed)
        outcome->overhead_cpu = worker_used(w).worked - idle.worked - outcome->seconds;
    return request->is_baseline || take_buffers_back(&c);
}
