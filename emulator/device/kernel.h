/*
 * kernel.h: what is known of a kernel, and one launch of it. Part of device.h.
 */
#ifndef SOFTGPU_KERNEL_H
#define SOFTGPU_KERNEL_H

#include <stdint.h>

/** What the compiler said of a kernel, and how its parameters lie in the parameter block. */
typedef struct device_function_facts {
    char name[128]; /**< as in the source, not mangled */
    uint32_t param_count;
    uint32_t param_bytes; /**< size of the parameter block */
    uint32_t param_offset[256], param_size[256];
    uint32_t static_shared_bytes;
    uint32_t local_bytes;     /**< per thread */
    uint32_t registers;       /**< an estimate: 32-bit registers live at once, 16..255 */
    uint32_t max_threads;     /**< .maxntid, or 1024 */
    uint32_t entry_registers; /**< of a thread, where setmaxnreg has an effect; 0: it has none */
    uint32_t cluster[3];      /**< blocks, as __cluster_dims__ says; 0: it does not */
} device_function_facts;

/** One kernel launch. `params` is laid out as device_function_facts says. */
typedef struct device_launch_request {
    uint32_t function;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *params;
    uint32_t param_bytes;
    uint32_t cooperative; /**< all blocks are resident at once and can wait for each other: at most
                             DEVICE_RESIDENT of them */
    uint32_t cluster[3];  /**< blocks; 0: the launch has no clusters */
} device_launch_request;

/** Where a copy, a fill or a launch stands in the program's order. A GPU runs works of one lane in
 *  their order, and works of different lanes whenever it likes, unless one is over before. */
enum { DEVICE_LANES = 32 };
typedef struct device_turn {
    uint32_t lane;
    uint32_t work;                /**< which one it is of its lane, from 1 on */
    uint32_t after[DEVICE_LANES]; /**< of each other lane, the last that is over before; 0: none */
} device_turn;

#endif
