/* multi_file.cu: a program of several files: kernels in two modules, and a part in C. */
// ALONE: of several files
#include "check.h"

void launch_other(int *out);  /* multi_file.2.cu */
extern "C" int c_part(int x); /* multi_file.3.c */

static __global__ void kernel(int *out) /* the same name as in the other file */
{
    out[threadIdx.x] = threadIdx.x;
}

CASE(kernels_of_two_files)
{
    int *out = device_array<int>(32);
    kernel<<<1, 32>>>(out);
    SYNC();
    CHECK(to_host(out, 32)[5] == 5);
    launch_other(out);
    SYNC();
    CHECK(to_host(out, 32)[5] == 1005);
}

CASE(c_calls)
{
    CHECK(c_part(20) == 41);
}
