/*
 * call.c: one call into the worker. Buffers are laid out in shared memory with canaries around them
 * and poison in the outputs; afterwards the grader, which kept its own copies, looks whether the
 * canaries and the inputs are as they were and takes the outputs.
 */
#include "correctness/correctness.h"
#include "correctness/mistakes/mistakes.h"

#include "timer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CANARY_BYTES 4096
#define CANARY       0xc7
#define CLOCK_SLACK  0.002 /* seconds by which two clocks may differ */

/* ---- images in shared memory ----------------------------------------------------------------- */

static void surround(wire_argument *w)
{
    w->against_guard = w->space == WIRE_HOST && now.against_guard && w->before == 0;
    w->before += CANARY_BYTES;
    w->after = w->against_guard ? 0 : CANARY_BYTES;
}

static size_t image_bytes(const wire_argument *w)
{
    return w->before + w->bytes + w->after;
}

/* Where it begins: what shall end before an unmapped page ends with one here already. */
static size_t start_of(const wire_argument *w, size_t end, size_t room)
{
    return w->against_guard ? end + room - image_bytes(w) : end;
}

/* On softgpu it is the grader itself that keeps buffers on the device (softdevice.c). */
static bool is_lent(const argument *a)
{
    return a->wire.kind == WIRE_BUFFER && a->wire.space == WIRE_DEVICE && worker_device(now.worker);
}

static bool is_in_shared_memory(const argument *a)
{
    return a->wire.kind == WIRE_BUFFER && !is_lent(a);
}

static void fill_image(unsigned char *image, const argument *a)
{
    const wire_argument *w = &a->wire;
    memset(image, CANARY, w->before);
    memset(image + w->before + w->bytes, CANARY, w->after);
    if (a->role == ROLE_OUT)
        parallel_fill(image + w->before, (unsigned)w->value.u, w->bytes);
    else
        parallel_copy(image + w->before, a->data, w->bytes);
}

static size_t lay_out(wire_call *call, argument *arguments, int count)
{
    size_t end = 0;
    for (int i = 0; i < count; i++) {
        wire_argument *w = &arguments[i].wire;
        if (is_in_shared_memory(&arguments[i])) {
            surround(w);
            const size_t room = (image_bytes(w) + WIRE_PAGE - 1) / WIRE_PAGE * WIRE_PAGE;
            w->at = start_of(w, end, room);
            end += room;
        }
        call->arguments[i] = *w;
    }
    return end;
}

static void check_canaries(const unsigned char *image, const wire_argument *w)
{
    const unsigned char *after = image + w->before + w->bytes;
    for (size_t i = 0; i < w->after; i++) {
        expect(after[i] == CANARY, "wrote outside of `%s`: %zu bytes past its end%s", w->name, i,
               symptom_name("wrote outside of, past its end"));
    }
    for (size_t i = 1; i <= w->before; i++) {
        expect(image[w->before - i] == CANARY, "wrote outside of `%s`: %zu bytes before its start",
               w->name, i);
    }
}

static void take_back(const unsigned char *shared, argument *a)
{
    const wire_argument *w = &a->wire;
    const unsigned char *image = shared + w->at;
    check_canaries(image, w);
    if (w->bytes == 0) return;
    if (a->role == ROLE_IN) {
        expect(parallel_equal(image + w->before, a->data, w->bytes),
               "changed its input `%s`, which is const", w->name);
    } else {
        parallel_copy(a->data, image + w->before, w->bytes);
    }
}

static void lend(wire_call *call, const char *function, argument *arguments, int count)
{
    softdevice *d = worker_device(now.worker);
    if (!d) return;
    softdevice_take_home(d, now.relocate);
    for (int i = 0; i < count; i++) {
        const argument *a = &arguments[i];
        if (!is_lent(a)) continue;
        expect(softdevice_lend(d, &call->arguments[i], a->role == ROLE_OUT ? NULL : a->data),
               "softgpu has no memory for `%s` of %s", a->wire.name, function);
    }
    softdevice_listen(d, now.counted);
}

static void take_home(const wire_argument *w, argument *a)
{
    softdevice *d = worker_device(now.worker);
    expect(softdevice_is_whole(d, w), "wrote outside of `%s`: before its start", w->name);
    if (w->bytes == 0) return;
    if (a->role == ROLE_IN)
        expect(softdevice_holds(d, w, a->data), "changed its input `%s`, which is const", w->name);
    else
        expect(softdevice_read(d, w, a->data), "softgpu ended before `%s` was read", w->name);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/* Under a checker all findings of a case are kept, each line once. */
static void keep_all(const char *function, const wire_reply *reply)
{
    for (uint32_t i = 0; i < reply->finding_count && i < WIRE_FINDINGS; i++) {
        char *line = NULL, *all = NULL;
        if (asprintf(&line, "%s: %s", function, reply->findings[i].line) < 0) return;
        const bool known = now.finding && strstr(now.finding, line);
        if (!known && asprintf(&all, "%s%s%s", now.finding ? now.finding : "",
                               now.finding ? "\n" : "", line) >= 0) {
            free(now.finding);
            now.finding = all;
        }
        free(line);
    }
}

/* What ends a launch fails the case. After anything else the outputs are judged all the same, and
 * the first finding of the case is kept for its checks. */
static void take_findings(const char *function, const wire_reply *reply)
{
    const char *more = reply->finding_count > 1 ? " (and more)" : "";
    if (reply->finding_count == 0) return;
    const char *mistake = symptom_name(reply->findings[0].line);
    if (reply->status != WIRE_OK) {
        fail("%s: %s%s%s", function, reply->findings[0].line, more, mistake);
    }
    if (now.options->slow > 0) keep_all(function, reply);
    if (now.finding) return;
    if (asprintf(&now.finding, "%s: %s%s%s", function, reply->findings[0].line, more, mistake) <
        0) {
        now.finding = NULL;
    }
}

static void check_reply(const char *function, const wire_reply *reply)
{
    if (reply->sticky || reply->status == WIRE_CRASHED) context_drop_worker();
    take_findings(function, reply);
    switch (reply->status) {
    case WIRE_OK: return;
    case WIRE_NO_FUNCTION: fail("the file does not define %s", function);
    case WIRE_NOT_IMPLEMENTED: fail("%s is not implemented yet", reply->text);
    case WIRE_CUDA_ERROR: fail("%s: %s", function, reply->text);
    case WIRE_MEDDLED: fail("%s %s", function, reply->text);
    case WIRE_CRASHED: fail("%s crashed: %s%s", function, reply->text, symptom_name(reply->text));
    case WIRE_NO_MEMORY: fail("%s: no memory for its buffers: %s", function, reply->text);
    default: fail("%s: the worker's answer %u means nothing", function, reply->status);
    }
}

static void exchange_or_fail(wire_call *call, wire_verb verb, wire_reply *reply, double deadline)
{
    char epitaph[512];
    call->verb = verb;
    if (getrandom(&call->nonce, sizeof call->nonce, 0) < 0) call->nonce++;
    exchange outcome = worker_exchange(now.worker, call, reply, deadline);
    if (outcome == EXCHANGE_OK) {
        if (reply->status != WIRE_CRASHED || verb == WIRE_RUN) return;
        check_reply(call->function, reply);
    }
    snprintf(epitaph, sizeof epitaph, "%s", worker_epitaph(now.worker));
    context_drop_worker();
    if (outcome == EXCHANGE_DEADLINE) {
        now.dead = true;
        fail("%s did not return within %.0f s", call->function, deadline);
    }
    fail("%s did not return: %s", call->function, epitaph);
}

/* On a device, threads of its driver come and go; here all are the student's. */
static void check_leftovers(const char *function)
{
    const int left = now.place == ON_HOST ? worker_leftovers(now.worker) : 0;
    if (left == 0) return;
    context_drop_worker();
    fail("%s left %d thread%s running", function, left, left == 1 ? "" : "s");
}

/* On the CPU the time is what the kernel says that the worker's threads worked, or what its clock
 * showed less its waiting for a core, whatever is more: neither other programs nor threads of its
 * own change that. On a GPU it is what the worker's events show. Either may show no more than the
 * grader's clock saw; speed.c looks at how much less it is. */
static void take_time(const char *function, const wire_reply *reply, const core_usage *before)
{
    const core_usage after = worker_used(now.worker);
    const double worked = after.worked - before->worked;
    expect(reply->seconds > 0 && reply->seconds <= now.wall + CLOCK_SLACK,
           "%s: the worker claims %.6f s, the grader measured %.6f s", function, reply->seconds,
           now.wall);
    now.waited = after.waited - before->waited;
    now.overhead = now.wall - reply->seconds;
    if (now.place != ON_HOST) return;
    now.seconds = fmax(worked, reply->seconds - now.waited);
    now.overhead = now.wall - now.waited - now.seconds;
}

/* For those who look for a pattern: a factor that is one of the sizes. */
static void take_sizes(const argument *arguments, int count)
{
    now.size_count = 0;
    for (int i = 0; i < count; i++) {
        const wire_argument *w = &arguments[i].wire;
        if (w->kind != WIRE_I32 && w->kind != WIRE_U64) continue;
        now.sizes[now.size_count++] = w->kind == WIRE_I32 ? (long)w->value.i : (long)w->value.u;
    }
}

static bool has_results(const argument *arguments, int count)
{
    for (int i = 0; i < count; i++) {
        if (is_lent(&arguments[i]) && arguments[i].role != ROLE_IN && arguments[i].wire.bytes > 0)
            return true;
    }
    return false;
}

/* What the worker says of kernels is what their device says. */
static void take_account(wire_reply *reply, const char *function, bool has_results)
{
    softdevice *d = worker_device(now.worker);
    const remote_account *a = d ? softdevice_account(d) : NULL;
    now.printed = -1;
    if (!d) return;
    if (!a) {
        context_drop_worker();
        now.dead = true; /* it ended, or does not answer: the next would wait as long */
        fail("%s: the process of the software GPU ended while it ran", function);
    }
    account_findings(a, reply);
    now.counts = a->counts;
    now.copies.count = (uint32_t)(a->counts.to_device.count + a->counts.to_host.count);
    now.copies.bytes = a->counts.to_device.bytes + a->counts.to_host.bytes;
    now.printed = (long long)a->printed;
    if (!now.counted) now.counts.launches = a->launches;
    if (reply->status == WIRE_OK) account_work(a, function, has_results);
}

static wire_reply perform(const char *function, wire_return returns, int number,
                          argument *arguments, int count)
{
    wire_call call = {.returns = returns,
                      .return_handle = (uint32_t)number,
                      .count = (uint32_t)count,
                      .relocate = now.relocate,
                      .timed = now.timed,
                      .from_idle = now.timed && now.from_idle,
                      .repeats = 1};
    wire_reply reply = {0}, fetched = {0};
    snprintf(call.function, sizeof call.function, "%s", function);
    expect(count <= WIRE_ARGUMENTS, "too many arguments for %s", function);
    take_sizes(arguments, count);
    context_need_worker();
    call.memory_bytes = lay_out(&call, arguments, count);
    unsigned char *shared = worker_memory(now.worker, call.memory_bytes);
    expect(shared || call.memory_bytes == 0, "the grader has no memory for %s", function);
    for (int i = 0; i < count; i++) {
        if (is_in_shared_memory(&arguments[i])) {
            fill_image(shared + arguments[i].wire.at, &arguments[i]);
        }
    }
    lend(&call, function, arguments, count);
    const core_usage idle = now.timed ? worker_used(now.worker) : (core_usage){0};
    exchange_or_fail(&call, WIRE_PREPARE, &reply, 60.0);
    check_reply(function, &reply);
    const core_usage before = now.timed ? worker_used(now.worker) : (core_usage){0};
    const double began = seconds_now();
    exchange_or_fail(&call, WIRE_RUN, &reply, now.deadline);
    now.wall = seconds_now() - began;
    now.output = (char *)worker_output(now.worker);
    now.copies = reply.copies;
    take_account(&reply, function, has_results(arguments, count));
    check_reply(function, &reply);
    check_leftovers(function);
    now.seconds = reply.seconds;
    if (now.timed) take_time(function, &reply, &before);
    if (now.believed && now.place != ON_HOST) leave_case();
    exchange_or_fail(&call, WIRE_FETCH, &fetched, 60.0);
    check_reply(function, &fetched);
    if (now.timed) now.beside = worker_used(now.worker).worked - idle.worked - now.seconds;
    if (now.believed) leave_case();
    for (int i = 0; i < count; i++) {
        if (is_in_shared_memory(&arguments[i])) take_back(shared, &arguments[i]);
        if (is_lent(&arguments[i])) take_home(&call.arguments[i], &arguments[i]);
    }
    return reply;
}

void call_cuda(const char *function, argument *arguments, int count)
{
    perform(function, WIRE_RETURN_CUDA, 0, arguments, count);
}

void call_void(const char *function, argument *arguments, int count)
{
    perform(function, WIRE_RETURN_VOID, 0, arguments, count);
}

int call_returning_i32(const char *function, argument *arguments, int count)
{
    return (int)perform(function, WIRE_RETURN_I32, 0, arguments, count).returned.i;
}

float call_returning_f32(const char *function, argument *arguments, int count)
{
    return (float)perform(function, WIRE_RETURN_F32, 0, arguments, count).returned.f;
}

double call_returning_f64(const char *function, argument *arguments, int count)
{
    return perform(function, WIRE_RETURN_F64, 0, arguments, count).returned.f;
}

/* A pointer is as wide, and comes back in the same register. */
unsigned long long call_returning_u64(const char *function, argument *arguments, int count)
{
    const int unused = WIRE_HANDLES - 1;
    return (unsigned long long)perform(function, WIRE_RETURN_HANDLE, unused, arguments, count)
        .returned.i;
}

void call_returning_handle(int number, const char *function, argument *arguments, int count)
{
    wire_reply reply = perform(function, WIRE_RETURN_HANDLE, number, arguments, count);
    expect(reply.returned.i != 0, "%s returned NULL", function);
}

const char *call_output(void)
{
    return now.output ? now.output : "";
}

double held_bytes(void)
{
    context_need_worker();
    softdevice *d = worker_device(now.worker);
    return (double)worker_bytes(now.worker) + (d ? (double)softdevice_bytes(d) : 0.0);
}

const device_counts *call_counts(void)
{
    return worker_device(now.worker) ? &now.counts : NULL;
}

void call_counted(const char *function, argument *arguments, int count)
{
    const bool was = now.counted;
    now.counted = true; /* should the call end the case, the next one takes it back (run.c) */
    perform(function, WIRE_RETURN_CUDA, 0, arguments, count);
    now.counted = was;
}

double call_seconds(void)
{
    return now.seconds;
}

double call_wall_seconds(void)
{
    return now.wall;
}

/* What is known of the call that is timed or counted stays as it is. */
void call_aside(const char *function, argument *arguments, int count)
{
    const context known = now;
    now.timed = now.counted = now.believed = false;
    perform(function, WIRE_RETURN_CUDA, 0, arguments, count);
    now.timed = known.timed;
    now.counted = known.counted;
    now.believed = known.believed;
    now.seconds = known.seconds;
    now.wall = known.wall;
    now.waited = known.waited;
    now.overhead = known.overhead;
    now.beside = known.beside;
    now.counts = known.counts;
    now.copies = known.copies;
    now.printed = known.printed;
}

wire_copies call_copies(void)
{
    return now.copies;
}

long long call_printed(void)
{
    return now.printed;
}
