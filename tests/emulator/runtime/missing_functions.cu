/* missing_functions.cu: each function that softgpu lacks says its name and is refused. They are
 * called by name, without arguments: they look at none. */
// ALONE: it includes a table in a function
#include "check.h"

#include <dlfcn.h>

typedef cudaError_t missing(void);

static void refused(const char *name)
{
    missing *function = (missing *)dlsym(RTLD_DEFAULT, name);
    if (!function || function() != cudaErrorNotSupported)
        printf("%s works, or is not there\n", name);
}

// STDERR all_of_them: cudaMalloc3DArray is not supported
// STDERR all_of_them: is not supported
// STDOUT all_of_them: called
CASE(all_of_them)
{
#define MISSING(name) refused(#name);
#include "runtime/claims/unsupported_table.h"
    printf("called\n");
}
