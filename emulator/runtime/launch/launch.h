/*
 * launch.h: kernels: where the program holds them, what they need, and launching one.
 */
#ifndef SOFTGPU_RUNTIME_LAUNCH_H
#define SOFTGPU_RUNTIME_LAUNCH_H

#include "runtime/core/runtime.h"

/* fatbin.c: the PTX inside a fat binary. */
const char *fatbin_ptx(const void *wrapper, size_t *bytes);
/** Is it PTX for compute capability 9.0? */
bool fatbin_wants_90(const void *wrapper);
/** The same for bytes that end after `room`: what the fuzzer calls. */
const char *fatbin_find(const unsigned char *data, size_t room, size_t *bytes);

/* module.c: what the program registered: modules, kernels, variables. */
struct module;
struct kernel {
    struct kernel *next;
    struct module *module;
    const void *host;         /* address of the host stub: what the program calls the kernel */
    const char *name;         /* mangled */
    bool found[MAX_DEVICES];  /* id and facts hold */
    uint32_t id[MAX_DEVICES]; /* the device's number for it */
    bool large_clusters;      /* cudaFuncAttributeNonPortableClusterSizeAllowed */
    int dynamic_limit;        /* cudaFuncAttributeMaxDynamicSharedMemorySize; -1: the default */
    device_function_facts facts;
};
struct variable {
    struct variable *next;
    struct module *module;
    const void *host; /* the shadow variable: what the program calls the symbol */
    const char *name;
    size_t bytes;
    void **managed; /* of a __managed__ variable: where the host keeps its address */
    bool placed;    /* it has storage, which *managed points to */
};
/** The kernel that a host stub or a cudaKernel_t names, known to the device. */
cudaError_t kernel_find(const void *name, struct kernel **);
cudaError_t variable_find(const void *symbol, struct variable **);
cudaError_t variable_address(const struct variable *, device_address *);
/** The current device was closed: nothing is loaded there any more. */
void modules_forget(void);
/** All are closed: managed variables have no storage. */
void modules_forget_shared(void);

/* launch.c: a launch, as it goes to the device. */
struct launch_work {
    struct kernel *kernel;
    dim3 grid, block;
    size_t shared;
    bool cooperative;
    dim3 cluster;          /* in blocks; 0: none */
    unsigned char *params; /* laid out as kernel->facts says */
    void **args;           /* where each begins; only in a node */
    uint32_t graph, node;  /* that the device keeps for it; 0: none */
};
cudaError_t launch_run(const struct launch_work *);
/** Have the device keep it: as the next node of *graph, 0 a new one; or in the place of *node. */
cudaError_t launch_keep(const struct launch_work *, uint32_t *graph, uint32_t *node);
/** From what a program says of a kernel node; `params` has room for LAUNCH_PARAMS. */
enum { LAUNCH_PARAMS = 32 << 10 };
cudaError_t launch_make(struct launch_work *, const struct cudaKernelNodeParams *, bool cooperative,
                        dim3 cluster, unsigned char *params);
/** What the kernel itself says of its cluster; 0: nothing. */
dim3 cluster_of(const struct kernel *);

/* symbol.c */
/** Where part of a variable lies on the current device. */
cudaError_t symbol_locate(const void *symbol, size_t offset, size_t bytes, void **address);

/* occupancy.c */
/** Blocks of `threads` threads and `dynamic_shared` bytes that one multiprocessor can hold. */
int blocks_per_multiprocessor(const struct kernel *, int threads, size_t dynamic_shared);
/** Clusters of so many blocks that the device can hold. */
int clusters_on_device(const struct kernel *, int threads, size_t dynamic_shared, unsigned blocks);
/** Dynamic shared memory that a launch of this kernel may ask for. */
size_t dynamic_shared_limit(const struct kernel *);

#endif
