/*
 * status.h: how a call of the device ended. Part of device.h.
 */
#ifndef SOFTGPU_STATUS_H
#define SOFTGPU_STATUS_H

typedef enum device_status {
    DEVICE_OK,
    DEVICE_OUT_OF_MEMORY,   /* the allocation does not fit */
    DEVICE_BAD_ADDRESS,     /* a range that is not inside one live allocation */
    DEVICE_BAD_MODULE,      /* the PTX could not be parsed: device_error() says where */
    DEVICE_NOT_FOUND,       /* no such function or symbol */
    DEVICE_BAD_LAUNCH,      /* grid, block or shared memory outside the limits */
    DEVICE_ILLEGAL_ADDRESS, /* the kernel touched memory out of bounds (a finding says where) */
    DEVICE_MISALIGNED,      /* the kernel touched memory off its natural alignment */
    DEVICE_TRAP,            /* trap, or a stack that ran out */
    DEVICE_ASSERT,          /* a failed assert */
    DEVICE_DEADLOCK,        /* live threads wait at barriers that cannot complete */
    DEVICE_TIMEOUT,         /* the instruction budget is spent: an endless loop */
    DEVICE_UNSUPPORTED,     /* an opcode that the device lacks: device_error() names op and line */
    DEVICE_LOST,            /* the process of the device is gone */
    DEVICE_UNFINISHED,      /* the launch waits for another device's: device_finish */
} device_status;

#endif
