/*
 * profile.c: how long each kind of layer takes, and what was copied and allocated.
 *
 * A span on the stream is two events, read when all is over: nothing waits in between. They cost
 * some microseconds each, so the profiled run is not the one that is reported as its time.
 */
#include "profile.h"

#include "cuda_check.h"
#include "timer.h"
#include <math.h>
#include <string.h>

#define SPANS       512
#define ALLOCATIONS 4096

const char *const kind_names[KINDS] = {"convolution", "batchnorm", "relu and add", "pooling",
                                       "linear",      "copies",    "other"};

typedef struct span {
    layer_kind kind;
    cudaEvent_t start, stop;
} span;

static struct {
    bool on;
    int depth, count; /* of spans: inside each other now; since profile_start */
    layer_kind host_kind;
    double host_since;
    float host_ms[KINDS]; /* and of graphs; those of spans are added in the end */
    bool seen[KINDS];
    span spans[SPANS];
} profile;

void profile_begin_host(layer_kind kind)
{
    if (profile.depth++ > 0 || !profile.on) return;
    profile.host_kind = kind;
    profile.seen[kind] = true;
    profile.host_since = seconds_now();
}

void profile_end_host(void)
{
    if (--profile.depth > 0 || !profile.on) return;
    profile.host_ms[profile.host_kind] += (float)(1e3 * (seconds_now() - profile.host_since));
}

/* What does not fit is counted as "other". */
void profile_begin(layer_kind kind, cudaStream_t stream)
{
    if (profile.depth++ > 0 || !profile.on || profile.count == SPANS) return;
    span *s = &profile.spans[profile.count];
    s->kind = kind;
    profile.seen[kind] = true;
    if (!s->start && (cudaEventCreate(&s->start) || cudaEventCreate(&s->stop))) return;
    cudaEventRecord(s->start, stream);
}

void profile_end(cudaStream_t stream)
{
    if (--profile.depth > 0 || !profile.on || profile.count == SPANS) return;
    if (cudaEventRecord(profile.spans[profile.count].stop, stream) == cudaSuccess) profile.count++;
}

void profile_start(void)
{
    memset(profile.host_ms, 0, sizeof profile.host_ms);
    memset(profile.seen, 0, sizeof profile.seen);
    profile.count = 0;
    profile.on = true;
}

bool profile_is_on(void)
{
    return profile.on;
}

void profile_add(layer_kind kind, float ms)
{
    profile.seen[kind] = true;
    profile.host_ms[kind] += ms;
}

void profile_settle(void)
{
    if (profile.on) cudaDeviceSynchronize();
}

cudaError_t profile_stop(void)
{
    profile.on = false;
    const cudaError_t error = cudaDeviceSynchronize();
    profile_graph_drop();
    return error;
}

cudaError_t profile_read(float *ms)
{
    memcpy(ms, profile.host_ms, sizeof(float) * OTHER);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < profile.count; i++) {
        float took;
        CUDA_CHECK(cudaEventElapsedTime(&took, profile.spans[i].start, profile.spans[i].stop));
        ms[profile.spans[i].kind] += took;
    }
    for (int i = 0; i < OTHER; i++) {
        if (!profile.seen[i]) ms[i] = NAN;
    }
    return cudaSuccess;
}

float kinds_sum(const float *ms, int end)
{
    float sum = 0.0f;
    for (int i = 0; i < end; i++) sum += isnan(ms[i]) ? 0.0f : ms[i];
    return sum;
}

/* ---- copies and memory ----------------------------------------------------------------------- */

static counters now;
static struct {
    const void *pointer;
    size_t bytes;
} allocations[ALLOCATIONS];
static int allocation_count;

void counters_reset(void)
{
    now.copies = 0;
    now.peak_bytes = now.bytes;
}

counters counters_now(void)
{
    return now;
}

void count_copy(void)
{
    now.copies++;
}

void count_allocation(const void *pointer, size_t bytes)
{
    if (allocation_count == ALLOCATIONS) return;
    allocations[allocation_count].pointer = pointer;
    allocations[allocation_count++].bytes = bytes;
    now.bytes += bytes;
    if (now.bytes > now.peak_bytes) now.peak_bytes = now.bytes;
}

void count_free(const void *pointer)
{
    for (int i = 0; pointer && i < allocation_count; i++) {
        if (allocations[i].pointer != pointer) continue;
        now.bytes -= allocations[i].bytes;
        allocations[i] = allocations[--allocation_count];
        return;
    }
}
