#include "scan_cases.h"

#include <limits.h>
#include <string.h>

static void expect_scan(const int *out, const int *in, size_t n)
{
    int *want = i32_array(n), *inclusive = i32_array(n);
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) {
        want[i] = (int)sum;
        sum += (unsigned)in[i];
        inclusive[i] = (int)sum;
    }
    const size_t bytes = n * sizeof(int);
    expect(
        memcmp(out, want, bytes) == 0 || memcmp(out, inclusive, bytes) != 0,
        "out[0] is %d, should be 0: each sum has its own element too (that is an inclusive scan)",
        out[0]);
    /* The lowest lane gets its own value from each of five shuffles: 31 times too much. */
    expect(out[0] == 0 || out[0] % 31 != 0,
           "out[0] is %d, should be 0; 31 divides it: a lane that has none below it may have added "
           "its own value; only lanes >= distance may add",
           out[0]);
    expect_equal_i32((layout){"out", 1, n}, out, want);
}

static void scan(const char *function, const int *in, size_t n)
{
    int *out = i32_array(n);
    call_cuda(function, ARGS(out_i32("out", out, n), in_i32("in", in, n), u64(n), stream()));
    if (strncmp(function, "baseline_", 9) != 0) expect_scan(out, in, n);
}

void scan_random(const char *function, const long *shape)
{
    scan(function, random_i32(shape[0], -100, 100), shape[0]);
}

void scan_wrapping(const char *function, const long *shape)
{
    scan(function, random_i32(shape[0], INT_MIN, INT_MAX), shape[0]);
}

void scan_ones(const char *function, const long *shape)
{
    int *in = i32_array(shape[0]);
    for (long i = 0; i < shape[0]; i++) in[i] = 1;
    scan(function, in, shape[0]);
}

void scan_in_place(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    int *x = random_i32(n, -100, 100), *was = i32_array(n);
    memcpy(was, x, n * sizeof(int));
    call_cuda(function, ARGS(inout_of(ELEMENT_I32, "out", x, n), same_as(0), u64(n), stream()));
    expect_scan(x, was, n);
}

void scan_twice(const char *function, const long *shape)
{
    scan(function, random_i32(shape[0], 1, 100), shape[0]);
    scan(function, random_i32(shape[1], 1, 100), shape[1]);
}
