/*
 * nvml.c: clocks, temperature and throttling of the GPU, from NVIDIA's management library. The
 * library comes with the driver and is loaded at run time, by prototypes of our own: where it is
 * missing, these values are unknown and nothing else changes.
 */
#include "measure.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0, PROCESSES = 64 };

/* Bits of the reasons for which clocks are lower than they could be. */
static const struct reason {
    unsigned long long bit;
    const char *name;
    bool throttles; /* of itself, not because nothing or little runs */
} reasons[] = {
    {0x04, "power cap", false},      {0x08, "hardware slowdown", true}, {0x20, "heat", true},
    {0x40, "heat (hardware)", true}, {0x80, "power brake", true},
};

typedef struct process_info { /* large enough for each version of the library's own */
    unsigned pid;
    unsigned long long memory;
    unsigned instance[2];
    unsigned long long more[2];
} process_info;

struct nvml {
    void *library, *device;
    int (*shutdown)(void);
    int (*clock)(void *device, int which, unsigned *mhz);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*throttle)(void *device, unsigned long long *bits);
    int (*processes)(void *device, unsigned *count, process_info *);
};

static void *find(const nvml *n, const char *name)
{
    return dlsym(n->library, name);
}

/* @param pci of the device that CUDA uses, or "": the first one */
static bool find_device(nvml *n, const char *pci)
{
    int (*start)(void), (*by_pci)(const char *, void **), (*by_index)(unsigned, void **);
    *(void **)&start = find(n, "nvmlInit_v2");
    *(void **)&by_pci = find(n, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&by_index = find(n, "nvmlDeviceGetHandleByIndex_v2");
    if (!start || !by_index || start() != 0) return false;
    if (*pci && by_pci && by_pci(pci, &n->device) == 0) return true;
    return !*pci && by_index(0, &n->device) == 0;
}

nvml *nvml_open(const char *library, const char *pci)
{
    nvml *n = calloc(1, sizeof *n);
    n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (n->library) {
        *(void **)&n->shutdown = find(n, "nvmlShutdown");
        *(void **)&n->clock = find(n, "nvmlDeviceGetClockInfo");
        *(void **)&n->temperature = find(n, "nvmlDeviceGetTemperature");
        *(void **)&n->throttle = find(n, "nvmlDeviceGetCurrentClocksThrottleReasons");
        *(void **)&n->processes = find(n, "nvmlDeviceGetComputeRunningProcesses_v3");
        if (find_device(n, pci)) return n;
    }
    nvml_close(n);
    return NULL;
}

void nvml_close(nvml *n)
{
    if (!n) return;
    if (n->device && n->shutdown) n->shutdown();
    if (n->library) dlclose(n->library);
    free(n);
}

gpu_state nvml_read(const nvml *n)
{
    process_info running[PROCESSES];
    gpu_state s = {.known = n != NULL};
    if (!n) return s;
    s.processes = PROCESSES;
    if (n->clock) n->clock(n->device, CLOCK_SM, &s.sm_mhz);
    if (n->clock) n->clock(n->device, CLOCK_MEMORY, &s.memory_mhz);
    if (n->temperature) n->temperature(n->device, SENSOR_GPU, &s.celsius);
    if (n->throttle) n->throttle(n->device, &s.reasons);
    if (!n->processes || n->processes(n->device, &s.processes, running) != 0) s.processes = 0;
    return s;
}

void clocks_watch(speed_clocks *c, const gpu_state *s, unsigned ours)
{
    if (!s->known) return;
    if (!c->before.known) c->before = *s;
    const unsigned others = s->processes > ours ? s->processes - ours : 0;
    if (!c->after.known || others < c->others)
        c->others = others; /* one that ended does not count */
    c->after = *s;
    c->reasons |= s->reasons;
}

bool clocks_throttled(const speed_clocks *c)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].throttles && (c->reasons & reasons[i].bit)) return true;
    }
    return false;
}

const char *clocks_reasons(const speed_clocks *c)
{
    static char names[128];
    size_t n = 0;
    names[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (!(c->reasons & reasons[i].bit)) continue;
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", reasons[i].name);
    }
    return names;
}
