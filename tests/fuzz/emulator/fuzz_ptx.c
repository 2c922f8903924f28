/*
 * fuzz_ptx.c: any bytes as PTX: load them, run every kernel they hold for a moment, unload. The
 * device must answer with a status, whatever the bytes are.
 *
 * The device's own memory is real, so that a wild address in a kernel is answered like in a
 * program; parameters are all zero but the first few, which point to a small allocation.
 */
#include "device/base/state.h"

#include <stdlib.h>

enum {
    MEMORY = 64 << 10,
    BUDGET = 3000,
    PARAMS = 4096,
    RUNS = 512, /* of one device: it remembers every module that it ever had */
};

static device *open_device(device_address *memory)
{
    device_options options = {.memory_bytes = 64u << 20, .budget = BUDGET, .threads = 1};
    device *d = device_open(&options);
    if (!d || device_alloc(d, MEMORY, memory)) abort();
    return d;
}

static void take_reports(device *d)
{
    device_finding finding;
    char text[256];
    while (device_take_finding(d, &finding)) {
    }
    while (device_take_output(d, text, sizeof text)) {
    }
}

static void run_kernel(device *d, uint32_t function, device_address memory)
{
    device_function_facts facts;
    if (device_function_info(d, function, &facts) || facts.param_bytes > PARAMS) return;
    uint64_t params[PARAMS / 8] = {memory, memory + MEMORY / 2, 100};
    device_launch_request request = {.function = function,
                                     .grid = {2, 1, 1},
                                     .block = {facts.max_threads < 40 ? 1 : 40, 1, 1},
                                     .dynamic_shared_bytes = 1024,
                                     .params = params,
                                     .param_bytes = facts.param_bytes};
    device_launch(d, &request);
    take_reports(d);
}

static void run_kernels(device *d, uint32_t module, device_address memory)
{
    const struct module *m = d->modules[module];
    for (uint32_t i = 0; i < m->function_count; i++) {
        uint32_t function;
        if (!m->functions[i]->kernel) continue;
        if (device_function(d, module, m->functions[i]->name, &function) == DEVICE_OK) {
            run_kernel(d, function, memory);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static device *d;
    static device_address memory;
    static uint32_t runs;
    uint32_t module;
    if (runs++ % RUNS == 0) {
        device_close(d);
        d = open_device(&memory);
    }
    char *text = malloc(bytes ? bytes : 1); /* exactly as long: a read beyond is seen */
    memcpy(text, data, bytes);
    if (device_load(d, text, bytes, &module) == DEVICE_OK) {
        run_kernels(d, module, memory);
        device_unload(d, module);
    }
    free(text);
    return 0;
}
