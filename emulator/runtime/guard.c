/*
 * guard.c: keep the device's addresses out of the host's reach. The whole range is reserved without
 * access, so that host code that dereferences a device pointer faults; a SIGSEGV handler says what
 * went wrong and hands on to whoever handled the signal before.
 *
 * A program that installs a handler of its own later replaces this one, and loses only the message.
 */
#define _GNU_SOURCE
#include "runtime.h"

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
    if (!runtime.device || device_find(runtime.device, address, &base, &bytes)) bytes = 0;
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

static void reserve(void)
{
    mmap(pointer_to(DEVICE_BASE), DEVICE_BYTES, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/** Without the reservation (a tight address space limit) the range is unmapped and faults as well;
 *  only managed memory then fails. */
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

bool guard_open(device_address address, size_t bytes)
{
    device_address start = address & ~(device_address)(PAGE - 1);

    return mprotect(pointer_to(start), address + bytes - start, PROT_READ | PROT_WRITE) == 0;
}

/** Only whole pages: the edges may belong to a neighbour. */
void guard_close(device_address address, size_t bytes)
{
    device_address start = (address + PAGE - 1) & ~(device_address)(PAGE - 1);
    device_address end = (address + bytes) & ~(device_address)(PAGE - 1);

    if (start < end) mprotect(pointer_to(start), end - start, PROT_NONE);
}
