/*
 * guard.c: keep the device's addresses out of the host's reach. The whole range is reserved without
 * access, so that host code that dereferences a device pointer faults; a SIGSEGV handler says what
 * went wrong and hands on to whoever handled the signal before.
 *
 * A program that installs a handler of its own later replaces this one, and loses only the message.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct sigaction previous;

/** @return bytes of the allocation around `address`, 0 when there is none or nobody can say now. */
static uint64_t allocation_bytes(device_address address)
{
    device_address base;
    uint64_t bytes = 0;

    if (!runtime_try_lock()) return 0;
    device *device = device_at(pointer_to(address));
    if (!device || device_find(device, address, &base, &bytes)) bytes = 0;
    runtime_unlock();
    return bytes;
}

static void complain(device_address address)
{
    char line[256];
    uint64_t bytes = allocation_bytes(address);
    int length = bytes ? snprintf(line, sizeof line,
                                  "softgpu: host code touched device pointer 0x%llx "
                                  "(cudaMalloc'd %llu bytes): copy it with cudaMemcpy first\n",
                                  (unsigned long long)address, (unsigned long long)bytes)
                       : snprintf(line, sizeof line,
                                  "softgpu: host code touched address 0x%llx, which belongs to "
                                  "the device but is not allocated\n",
                                  (unsigned long long)address);

    if (write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

/** When the previous handling is the default, restoring it and returning repeats the fault. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    if (is_device_address(info->si_addr)) complain(address_of(info->si_addr));
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal_number, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal_number);
    else
        signal(signal_number, SIG_DFL);
}

static int host_memory; /* what the last part of the range shows, to the devices as well */

/** The file has no name and goes with the process. Only the pages that are used take memory. */
static void map_host_memory(void)
{
    int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
    int file = memfd_create("softgpu", MFD_CLOEXEC);
    bool sized = file >= 0 && ftruncate(file, (off_t)DEVICE_HOST_BYTES) == 0;
    void *at = pointer_to(DEVICE_BASE + DEVICE_OWN_BYTES);

    if (sized && mmap(at, DEVICE_HOST_BYTES, PROT_NONE, flags, file, 0) != MAP_FAILED)
        host_memory = file;
}

static void reserve(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;

    if (mmap(pointer_to(DEVICE_BASE), DEVICE_BYTES, PROT_NONE, flags, -1, 0) != MAP_FAILED)
        map_host_memory();
}

int guard_host_memory(void)
{
    return host_memory;
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

    return host_memory && mprotect(pointer_to(address), whole_pages(bytes), access) == 0;
}

/** The pages go back to the system, and are zero when they are used again. */
void guard_close(device_address address, size_t bytes)
{
    off_t offset = (off_t)(address - DEVICE_BASE - DEVICE_OWN_BYTES);

    fallocate(host_memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
              (off_t)whole_pages(bytes));
    mprotect(pointer_to(address), whole_pages(bytes), PROT_NONE);
}
