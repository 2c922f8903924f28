/* host_faults.cu: host code that takes a device address for its own. */
#include "check.h"

#include <csignal>
#include <unistd.h>

// EXIT read_device_pointer: 139
CASE(read_device_pointer)
{
    volatile float *p = device_array<float>(100);
    CHECK(p[3] == 0.0f); // FINDING read_device_pointer: device-pointer-on-the-host
}

static void own_handler(int)
{
    _exit(7);
}

// EXIT earlier_handler_is_called: 7
CASE(earlier_handler_is_called)
{
    signal(SIGSEGV, own_handler);
    volatile float *p = device_array<float>(100);
    p[3] = 1; // FINDING earlier_handler_is_called: device-pointer-on-the-host
}

// EXIT later_handler_stays: 7
CASE(later_handler_stays)
{
    volatile float *p = device_array<float>(100);
    signal(SIGSEGV, own_handler);
    p[3] = 1;
}

// EXIT other_faults_are_left_alone: 139
CASE(other_faults_are_left_alone)
{
    OK(cudaFree(0));
    *(volatile int *)8 = 1;
}
