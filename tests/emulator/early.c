/*
 * early.c: makes libsoftgpu.so into one whose devices have a seed: blocks and warps begin in
 * another order, and asynchronous copies move their bytes at once.
 */
#include "device/device.h"

enum { SEED = 1 };

device *__real_device_open(const device_options *);
device *__wrap_device_open(const device_options *);

device *__wrap_device_open(const device_options *o)
{
    device *d = __real_device_open(o);
    if (d) device_shuffle(d, SEED);
    return d;
}
