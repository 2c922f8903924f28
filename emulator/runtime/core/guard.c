/*
 * guard.c: keep the device's addresses out of the host's reach. The whole range is reserved without
 * access, so that host code that dereferences a device pointer faults; a SIGSEGV handler says what
 * went wrong and calls the handler that was there before.
 *
 * A program that installs a handler of its own later replaces this one, and loses only the message.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct sigaction previous;

/** ", byte 12 of a 400-byte buffer allocated at x.cu:8", or "" when nobody can say now. */
static void describe_buffer(device_address address, char *text, size_t size)
{
    device_address base;
    uint64_t bytes;
    char made[700];

    if (!runtime_try_lock()) return;
    device *device = device_at(pointer_to(address));
    if (device && !device_find(device, address, &base, &bytes)) {
        allocation_describe(base, bytes, made, sizeof made);
        snprintf(text, size, ", byte %llu of a %llu-byte buffer%s",
                 (unsigned long long)(address - base), (unsigned long long)bytes, made);
    }
    runtime_unlock();
}

/** The line that faulted: unlike a return address, `pc` is not behind the instruction. */
static void describe_line(const void *pc, char *text, size_t size)
{
    struct trace here = trace_here();

    for (int i = 0; i < TRACE_FRAMES; i++)
        if (here.frame[i] == pc) here.frame[i] = (char *)here.frame[i] + 1;
    trace_place(&here, NULL, text, size);
}

static const void *program_counter(const ucontext_t *context)
{
#if defined __x86_64__
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

/* With the address, the buffer, and the line of the program. */
static const char foreign[] = "softgpu: device pointer on the host: host code touches 0x%llx%s: "
                              "copy the data with cudaMemcpy "
                              "first%s%s\n";
static const char no_allocation[] =
    "softgpu: out of bounds: host code touches 0x%llx, where there is no pinned or managed memory: "
    "past its end, or after it was freed%s%s%s\n";

static void complain(device_address address, const void *pc)
{
    char line[2000], buffer[800] = "", place[600];
    const char *what = is_shared_address(pointer_to(address)) ? no_allocation : foreign;

    describe_buffer(address, buffer, sizeof buffer);
    describe_line(pc, place, sizeof place);
    int length = snprintf(line, sizeof line, what, (unsigned long long)address, buffer,
                          *place ? ":" : "", *place ? place + 3 : "");

    if (write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

/** When the previous handling is the default, restoring it and returning repeats the fault. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    if (is_device_address(info->si_addr) || is_shared_address(info->si_addr))
        complain(address_of(info->si_addr), program_counter(context));
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal_number, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal_number);
    else
        signal(signal_number, SIG_DFL);
}

static bool has_host_memory; /* what the last part of the range shows, to the devices as well */

/** Only the pages that are used take memory. */
static void map_host_memory(void)
{
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    void *at = pointer_to(DEVICE_BASE + DEVICE_OWN_BYTES);

    has_host_memory = mmap(at, DEVICE_HOST_BYTES, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

static void reserve(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;

    if (mmap(pointer_to(DEVICE_BASE), DEVICE_BYTES, PROT_NONE, flags, -1, 0) != MAP_FAILED)
        map_host_memory();
}

bool guard_has_host_memory(void)
{
    return has_host_memory;
}

/** Without the reservation (a tight address space limit) the range is unmapped and faults as well;
 *  only managed and pinned memory then fail. */
void guard_install(void)
{
    static bool installed;
    struct sigaction action;

    if (installed) return;
    installed = true;
    reserve();
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &previous);
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

bool guard_open(device_address address, size_t bytes)
{
    int access = PROT_READ | PROT_WRITE;

    return has_host_memory && mprotect(pointer_to(address), whole_pages(bytes), access) == 0;
}

/** The pages go back to the system, and are zero when they are used again. */
void guard_close(device_address address, size_t bytes)
{
    madvise(pointer_to(address), whole_pages(bytes), MADV_REMOVE);
    mprotect(pointer_to(address), whole_pages(bytes), PROT_NONE);
}
