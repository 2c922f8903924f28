/* local_uninitialised.cu: arrays of a thread's own that it reads before it has written them; and
 * right neighbours, where memory without a value is loaded or copied, but nothing depends on it. */
#include "check.h"

struct body {
    float x, y;
    int kind;
};

#define RUN(kernel, T)                                                                             \
    kernel<<<2, 64>>>(device_array<T>(256), 8, 3);                                                 \
    SYNC()

/* ---- mistakes -------------------------------------------------------------------------------- */

__global__ void never_written_array(float *out, int n, int at)
{
    float t[8];
    if (n < 0) {
        for (int i = 0; i < 8; i++) t[(i + at) % 8] = 1;
    }
    float sum = 0;
    for (int i = 0; i < n; i++) sum += t[(i + at) % 8]; // FINDING never_written: uninitialised
    out[threadIdx.x] = sum;
}

CASE(never_written)
{
    RUN(never_written_array, float);
}

__global__ void wrong_order(int *out, int n, int at)
{
    int t[4][4], sum = 0;
    for (int i = 0; i < at; i++) {
        for (int j = 0; j < n / 2; j++) t[i][j] = i + j;
    }
    for (int i = 0; i < at; i++) {
        for (int j = 0; j < n / 2; j++) sum += t[j][i]; // FINDING rows_for_columns: uninitialised
    }
    out[threadIdx.x] = sum;
}

CASE(rows_for_columns)
{
    RUN(wrong_order, int);
}

__device__ __noinline__ void frame(float *out, int n, int at, int first)
{
    float t[8];
    for (int i = first; i < n; i++) t[i] = (float)i;
    *out += t[at] + t[at + 1]; // FINDING reused_frame: uninitialised
}

__global__ void reuse(float *out, int n, int at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 0;
    frame(&out[i], n, at, 0);
    frame(&out[i], n, at, at + 1);
}

CASE(reused_frame)
{
    RUN(reuse, float);
}

__global__ void copied_out(int *out, int n, int at)
{
    int t[8];
    for (int i = 0; i < n; i++) {
        if (i != at) t[i] = i;
    }
    out[threadIdx.x] = t[at]; // FINDING hole: uninitialised
}

CASE(hole)
{
    RUN(copied_out, int);
}

__global__ void one_thread(int *out, int n, int at)
{
    int t[8];
    for (int i = 0; i < n; i++) {
        if (threadIdx.x != 37) t[i] = i;
    }
    if (t[at] > 2) out[threadIdx.x] = 1; // FINDING branch_of_one_thread: uninitialised
}

CASE(branch_of_one_thread)
{
    RUN(one_thread, int);
}

__global__ void flags(int *out, int n, int at)
{
    bool seen[16];
    seen[at] = true;
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (seen[i]) count++; // FINDING counts_flags: uninitialised
    }
    out[threadIdx.x] = count;
}

CASE(counts_flags)
{
    RUN(flags, int);
}

/* ---- no mistakes ----------------------------------------------------------------------------- */

__global__ void branches(float *out, int n, int at)
{
    float t[8];
    if (threadIdx.x % 2) {
        for (int i = 0; i < n; i++) t[i] = (float)i;
    } else {
        for (int i = n; i-- > 0;) t[i] = 1;
    }
    out[threadIdx.x] = t[at] + t[at + 1];
}

CASE(written_in_both_branches)
{
    RUN(branches, float);
}

__global__ void partial(body *out, int n, int at)
{
    body t[8], u[8];
    for (int i = 0; i < n; i++) t[i].x = (float)i, t[i].kind = i;
    if (n > 8) t[at].y = 1;
    for (int i = 0; i < n; i++) u[n - 1 - i] = t[i];
    out[threadIdx.x] = u[at];
}

CASE(structure_with_an_unused_member)
{
    RUN(partial, body);
}

__device__ __noinline__ void fill(int *t, int n)
{
    for (int i = 0; i < n; i++) t[i] = i;
}

__global__ void filled_by_callee(int *out, int n, int at)
{
    int t[8];
    fill(t, n);
    out[threadIdx.x] = t[at] + t[at + 1];
}

CASE(callee_fills)
{
    RUN(filled_by_callee, int);
}

__device__ __noinline__ int depth(int n, int at)
{
    int t[4];
    for (int i = 0; i < 4; i++) t[i] = n + i;
    int below = n > 0 ? depth(n - 1, at) : 0;
    return t[at] + below;
}

__global__ void recursive(int *out, int n, int at)
{
    out[threadIdx.x] = depth(n, at) + depth(threadIdx.x % 4, at);
}

CASE(recursion)
{
    RUN(recursive, int);
}

__global__ void prints(int *out, int n, int at)
{
    double t[4];
    for (int i = 0; i < 4; i++) t[i] = i * 0.5;
    if (threadIdx.x == 0 && blockIdx.x == 0) printf("%d %g %c %s\n", n, t[at], 'x', "yes");
    out[threadIdx.x] = at;
}

CASE(prints_arguments) // STDOUT prints_arguments: 8 1.5 x yes
{
    RUN(prints, int);
}

__global__ void select(float *out, int n, int at)
{
    float t[8];
    for (int i = 0; i < at; i++) t[i] = (float)i;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        float x = t[i % 8];
        sum += i < at ? x : 0.0f;
    }
    bool large = n > 8 && t[n - 1] > 2;
    out[threadIdx.x] = sum + (large ? t[at] : 1);
}

CASE(select_drops_it)
{
    RUN(select, float);
}

__global__ void hoisted(float *out, int n, int at)
{
    float t[8], sum = 0;
    if (n > 8) t[5] = (float)at, t[at] = 1;
    for (int i = 0; i < n; i++) {
        if (out[i] > 100) sum += t[5] * t[n - 1];
    }
    out[64 + threadIdx.x] = sum;
}

CASE(never_taken)
{
    float *p = to_device(std::vector<float>(256, 0.0f));
    hoisted<<<2, 64>>>(p, 8, 3);
    SYNC();
}

__global__ void set_bytes(int *out, int n, int at)
{
    int t[8], u[8];
    memset(t, 0, sizeof t);
    unsigned char *bytes = (unsigned char *)u;
    for (int i = 0; i < 4 * n; i++) bytes[i] = 1;
    out[threadIdx.x] = t[at] + u[at];
}

CASE(memset_and_bytes)
{
    RUN(set_bytes, int);
}

__global__ void wide(float4 *out, int n, int at)
{
    float4 t[4];
    double d[4];
    for (int i = 0; i < 4; i++) t[i] = make_float4((float)i, 1, 2, 3), d[i] = i;
    float4 v = t[at];
    v.x += (float)d[n % 4];
    out[threadIdx.x] = v;
}

CASE(vectors_and_doubles)
{
    RUN(wide, float4);
}

__global__ void pun(int *out, int n, int at)
{
    union {
        float f[8];
        unsigned char c[32];
        struct {
            unsigned low : 5, high : 27;
        } bits[8];
    } u;
    for (int i = 0; i < 4; i++) u.f[i] = (float)i;
    for (int i = 4; i < n; i++) u.bits[i].low = i;
    out[threadIdx.x] = u.c[4 * at] + u.bits[at + 1].low + u.c[4 * at + 3];
}

CASE(unions_and_bit_fields)
{
    RUN(pun, int);
}

// ENV unchecked: SOFTGPU_CHECKS=warn,uninitialised=off
CASE(unchecked)
{
    RUN(copied_out, int);
}
