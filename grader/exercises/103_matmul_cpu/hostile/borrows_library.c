// HOSTILE: build | calls dl
// Lets another library multiply: the solution's, which the grader has built beside this one.
#include "103_matmul_cpu/matmul_cpu.h"

#include <dlfcn.h>
#include <glob.h>

typedef void product(float *, const float *, const float *, int, int, int);

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    glob_t found;
    if (glob("../../objects/*/exercise.so", 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        void *library = dlopen(found.gl_pathv[i], RTLD_NOW);
        product *theirs = library ? (product *)dlsym(library, "matmul_cpu_ikj") : NULL;
        if (!theirs) continue;
        theirs(c, a, b, m, n, k);
        return;
    }
}
