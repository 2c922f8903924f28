/*
 * device_cuda.c: buffers, clock and errors of a worker for CUDA exercises, on a GPU or on softgpu:
 * both speak the CUDA runtime API, and softgpu adds its findings.
 */
#ifdef WITH_CUDA
#include "worker.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_SOFTGPU
#include "supervisor.h"
#endif

#define DECOY_BYTES (3u << 20)  /* enough to move what is allocated after it */
#define STAGED_MOST (64u << 20) /* bytes of a buffer that is worth its room twice */
#define HEAD_START  500         /* microseconds, for what does not wait for the stream */

static cudaStream_t stream, last_stream;       /* of the first device: calls take turns */
static cudaStream_t others[WIRE_DEVICES_MOST]; /* of the others; others[0] is NULL */
static int devices = 1;
static cudaEvent_t start, stop;
static void *decoy, *flush_area;
static size_t flush_bytes;
static device_finding kept[WIRE_FINDINGS];
static unsigned finding_count;

#ifdef WITH_SOFTGPU
/* Of host code: what kernels do the grader hears from the device. */
static void keep_finding(const device_finding *finding, void *context)
{
    (void)context;
    if (finding_count < WIRE_FINDINGS) kept[finding_count] = *finding;
    finding_count++;
}
#endif

/* A stream on each further device that the exercise has. */
static cudaError_t start_others(void)
{
    const char *wanted = getenv(WIRE_DEVICES);
    cudaError_t error = cudaGetDeviceCount(&devices);
    const int most = wanted && atoi(wanted) < WIRE_DEVICES_MOST ? atoi(wanted) : WIRE_DEVICES_MOST;
    if (!wanted) devices = 1;
    if (devices > most) devices = most;
    for (int i = 1; i < devices && !error; i++) {
        error = cudaSetDevice(i);
        if (!error) error = cudaStreamCreateWithFlags(&others[i], cudaStreamNonBlocking);
    }
    return devices > 1 && !error ? cudaSetDevice(0) : error;
}

/* What a stream gives back its pool keeps. By default each synchronisation returns it to the
 * driver, so that the next cudaMallocAsync takes longer than most kernels. */
static cudaError_t keep_pooled(void)
{
    cudaMemPool_t pool;
    unsigned long long all = ~0ull;
    const cudaError_t error = cudaDeviceGetDefaultMemPool(&pool, 0);
    return error ? error : cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

int device_start(void)
{
#ifdef WITH_SOFTGPU
    softgpu_attach(WIRE_DEVICE_FD);
    softgpu_on_finding(keep_finding, NULL);
#endif
    cudaError_t error = start_others();
    if (!error) error = keep_pooled();
    if (!error) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (!error) error = cudaStreamCreateWithFlags(&last_stream, cudaStreamNonBlocking);
    if (!error) error = cudaEventCreate(&start);
    if (!error) error = cudaEventCreate(&stop);
    return error;
}

/* On softgpu the grader keeps it; only what is said of host code wants its name. */
static void note_lent(worker_buffer *buffer, const wire_argument *argument)
{
    buffer->base = (unsigned char *)(uintptr_t)argument->address - argument->before;
    buffer->is_lent = true;
#ifdef WITH_SOFTGPU
    char name[64];
    snprintf(name, sizeof name, "the argument %s", argument->name);
    softgpu_name(buffer->base, name);
#endif
}

int device_buffer_create(worker_buffer *buffer, const wire_argument *argument,
                         const unsigned char *image)
{
    void *memory = NULL;
    buffer->image_bytes = argument->before + argument->bytes + argument->after;
    if (argument->address) {
        note_lent(buffer, argument);
        return cudaSuccess;
    }
    if (argument->device) cudaSetDevice((int)argument->device);
    cudaError_t error = cudaMalloc(&memory, buffer->image_bytes);
    if (!error) buffer->base = memory;
    if (!error) error = cudaMemcpy(memory, image, buffer->image_bytes, cudaMemcpyHostToDevice);
    if (argument->device) cudaSetDevice(0);
    return error;
}

int device_buffer_read(unsigned char *image, const worker_buffer *buffer)
{
    const void *from = buffer->staged ? buffer->staged : buffer->base;
    if (buffer->is_lent) return cudaSuccess;
    return cudaMemcpy(image, from, buffer->image_bytes, cudaMemcpyDeviceToHost);
}

void device_buffer_free(worker_buffer *buffer)
{
    if (buffer->base && !buffer->is_lent) cudaFree(buffer->base);
    cudaFree(buffer->staged);
#ifdef WITH_SOFTGPU
    if (buffer->is_lent) softgpu_name(buffer->base, NULL);
#endif
}

/* ---- in the order of the stream -------------------------------------------------------------- */

#ifdef WITH_SOFTGPU
static bool has_stream_of(const wire_call *call, uint32_t device)
{
    uint32_t i = 0;
    while (i < call->count &&
           (call->arguments[i].kind != WIRE_STREAM || call->arguments[i].device != device))
        i++;
    return i < call->count;
}

static void touch(const worker_buffer buffers[], const wire_call *call, int writes)
{
    for (uint32_t i = 0; i < call->count; i++) {
        const wire_argument *a = &call->arguments[i];
        if (buffers[i].is_lent && has_stream_of(call, a->device))
            softgpu_touch(device_stream(a->device), buffers[i].base + a->before, a->bytes, writes);
    }
}

void device_buffers_enter(worker_buffer buffers[], const wire_call *call)
{
    touch(buffers, call, 1);
}

/* With several devices one may still read what its owner will soon write. */
void device_buffers_leave(worker_buffer buffers[], const wire_call *call)
{
    touch(buffers, call, devices > 1);
}
#else
static void CUDART_CB nap(void *unused)
{
    (void)unused;
    usleep(HEAD_START);
}

/* @return whether it is; until the stream brings it back, there are bytes that mean nothing */
static bool stage(worker_buffer *b)
{
    if (b->image_bytes > STAGED_MOST) return false;
    if (cudaMalloc(&b->staged, b->image_bytes) != cudaSuccess) {
        b->staged = NULL;
        cudaGetLastError();
        return false;
    }
    cudaMemcpyAsync(b->staged, b->base, b->image_bytes, cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync(b->base, 0xff, b->image_bytes, stream);
    return true;
}

void device_buffers_enter(worker_buffer buffers[], const wire_call *call)
{
    bool any = false;
    for (uint32_t i = 0; i < call->count; i++) {
        const wire_argument *a = &call->arguments[i];
        if (a->kind != WIRE_BUFFER || a->space != WIRE_DEVICE || a->device != 0) continue;
        any |= stage(&buffers[i]);
    }
    if (!any) return;
    cudaStreamSynchronize(stream);
    cudaLaunchHostFunc(stream, nap, NULL);
    for (uint32_t i = 0; i < call->count; i++) {
        const worker_buffer *b = &buffers[i];
        if (!b->staged) continue;
        cudaMemcpyAsync(b->base, b->staged, b->image_bytes, cudaMemcpyDeviceToDevice, stream);
    }
}

void device_buffers_leave(worker_buffer buffers[], const wire_call *call)
{
    for (uint32_t i = 0; i < call->count; i++) {
        const worker_buffer *b = &buffers[i];
        if (!b->staged) continue;
        cudaMemcpyAsync(b->staged, b->base, b->image_bytes, cudaMemcpyDeviceToDevice, stream);
    }
}
#endif

/* All but the unmapped page behind it. */
int device_pin(const worker_buffer *buffer)
{
    return cudaHostRegister(buffer->mapping, buffer->mapping_bytes - WIRE_PAGE,
                            cudaHostRegisterDefault);
}

void device_unpin(const worker_buffer *buffer)
{
    cudaHostUnregister(buffer->mapping);
}

void device_next_stream(void)
{
    cudaStream_t next = last_stream;
    last_stream = stream;
    stream = next;
}

void *device_stream(unsigned device)
{
    return device == 0 ? stream : device < WIRE_DEVICES_MOST ? others[device] : NULL;
}

/* On softgpu it is the grader that moves the buffers. */
void device_relocate(bool elsewhere)
{
#ifdef WITH_SOFTGPU
    elsewhere = false;
#endif
    if (elsewhere && !decoy) cudaMalloc(&decoy, DECOY_BYTES);
    if (!elsewhere && decoy) {
        cudaFree(decoy);
        decoy = NULL;
    }
}

void device_flush_caches(void)
{
    if (!flush_area) {
        int l2 = 0;
        cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0);
        flush_bytes = 4 * (size_t)l2;
        if (cudaMalloc(&flush_area, flush_bytes) != cudaSuccess) return;
    }
    cudaDeviceSynchronize();
#ifndef WITH_SOFTGPU
    cudaCtxResetPersistingL2Cache(); /* what an earlier call asked the L2 to keep is flushed too */
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    cudaGetLastError(); /* not every device can do that, and it is no error of the student's */
#endif
    cudaMemsetAsync(flush_area, 0, flush_bytes, stream);
}

/* For all devices; then the first is the current one again, whatever the call has chosen.
 * @return the first error */
static cudaError_t wait_for_all(void)
{
    cudaError_t first = cudaSuccess;
    for (int i = devices - 1; i >= 0; i--) {
        if (devices > 1) cudaSetDevice(i);
        const cudaError_t error = cudaDeviceSynchronize();
        if (!first) first = error;
    }
    return first;
}

void device_wait(void)
{
    wait_for_all();
}

/* No waiting here: while the caches are flushed the host can already submit the call, so that the
 * time holds the kernel and not the way to it. */
void device_clock_start(void)
{
    cudaEventRecord(start, stream);
}

double device_clock_stop(void)
{
    float milliseconds = 0.0f;
    /* Work on hidden streams counts too. An error of the call stays the last one. */
    if (wait_for_all() != cudaSuccess) return 0.0;
    cudaEventRecord(stop, stream);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&milliseconds, start, stop);
    return milliseconds * 1e-3;
}

int device_make_current(int device)
{
    int before = 0;
    cudaGetDevice(&before);
    if (device >= 0 && device != before) cudaSetDevice(device);
    return before;
}

int device_take_error(bool *sticky)
{
    cudaError_t error = cudaGetLastError();
    cudaError_t after = wait_for_all();
    if (!error) error = after;
    cudaGetLastError();
    *sticky = wait_for_all() != cudaSuccess;
    return error;
}

const char *device_error_text(int error)
{
    static char text[384];
    const char *why = "";
#ifdef WITH_SOFTGPU
    why = softgpu_refusal();
#endif
    snprintf(text, sizeof text, "%s (%s)%s%s", cudaGetErrorName((cudaError_t)error),
             cudaGetErrorString((cudaError_t)error), *why ? ": " : "", why);
    return text;
}

unsigned device_take_findings(device_finding findings[WIRE_FINDINGS])
{
    unsigned count = finding_count;
    memcpy(findings, kept, sizeof kept);
    finding_count = 0;
    return count;
}

/* Bytes a second that a device-to-device copy of 512 MiB moves, read and written; best of 40. The
 * clock stops right behind the copy: waiting for it first would let another process that begins on
 * this GPU in between. */
static double measure_copy(void)
{
    const size_t bytes = (size_t)512 << 20;
    void *from = NULL, *to = NULL;
    double best = 0.0;
    if (cudaMalloc(&from, bytes) || cudaMalloc(&to, bytes) || device_start()) return 0.0;
    for (int i = 0; i < 40; i++) {
        float milliseconds = 0.0f;
        device_clock_start();
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
        cudaEventRecord(stop, stream);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&milliseconds, start, stop);
        const double rate = 2.0 * (double)bytes / (milliseconds * 1e-3);
        if (i > 0 && milliseconds > 0.0f && rate > best) best = rate;
    }
    return best;
}

int device_try(void)
{
    void *some = NULL;
    return cudaMalloc(&some, DECOY_BYTES) || cudaMemsetAsync(some, 0, DECOY_BYTES, stream) ||
           cudaStreamSynchronize(stream);
}

int device_print_uuid(void)
{
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 1;
    for (size_t i = 0; i < sizeof p.uuid.bytes; i++) printf("%02x", (unsigned char)p.uuid.bytes[i]);
    putchar('\n');
    return 0;
}

int device_print_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return 1;
    printf("%d\n", count);
    return 0;
}

int device_print_facts(void)
{
    struct cudaDeviceProp p;
    int driver = 0, runtime = 0, khz = 0;
    char pci[32] = "";
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 1;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    const int cores = p.major == 8 && p.minor == 0 ? 64 : p.major == 7 ? 64 : 128; /* an SM has */
    cudaDeviceGetPCIBusId(pci, sizeof pci, 0);
    printf("name=%s\n", p.name);
    printf("pci=%s\n", pci);
    printf("compute_capability=%d.%d\n", p.major, p.minor);
    printf("driver=%d.%d\n", driver / 1000, driver % 1000 / 10);
    printf("runtime=%d.%d\n", runtime / 1000, runtime % 1000 / 10);
    printf("flop_per_second=%.6g\n", 2e3 * khz * cores * p.multiProcessorCount);
    printf("clocks_of_all_sms=%.6g\n", 1e3 * khz * p.multiProcessorCount);
    printf("copy_bytes_per_second=%.6g\n", measure_copy());
    return 0;
}
#endif
