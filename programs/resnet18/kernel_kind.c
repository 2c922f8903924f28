/*
 * kernel_kind.c: which kind of layer a kernel computes, by the name of its function: a network's
 * own kernels say it in no other way. One that computes a layer and what follows it is of the
 * first.
 */
#include "profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    layer_kind kind;
} words[] = {
    {"conv", CONVOLUTION}, {"gemm", CONVOLUTION}, {"pool", POOLING}, {"mean", POOLING},
    {"norm", BATCHNORM},   {"relu", RELU_ADD},    {"add", RELU_ADD}, {"linear", LINEAR},
};

/* Of a mangled name the function's own, without the types of its parameters: those of a kernel that
 * is no convolution may be called conv_args. @param own [bytes] */
static void own_name(char *own, size_t bytes, const char *mangled)
{
    const bool nested = strncmp(mangled, "_ZN", 3) == 0; /* in namespaces: the last is its own */
    const char *at = strncmp(mangled, "_Z", 2) == 0 ? mangled + 2 + strspn(mangled + 2, "NL") : "";
    const char *name = mangled;
    size_t length = strlen(name);
    while (isdigit((unsigned char)*at)) {
        char *end;
        length = strtoul(at, &end, 10);
        name = end;
        if (length > strlen(name)) length = strlen(name);
        at = nested ? name + length : "";
    }
    snprintf(own, bytes, "%.*s", (int)length, name);
}

/* Before CUDA 12.3 the runtime did not tell. */
static cudaError_t name_of(const char **mangled, const void *function)
{
#if CUDART_VERSION >= 12030
    return cudaFuncGetName(mangled, function);
#else
    (void)mangled, (void)function;
    return cudaErrorNotSupported;
#endif
}

cudaError_t kernel_kind(layer_kind *kind, const void *function)
{
    const char *mangled;
    char name[128];
    const cudaError_t error = name_of(&mangled, function);
    if (error) return error;
    own_name(name, sizeof name, mangled);
    *kind = OTHER;
    for (size_t i = sizeof words / sizeof *words; i > 0; i--) {
        if (strstr(name, words[i - 1].word)) *kind = words[i - 1].kind; /* the first counts */
    }
    return cudaSuccess;
}
