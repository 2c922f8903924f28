/*
 * 215_find_the_bugs.cu: eight kernels, each with one bug.
 *
 * The idea: a kernel with a bug often gives the right result, today and on this GPU. Tools see what
 * the result hides: two threads at one place, a read of memory that was never written, a lane that
 * is missing. A finding names the line where it went wrong. You have to find out why.
 *
 * What it costs: a fix is a line or two. One thread instead of many, or a barrier after every line,
 * silences the tool too, but makes the kernel pointless.
 *
 * Each line that may be to blame ends with its number.
 */
#include "215_find_the_bugs/find_the_bugs.h"

#include <limits.h>

#define GROUP 256 /* threads of a block, and values of a group */
#define LANES 32
#define ALL   0xffffffffu

static unsigned groups(size_t n)
{
    return (unsigned)((n + GROUP - 1) / GROUP);
}

/* ---- rotate_groups --------------------------------------------------------------------------- */

/* In its group, every value moves one place to the front, and the first one to the end. */
__global__ static void rotate_groups_kernel(int *out, const int *in, size_t n)
{
    __shared__ int group[GROUP];
    size_t first = (size_t)blockIdx.x * GROUP, i = first + threadIdx.x; /* 11 */
    int length = n - first < GROUP ? (int)(n - first) : GROUP;          /* 12 */
    if (i < n) group[threadIdx.x] = in[i];                              /* 13 */
#ifndef BROKEN
    __syncthreads(); /* the neighbour's value is there */
#endif
    if (i < n) out[i] = group[(threadIdx.x + 1) % length]; /* 14 */
}

cudaError_t rotate_groups(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n > 0) rotate_groups_kernel<<<groups(n), GROUP, 0, stream>>>(out, in, n); /* 15 */
    return cudaGetLastError();
}

/* ---- scale_all ------------------------------------------------------------------------------- */

/* x[i] *= factor */
__global__ static void scale_all_kernel(int *x, size_t n, int factor)
{
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x; /* 21 */
#ifdef BROKEN
    if (i > n) return; /* 22 */
#else
    if (i >= n) return; /* 22 */
#endif
    x[i] *= factor; /* 23 */
}

cudaError_t scale_all(int *x, size_t n, int factor, cudaStream_t stream)
{
    if (n > 0) scale_all_kernel<<<groups(n), GROUP, 0, stream>>>(x, n, factor); /* 24 */
    return cudaGetLastError();
}

/* ---- count_digits ---------------------------------------------------------------------------- */

/* counts[d] = how many of digits[n] are d, for d in 0 .. 9 */
__global__ static void count_digits_kernel(int *counts, const int *digits, size_t n)
{
    __shared__ int table[10];                            /* of this block */
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x; /* 31 */
#ifndef BROKEN
    if (threadIdx.x < 10) table[threadIdx.x] = 0;
    __syncthreads(); /* no thread counts before all is 0 */
#endif
    if (i < n) atomicAdd(&table[digits[i]], 1);                                /* 32 */
    __syncthreads();                                                           /* 33 */
    if (threadIdx.x < 10) atomicAdd(&counts[threadIdx.x], table[threadIdx.x]); /* 34 */
}

cudaError_t count_digits(int *counts, const int *digits, size_t n, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(counts, 0, 10 * sizeof(int), stream); /* 35 */
    if (error != cudaSuccess || n == 0) return error;
    count_digits_kernel<<<groups(n), GROUP, 0, stream>>>(counts, digits, n); /* 36 */
    return cudaGetLastError();
}

/* ---- group_sums ------------------------------------------------------------------------------ */

/* out[g] = the sum of group g */
__global__ static void group_sums_kernel(int *out, const int *in, size_t n)
{
    __shared__ int part[GROUP];
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x;   /* 41 */
    part[threadIdx.x] = i < n ? in[i] : 0;                 /* 42 */
    __syncthreads();                                       /* 43 */
    for (unsigned half = GROUP / 2; half > 0; half /= 2) { /* 44 */
#ifdef BROKEN
        if (threadIdx.x < half) {                          /* 45 */
            part[threadIdx.x] += part[threadIdx.x + half]; /* 46 */
            __syncthreads();                               /* 47 */
        }
#else
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        /* all threads come here, in each round */
        __syncthreads();
#endif
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0]; /* 48 */
}

cudaError_t group_sums(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n > 0) group_sums_kernel<<<groups(n), GROUP, 0, stream>>>(out, in, n); /* 49 */
    return cudaGetLastError();
}

/* ---- warp_maxima ----------------------------------------------------------------------------- */

/* out[w] = the largest of the 32 values from in[32 w] on */
__global__ static void warp_maxima_kernel(int *out, const int *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x; /* 51 */
#ifdef BROKEN
    if (i >= n) return; /* 52 */
    int most = in[i];   /* 53 */
#else
    int most = i < n ? in[i] : INT_MIN; /* every lane contributes a value */
#endif
    for (int step = LANES / 2; step > 0; step /= 2) {        /* 54 */
        most = max(most, __shfl_down_sync(ALL, most, step)); /* 55 */
    }
#ifdef BROKEN
    if (threadIdx.x % LANES == 0) out[i / LANES] = most; /* 56 */
#else
    if (threadIdx.x % LANES == 0 && i < n) out[i / LANES] = most; /* 56 */
#endif
}

cudaError_t warp_maxima(int *out, const int *in, size_t n, cudaStream_t stream)
{
    if (n > 0) warp_maxima_kernel<<<groups(n), GROUP, 0, stream>>>(out, in, n); /* 57 */
    return cudaGetLastError();
}

/* ---- gather_steps ---------------------------------------------------------------------------- */

/* out[i] = in[(i * step) modulo n] */
__global__ static void gather_steps_kernel(int *out, const int *in, int n, int step)
{
    int i = blockIdx.x * GROUP + threadIdx.x; /* 61 */
    if (i >= n) return;                       /* 62 */
#ifdef BROKEN
    out[i] = in[i * step % n]; /* 63 */
#else
    out[i] = in[(long long)i * step % n];                         /* 63 */
#endif
}

cudaError_t gather_steps(int *out, const int *in, int n, int step, cudaStream_t stream)
{
    if (n > 0) gather_steps_kernel<<<groups(n), GROUP, 0, stream>>>(out, in, n, step); /* 64 */
    return cudaGetLastError();
}

/* ---- evaluate_line --------------------------------------------------------------------------- */

/* y[i] = h_ab[0] * x[i] + h_ab[1] */

#ifdef BROKEN
__global__ static void evaluate_line_kernel(int *y, const int *x, size_t n, const int *ab)
{
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x; /* 71 */
    if (i < n) y[i] = ab[0] * x[i] + ab[1];              /* 72 */
}
#else
__global__ static void evaluate_line_kernel(int *y, const int *x, size_t n, int a, int b)
{
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x;
    if (i < n) y[i] = a * x[i] + b;
}
#endif

cudaError_t evaluate_line(int *y, const int *x, size_t n, const int *h_ab, cudaStream_t stream)
{
#ifdef BROKEN
    if (n > 0) evaluate_line_kernel<<<groups(n), GROUP, 0, stream>>>(y, x, n, h_ab); /* 73 */
#else
    if (n > 0) evaluate_line_kernel<<<groups(n), GROUP, 0, stream>>>(y, x, n, h_ab[0], h_ab[1]);
#endif
    return cudaGetLastError();
}

/* ---- count_above ----------------------------------------------------------------------------- */

/* count[0] = how many of x[n] are larger than limit */
__global__ static void count_above_kernel(int *count, const int *x, size_t n, int limit)
{
    size_t i = (size_t)blockIdx.x * GROUP + threadIdx.x; /* 81 */
    if (i >= n || x[i] <= limit) return;                 /* 82 */
#ifdef BROKEN
    *count += 1; /* 83 */
#else
    atomicAdd(count, 1);
#endif
}

cudaError_t count_above(int *count, const int *x, size_t n, int limit, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, stream); /* 84 */
    if (error != cudaSuccess || n == 0) return error;
    count_above_kernel<<<groups(n), GROUP, 0, stream>>>(count, x, n, limit); /* 85 */
    return cudaGetLastError();
}
