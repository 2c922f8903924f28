/*
 * call.c: one call into the worker: place, prepare, run, fetch, take back. The request holds
 * everything that the call depends on, the outcome everything that it produced; nothing else is
 * read or written.
 */
#include "buffers.h"
#include "supervisor.h"

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

/* The first of those that end a launch: a race before it may be but its consequence. */
static uint32_t decisive(const wire_reply *reply)
{
    for (uint32_t i = 0; i < reply->finding_count && i < WIRE_FINDINGS; i++) {
        if (finding_is_fatal(reply->findings[i].kind)) return i;
    }
    return 0;
}

/* What ends a launch fails the call. */
static bool finding_fails(ongoing *c, const wire_reply *reply)
{
    char line[2000];
    const uint32_t at = decisive(reply);
    const device_finding *f = &reply->findings[at];
    const uint32_t number = c->outcome->finding_count - reply->finding_count + at + 1;
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
        char bytes[32] = "just";
        if (reply->distance > 0)
            snprintf(bytes, sizeof bytes, "%llu bytes", (unsigned long long)reply->distance);
        snprintf(where, sizeof where, ", %s past the end of `%s`", bytes, reply->past);
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
    const bool stubbed = reply->status == WIRE_NOT_IMPLEMENTED; /* what was found comes of that */
    if (reply->status != WIRE_OK && !stubbed && reply->finding_count > 0)
        return finding_fails(c, reply);
    switch (reply->status) {
    case WIRE_OK: return true;
    case WIRE_NO_FUNCTION:
        return call_fails(c, FAILURE_NO_FUNCTION, "the file does not define %s", function);
    case WIRE_NOT_IMPLEMENTED:
        return call_fails(c, FAILURE_STUB, "%s is not implemented yet", reply->text);
    case WIRE_CUDA_ERROR: return call_fails(c, FAILURE_CUDA, "%s: %s", function, reply->text);
    case WIRE_MEDDLED: return call_fails(c, FAILURE_CALL, "%s %s", function, reply->text);
    case WIRE_CRASHED: return crash_fails(c, reply);
    case WIRE_EXCEPTION: return call_fails(c, FAILURE_CRASH, "%s raised %s", function, reply->text);
    case WIRE_NO_MEMORY:
        return call_fails(c, c->request->place & ON_CPU ? FAILURE_CALL : FAILURE_CUDA,
                          "%s: no memory for its buffers: %s", function, reply->text);
    default:
        return call_fails(c, FAILURE_CALL, "%s: the worker's answer %u has no meaning", function,
                          reply->status);
    }
}

/* With the line of the kernel, where one still runs. */
static bool deadline_fails(ongoing *c, double deadline)
{
    char line[2000] = "";
    device_process *d = worker_device(c->worker);
    if (d) device_process_interrupt(d);
    const remote_account *a = d ? device_process_report(d) : NULL;
    for (uint32_t i = 0; a && i < a->finding_count && i < REMOTE_FINDINGS; i++) {
        if (a->findings[i].kind == FINDING_ENDLESS_LOOP)
            finding_line(&a->findings[i], line, sizeof line);
    }
    c->outcome->is_hopeless = true;
    return call_fails(c, FAILURE_DEADLINE, "%s did not return within %.0f s%s%s",
                      c->request->function, deadline, *line ? ": " : "", line);
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
    c->outcome->interrupted = c->outcome->is_hopeless = outcome == EXCHANGE_KILLED;
    if (outcome == EXCHANGE_DEADLINE) return deadline_fails(c, deadline);
    return call_fails(c, FAILURE_CRASH, "%s did not return: %s", function,
                      worker_exit_reason(c->worker));
}

/* ---- what is known of it --------------------------------------------------------------------- */

/* On a device, threads of its driver come and go; here all are the student's. */
static bool left_nothing(ongoing *c)
{
    const int left = c->request->place & ON_CPU ? worker_leftovers(c->worker) : 0;
    if (left == 0) return true;
    c->outcome->worker_is_spent = true;
    return call_fails(c, FAILURE_CALL, "%s left %d thread%s running", c->request->function, left,
                      left == 1 ? "" : "s");
}

/* On the CPU the time is what the kernel says that the worker's threads worked, or what its clock
 * showed less its waiting for a core, whichever is larger: neither other programs nor threads of
 * its own change that. By the wall clock it is what the grader's shows. On a GPU it is what the
 * worker's events show: no more than the grader's clock, and speed.c looks at how much less. */
static bool take_time(ongoing *c, const wire_reply *reply, const core_usage *before)
{
    call_outcome *o = c->outcome;
    const core_usage after = worker_used(c->worker);
    if (!(reply->seconds > 0 && reply->seconds <= o->wall + CLOCK_SLACK))
        return call_fails(c, FAILURE_CALL,
                          "%s: the worker claims %.6f s, the grader measured %.6f s",
                          c->request->function, reply->seconds, o->wall);
    o->worked = after.worked - before->worked;
    o->waited = after.waited - before->waited;
    o->overhead = o->wall - reply->seconds;
    if (!(c->request->place & ON_CPU)) return true;
    if (c->request->wall_clock) {
        o->seconds = o->wall;
        o->overhead = 0.0;
        return true;
    }
    o->seconds = fmax(o->worked, reply->seconds - o->waited);
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

/* Texts of the worker's end where they must; what was not asked for was not refused. */
static void take_calls(ongoing *c, const wire_reply *reply)
{
    wire_calls *n = &c->outcome->calls;
    *n = reply->calls;
    for (int i = 0; i < DEEDS; i++) n->deeds[i].first[DEED_NAME - 1] = '\0';
    n->refused[c->request->refuse_at ? DEED_NAME - 1 : 0] = n->refusal[DEED_NAME - 1] = '\0';
}

bool call_did_without(const call_request *r, const call_outcome *o)
{
    return o->returned.i == 0 && !r->without_kernels &&
           strcmp(o->calls.refusal, "cudaErrorNotSupported") == 0;
}

/* What the worker says of kernels is what their device says. */
static bool take_report(ongoing *c, wire_reply *reply)
{
    call_outcome *o = c->outcome;
    device_process *d = worker_device(c->worker);
    o->kept = reply->copies.kept;
    take_calls(c, reply);
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
    o->kept = (long long)(a->counts.allocated.bytes - a->counts.freed.bytes);
    o->output = device_process_printed(d);
    if (!c->request->counted) o->counts.launches = a->launches;
    if (reply->status != WIRE_OK || (*o->calls.refused && !call_did_without(c->request, o)))
        return true;
    return device_report_is_good(c, a, has_results(c));
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* What worker functions get is a struct, which has an alignment of its own. */
static void misalign(const argument *a, wire_argument *w)
{
    if (w->kind != WIRE_BUFFER || w->before != 0 || w->opaque) return;
    w->before = a->element == ELEMENT_BYTE ? sizeof(float) : element_bytes(a->element);
}

static bool is_alone(const call_request *r, int i)
{
    return r->alone && strcmp(r->function, r->alone_in) == 0 &&
           strcmp(r->arguments[i].wire.name, r->alone) == 0;
}

static bool begin(ongoing *c)
{
    const call_request *r = c->request;
    c->wire = (wire_call){.returns = r->returns,
                          .return_handle = (uint32_t)r->handle,
                          .wanted = r->wanted,
                          .count = (uint32_t)r->count,
                          .relocate = r->relocate,
                          .timed = r->timed,
                          .from_idle = r->timed && r->from_idle,
                          .refuse_at = r->refuse_at,
                          .without_kernels = r->without_kernels,
                          .repeats = 1};
    snprintf(c->wire.function, sizeof c->wire.function, "%s", r->function);
    if (r->count > WIRE_ARGUMENTS)
        return call_fails(c, FAILURE_CALL, "too many arguments for %s", r->function);
    for (int i = 0; i < r->count; i++) {
        c->wire.arguments[i] = r->arguments[i].wire;
        if (r->place & ON_CPU) c->wire.arguments[i].space = WIRE_HOST;
        if (r->misaligned || is_alone(r, i)) misalign(&r->arguments[i], &c->wire.arguments[i]);
    }
    return true;
}

static bool place_buffers(ongoing *c)
{
    return place_file(c) && shared_buffers.place(c) && device_buffers.place(c);
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
static bool perform(worker *w, const call_request *request, call_outcome *outcome)
{
    ongoing c = {.worker = w, .request = request, .outcome = outcome};
    *outcome = (call_outcome){0};
    if (!begin(&c) || !place_buffers(&c)) return false;
    const core_usage idle = request->timed ? worker_used(w) : (core_usage){0};
    if (!prepare(&c) || !run(&c)) return false;
    if (request->is_baseline && !(request->place & ON_CPU)) return true;
    if (*outcome->calls.refused && request->returns == WIRE_RETURN_CUDA &&
        !call_did_without(request, outcome))
        return true;
    if (!fetch(&c)) return false;
    const double during = request->wall_clock ? outcome->worked : outcome->seconds;
    if (request->timed) outcome->overhead_cpu = worker_used(w).worked - idle.worked - during;
    return request->is_baseline || take_buffers_back(&c);
}

bool call_perform(worker *w, const call_request *request, call_outcome *outcome)
{
    const bool well = perform(w, request, outcome);
    const device_process *d = worker_device(w);
    if (!well && d && device_process_killed(d)) {
        outcome->interrupted = outcome->is_hopeless = true;
    }
    return well;
}
