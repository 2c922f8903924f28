/*
 * device_none.c: the device interface of a worker for plain C exercises. There is no device; the
 * clock is the host's.
 */
#ifndef WITH_CUDA
#include "worker.h"

#include "timer.h"
#include <sys/mman.h>

#define DECOY_BYTES (3u << 20)

static double started;
static void *decoy;

int device_start(void)
{
    return 0;
}

int device_buffer_create(worker_buffer *buffer, const wire_argument *argument,
                         const unsigned char *image)
{
    (void)buffer, (void)argument, (void)image;
    return -1;
}

int device_buffer_read(unsigned char *image, const worker_buffer *buffer)
{
    (void)image, (void)buffer;
    return -1;
}

void device_buffer_free(worker_buffer *buffer)
{
    (void)buffer;
}

void device_buffers_enter(worker_buffer buffers[], const wire_call *call)
{
    (void)buffers, (void)call;
}

void device_buffers_leave(worker_buffer buffers[], const wire_call *call)
{
    (void)buffers, (void)call;
}

int device_pin(const worker_buffer *buffer)
{
    (void)buffer;
    return -1;
}

void device_unpin(const worker_buffer *buffer)
{
    (void)buffer;
}

void device_next_stream(void)
{
}

void *device_stream(unsigned device)
{
    (void)device;
    return NULL;
}

/* What is mapped next lies below. */
void device_relocate(bool elsewhere)
{
    if (elsewhere && !decoy) {
        decoy = mmap(NULL, DECOY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (decoy == MAP_FAILED) decoy = NULL;
    }
    if (!elsewhere && decoy) {
        munmap(decoy, DECOY_BYTES);
        decoy = NULL;
    }
}

void device_flush_caches(void)
{
}

void device_wait(void)
{
}

void device_clock_start(void)
{
    started = seconds_now();
}

double device_clock_stop(void)
{
    return seconds_now() - started;
}

int device_make_current(int device)
{
    return device;
}

int device_take_error(bool *sticky)
{
    *sticky = false;
    return 0;
}

const char *device_error_text(int error)
{
    (void)error;
    return "there is no CUDA in this worker";
}

unsigned device_take_findings(device_finding findings[WIRE_FINDINGS])
{
    (void)findings;
    return 0;
}

int device_print_count(void)
{
    return 1;
}

int device_print_facts(void)
{
    return 1;
}

int device_try(void)
{
    return 1;
}

int device_print_uuid(void)
{
    return 1;
}
#endif
