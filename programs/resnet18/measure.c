/* measure.c: a row for each batch size, by sweep (506). */
#include "program.h"

#include "cuda_check.h"
#include "progress.h"
#include "resnet18_weights.h"
#include "timer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_SEED      7 /* of the images that are timed */
#define PROFILED_CALLS  5
#define PROFILE_SECONDS 2.0 /* fewer calls where they would take longer */
#define QUEUED          8   /* batches that follow each other */

/* What a forward pass of sweep needs to know. */
typedef struct running {
    const subject *subject;
    const options *o;
    measurement *rows;
    void *net;                /* made by the first call, so that sweep sees its memory */
    float *h_x, *h_logits;    /* of the largest batch, pinned */
    float *d_x[2], *d_logits; /* likewise; NULL where nothing runs on the device alone */
    cudaStream_t copying;     /* to d_x, while the network reads the other one */
    cudaEvent_t arrived[2], read[2];
    progress bar; /* calls */
    long calls;
} running;

static int largest_batch(const options *o)
{
    return o->batches[o->count - 1]; /* they are sorted */
}

static size_t image_bytes(const options *o)
{
    return (size_t)3 * o->size * o->size * sizeof(float);
}

static measurement *row_of(running *r, int batch)
{
    measurement *row = r->rows;
    while (row->host.batch != batch) row++;
    return row;
}

/* ---- the forward passes that sweep times ----------------------------------------------------- */

static cudaError_t make_net(running *r, int batch)
{
    const subject *s = r->subject;
    if (!r->net) CUDA_CHECK(s->impl->create(&r->net, s->h_params, s->precision));
    return s->impl->prepare ? s->impl->prepare(r->net, batch, r->o->size) : cudaSuccess;
}

static void note_call(running *r, int batch)
{
    const counters now = counters_now();
    measurement *row = row_of(r, batch);
    progress_step(&r->bar, ++r->calls, "batch %d", batch);
    if (row->host.measured_at > 0) return; /* by now the network has room for the largest batch */
    row->copies = now.copies;
    row->holds = r->subject->impl->bytes(r->net);
    if (now.peak_bytes > row->peak) row->peak = now.peak_bytes;
}

static cudaError_t host_forward(void *context, int batch, cudaStream_t stream)
{
    running *r = context;
    cudaError_t error = make_net(r, batch);
    if (error) return error;
    counters_reset();
    error = r->subject->impl->forward(r->net, r->h_logits, r->h_x, batch, r->o->size, stream);
    if (!error) note_call(r, batch);
    return error;
}

static cudaError_t device_forward(void *context, int batch, cudaStream_t stream)
{
    running *r = context;
    progress_step(&r->bar, ++r->calls, "batch %d, on the device", batch);
    return r->subject->impl->forward_device(r->net, r->d_logits, r->d_x[0], batch, r->o->size,
                                            stream);
}

/* One of a queue of batches, as soon as its images have arrived; who waits for `read` waits for it.
 */
static cudaError_t from_queue(running *r, int side, int batch, cudaStream_t stream)
{
    CUDA_CHECK(cudaStreamWaitEvent(r->copying, r->read[side], 0));
    CUDA_CHECK(cudaMemcpyAsync(r->d_x[side], r->h_x, (size_t)batch * image_bytes(r->o),
                               cudaMemcpyHostToDevice, r->copying));
    CUDA_CHECK(cudaEventRecord(r->arrived[side], r->copying));
    CUDA_CHECK(cudaStreamWaitEvent(stream, r->arrived[side], 0));
    CUDA_CHECK(r->subject->impl->forward_device(r->net, r->d_logits, r->d_x[side], batch,
                                                r->o->size, stream));
    CUDA_CHECK(cudaEventRecord(r->read[side], stream));
    return cudaMemcpyAsync(r->h_logits, r->d_logits,
                           (size_t)batch * RESNET18_CLASSES * sizeof(float), cudaMemcpyDeviceToHost,
                           stream);
}

static cudaError_t queued_forward(void *context, int batch, cudaStream_t stream)
{
    running *r = context;
    progress_step(&r->bar, ++r->calls, "batch %d, queued", batch);
    for (int side = 0; side < 2; side++) CUDA_CHECK(cudaEventRecord(r->read[side], stream));
    for (int i = 0; i < QUEUED; i++) CUDA_CHECK(from_queue(r, i % 2, batch, stream));
    return cudaSuccess;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static cudaError_t set_up(running *r)
{
    const size_t images = (size_t)largest_batch(r->o);
    const size_t logits = images * RESNET18_CLASSES * sizeof(float);
    CUDA_CHECK(cudaMallocHost((void **)&r->h_x, images * image_bytes(r->o)));
    CUDA_CHECK(cudaMallocHost((void **)&r->h_logits, logits));
    resnet18_random_images(r->h_x, (int)images, r->o->size, IMAGE_SEED);
    return cudaSuccess;
}

static cudaError_t tear_down(running *r)
{
    CUDA_CHECK(r->subject->impl->free(r->net));
    CUDA_CHECK(cudaFree(r->d_x[0]));
    CUDA_CHECK(cudaFree(r->d_x[1]));
    CUDA_CHECK(cudaFree(r->d_logits));
    CUDA_CHECK(cudaFreeHost(r->h_x));
    return cudaFreeHost(r->h_logits);
}

static cudaError_t sweep_rows(running *r, sweep_forward *forward, sweep_row *rows)
{
    const options *o = r->o;
    memset(rows, 0, (size_t)o->count * sizeof *rows);
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(sweep(rows, forward, r, o->batches, o->count, o->warmup, o->repeats,
                     (float)(1e3 * o->budget), stream));
    return cudaStreamDestroy(stream);
}

static cudaError_t measure_host(running *r)
{
    sweep_row rows[BATCHES_MAX];
    for (int i = 0; i < r->o->count; i++) r->rows[i].host.batch = r->o->batches[i];
    CUDA_CHECK(sweep_rows(r, host_forward, rows));
    for (int i = 0; i < r->o->count; i++) r->rows[i].host = rows[i];
    return cudaSuccess;
}

/* Only of batches that did not fail from host to host. */
static cudaError_t measure_device(running *r)
{
    sweep_row rows[BATCHES_MAX];
    const size_t images = (size_t)largest_batch(r->o);
    for (int i = 0; i < 2; i++)
        CUDA_CHECK(cudaMalloc((void **)&r->d_x[i], images * image_bytes(r->o)));
    CUDA_CHECK(cudaMalloc((void **)&r->d_logits, images * RESNET18_CLASSES * sizeof *r->d_logits));
    CUDA_CHECK(cudaMemcpy(r->d_x[0], r->h_x, images * image_bytes(r->o), cudaMemcpyHostToDevice));
    CUDA_CHECK(sweep_rows(r, device_forward, rows));
    for (int i = 0; i < r->o->count; i++) r->rows[i].device = rows[i];
    return cudaSuccess;
}

static cudaError_t measure_queue(running *r)
{
    sweep_row rows[BATCHES_MAX];
    CUDA_CHECK(cudaStreamCreateWithFlags(&r->copying, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) {
        CUDA_CHECK(cudaEventCreateWithFlags(&r->arrived[i], cudaEventDisableTiming));
        CUDA_CHECK(cudaEventCreateWithFlags(&r->read[i], cudaEventDisableTiming));
    }
    CUDA_CHECK(sweep_rows(r, queued_forward, rows));
    for (int i = 0; i < r->o->count; i++)
        if (!rows[i].error) r->rows[i].queued_ms = rows[i].ms / QUEUED;
    for (int i = 0; i < 2; i++) {
        CUDA_CHECK(cudaEventDestroy(r->arrived[i]));
        CUDA_CHECK(cudaEventDestroy(r->read[i]));
    }
    return cudaStreamDestroy(r->copying);
}

/* ---- where the time goes --------------------------------------------------------------------- */

static int calls_to_profile(float ms)
{
    const double calls = 1e3 * PROFILE_SECONDS / ms;
    return calls > PROFILED_CALLS ? PROFILED_CALLS : calls < 1 ? 1 : (int)calls;
}

/* @param ms [KINDS] of one call; OTHER is what is left of it. Reading the times is no part of it.
 */
static cudaError_t profile_call(float *ms, running *r, int batch, cudaStream_t stream)
{
    profile_start();
    const double began = seconds_now();
    CUDA_CHECK(host_forward(r, batch, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const float total = (float)(1e3 * (seconds_now() - began));
    profile_collect();
    CUDA_CHECK(profile_read(ms));
    const float others = kinds_sum(ms, OTHER);
    ms[OTHER] = total > others ? total - others : 0.0f;
    return cudaSuccess;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A kind that was never seen is NaN in all calls. */
static float median_of(float ms[PROFILED_CALLS][KINDS], int calls, int kind)
{
    float times[PROFILED_CALLS];
    for (int i = 0; i < calls; i++) times[i] = ms[i][kind];
    qsort(times, (size_t)calls, sizeof *times, by_value);
    return (times[(calls - 1) / 2] + times[calls / 2]) / 2;
}

static cudaError_t profile_row(running *r, measurement *row)
{
    const int calls = calls_to_profile(row->host.ms), batch = row->host.batch;
    float ms[PROFILED_CALLS][KINDS];
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    /* Events and graph are made by a call before the first, and their price is not counted. */
    cudaError_t error = profile_call(ms[0], r, batch, stream);
    for (int i = 0; i < calls && !error; i++) error = profile_call(ms[i], r, batch, stream);
    const cudaError_t stopped = profile_stop();
    CUDA_CHECK(cudaStreamDestroy(stream));
    if (error || stopped) return error ? error : stopped;
    for (int i = 0; i < KINDS; i++) row->kinds[i] = median_of(ms, calls, i);
    return cudaSuccess;
}

static cudaError_t profile_rows(running *r)
{
    for (int i = 0; i < r->o->count; i++) {
        measurement *row = &r->rows[i];
        if (row->host.error || row->host.measured_at != row->host.batch) continue;
        CUDA_CHECK(profile_row(r, row));
    }
    return cudaSuccess;
}

static cudaError_t measure_all(running *r)
{
    CUDA_CHECK(measure_host(r));
    if (r->subject->impl->forward_device) CUDA_CHECK(measure_device(r));
    if (r->subject->impl->forward_device) CUDA_CHECK(measure_queue(r));
    return r->o->profile ? profile_rows(r) : cudaSuccess;
}

cudaError_t measure(measurement *rows, const sweep_row *cpu, const subject *s, const options *o)
{
    running r = {.subject = s, .o = o, .rows = rows};
    const int sweeps = s->impl->forward_device ? 3 : 1;
    memset(rows, 0, (size_t)o->count * sizeof *rows);
    r.bar = progress_begin_quiet(s->impl->name, (long)sweeps * o->count * (o->warmup + o->repeats));
    CUDA_CHECK(set_up(&r));
    const cudaError_t error = measure_all(&r);
    progress_end(&r.bar, "measured");
    for (int i = 0; i < o->count; i++) {
        if (cpu) rows[i].cpu = cpu[i];
    }
    if (!r.net) { /* no batch fits */
        CUDA_CHECK(cudaFreeHost(r.h_x));
        CUDA_CHECK(cudaFreeHost(r.h_logits));
        return error;
    }
    CUDA_CHECK(tear_down(&r));
    return error;
}
