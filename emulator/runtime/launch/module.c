/*
 * module.c: what the program registers before main: its modules (one a .cu file), kernels and
 * device variables. Registration only takes notes; the device sees a module when the program first
 * uses something of it.
 */
#include "launch.h"
#include "runtime/claims/claims.h"
#include "runtime/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

struct module {
    struct module *next;
    const void *wrapper; /* the fat binary */
    cudaError_t refused; /* why it cannot be loaded; reported each time, explained once */
    bool loaded[MAX_DEVICES];
    uint32_t id[MAX_DEVICES];
};

static struct module *modules;
static struct kernel *kernels;
static struct variable *variables;

/* The compiler's calls. They run in constructors, where failing means to fail the program. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (memory) return memory;
    fputs("softgpu: out of memory while the program starts\n", stderr);
    abort();
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct module *module = allocate(sizeof *module);

    module->wrapper = wrapper;
    if (fatbin_wants_90(wrapper)) claims_90 = true;
    module->next = modules;
    modules = module;
    return (void **)module;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    struct kernel *kernel = allocate(sizeof *kernel);

    *kernel = (struct kernel){.next = kernels,
                              .module = (struct module *)handle,
                              .host = host,
                              .name = name,
                              .dynamic_limit = -1};
    kernels = kernel;
}

static struct variable *register_variable(void **handle, const char *name, size_t bytes)
{
    struct variable *variable = allocate(sizeof *variable);

    *variable = (struct variable){
        .next = variables, .module = (struct module *)handle, .name = name, .bytes = bytes};
    return variables = variable;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    register_variable(handle, name, bytes)->host = host;
}

/** `host` holds the address that host code will use; it becomes known when the module is loaded. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t bytes, int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    struct variable *variable = register_variable(handle, name, bytes);

    variable->host = host;
    variable->managed = host;
}

/** Give a managed variable its storage, which host and all devices share. */
static cudaError_t place(struct variable *v)
{
    bool first = !v->placed;
    cudaError_t error = cudaSuccess;

    if (first) error = shared_alloc(v->managed, v->bytes, SHARED_VARIABLE, 0);
    if (error) return error;
    v->placed = true;
    device_place(runtime.device, v->name, address_of(*v->managed), first);
    return cudaSuccess;
}

static cudaError_t place_managed(const struct module *module)
{
    cudaError_t error = cudaSuccess;

    for (struct variable *v = variables; v && !error; v = v->next)
        if (v->module == module && v->managed) error = place(v);
    return error;
}

static cudaError_t refuse(struct module *module, cudaError_t error, const char *why)
{
    fprintf(stderr, "softgpu: a module of this program cannot be loaded: %s\n", why);
    return module->refused = error;
}

static cudaError_t load(struct module *module)
{
    size_t bytes;
    int here = runtime.ordinal;

    if (module->loaded[here] || module->refused) return module->refused;
    const char *ptx = fatbin_ptx(module->wrapper, &bytes);
    if (!ptx) return refuse(module, cudaErrorNoKernelImageForDevice, "it holds no readable PTX");
    cudaError_t error = place_managed(module);
    if (error) return error;
    device_status status = device_load(runtime.device, ptx, bytes, &module->id[here]);
    if (status) return refuse(module, error_from_device(status), device_error(runtime.device));
    module->loaded[here] = true;
    return cudaSuccess;
}

/** Called before host code touches a managed variable of the module. */
char __cudaInitModule(void **handle)
{
    cudaError_t error = runtime_enter();

    if (!error) error = load((struct module *)handle);
    return runtime_leave(error) == cudaSuccess;
}

static void forget_kernels(const struct module *module)
{
    for (struct kernel **at = &kernels; *at;) {
        struct kernel *kernel = *at;
        if (kernel->module != module) {
            at = &kernel->next;
            continue;
        }
        *at = kernel->next;
        free(kernel);
    }
}

static void forget_variables(const struct module *module)
{
    for (struct variable **at = &variables; *at;) {
        struct variable *variable = *at;
        if (variable->module != module) {
            at = &variable->next;
            continue;
        }
        *at = variable->next;
        free(variable);
    }
}

static void forget_module(struct module *module)
{
    struct module **at = &modules;

    while (*at != module) at = &(*at)->next;
    *at = module->next;
    free(module);
}

static void unload(const struct module *module)
{
    for (int i = 0; i < option_devices(); i++) {
        device *device = runtime.context[i].device;
        if (device && module->loaded[i]) device_unload(device, module->id[i]);
    }
}

void __cudaUnregisterFatBinary(void **handle)
{
    struct module *module = (struct module *)handle;

    runtime_lock();
    unload(module);
    forget_kernels(module);
    forget_variables(module);
    forget_module(module);
    runtime_unlock();
}

void modules_forget(void)
{
    for (struct module *m = modules; m; m = m->next) m->loaded[runtime.ordinal] = false;
    for (struct kernel *k = kernels; k; k = k->next) k->found[runtime.ordinal] = false;
}

void modules_forget_shared(void)
{
    for (struct variable *v = variables; v; v = v->next) v->placed = false;
}

/** A kernel goes by its host stub or by the cudaKernel_t that __cudaGetKernel gave out. */
static struct kernel *kernel_named(const void *name)
{
    for (struct kernel *k = kernels; k; k = k->next)
        if (k->host == name || k == name) return k;
    return NULL;
}

cudaError_t kernel_find(const void *name, struct kernel **found)
{
    struct kernel *kernel = *found = kernel_named(name);
    int here = runtime.ordinal;

    if (!name) return cudaErrorInvalidDeviceFunction;
    if (!kernel) return cudaErrorInvalidResourceHandle;
    cudaError_t error = load(kernel->module);
    if (error || kernel->found[here]) return error;
    uint32_t *id = &kernel->id[here];
    device_status status =
        device_function(runtime.device, kernel->module->id[here], kernel->name, id);
    if (!status) status = device_function_info(runtime.device, *id, &kernel->facts);
    kernel->found[here] = !status;
    return error_from_device(status);
}

/** The handle is the kernel itself: no need to touch the device before main. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t)kernel_named(host);
    return *kernel ? cudaSuccess : error_keep(cudaErrorInvalidDeviceFunction);
}

cudaError_t variable_find(const void *symbol, struct variable **found)
{
    for (struct variable *v = variables; v; v = v->next) {
        if (v->host != symbol && !(v->managed && *v->managed == symbol)) continue;
        *found = v;
        return load(v->module);
    }
    return cudaErrorInvalidSymbol;
}

cudaError_t variable_address(const struct variable *variable, device_address *address)
{
    uint64_t bytes;
    device_status status = device_symbol(runtime.device, variable->module->id[runtime.ordinal],
                                         variable->name, address, &bytes);

    return status ? cudaErrorInvalidSymbol : cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    struct kernel *kernel = NULL;
    cudaError_t error = function ? runtime_enter() : cudaErrorInvalidValue;

    if (!function) return error_keep(error);
    if (!error) error = kernel_find(symbol, &kernel);
    if (!error) *function = (cudaFunction_t)kernel;
    return runtime_leave(error);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return kernel ? __cudaGetKernel(kernel, host) : error_keep(cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    const struct kernel *kernel = kernel_named(function);

    if (!kernel || !name) return error_keep(cudaErrorInvalidValue);
    *name = kernel->name;
    return cudaSuccess;
}
