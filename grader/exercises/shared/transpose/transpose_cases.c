/* transpose_cases.c: see transpose_cases.h. */
#include "exercises/shared/transpose/transpose_cases.h"

#include <string.h>

/* want[cols x rows] */
static double *turned_by_hand(const float *in, size_t rows, size_t cols)
{
    double *want = f64_array(rows * cols);
    for (size_t i = 0; i < rows * cols; i++) want[i % cols * rows + i / cols] = in[i];
    return want;
}

static void expect_transposed(const float *out, const float *in, size_t rows, size_t cols)
{
    const double *want = turned_by_hand(in, rows, cols);
    const layout l = {"out", cols, rows};
    expect(is_close(l, out, want, NULL, 0.0) || memcmp(out, in, rows * cols * sizeof(float)) != 0,
           "out equals in: nothing was transposed");
    expect_close(l, out, want, NULL, 0.0);
}

static void call_shifted(const char *function, float *out, const float *in, const long *shape,
                         unsigned of_out, unsigned of_in)
{
    const size_t n = (size_t)shape[0] * shape[1];
    call_cuda(function,
              ARGS(shifted(out_f32("out", out, n), of_out), shifted(in_f32("in", in, n), of_in),
                   i32(shape[0]), i32(shape[1]), stream()));
}

static void call_transpose(const char *function, float *out, const float *in, const long *shape)
{
    call_shifted(function, out, in, shape, 0, 0);
}

static void random_at(const char *function, const long *shape, unsigned of_out, unsigned of_in)
{
    const size_t n = (size_t)shape[0] * shape[1];
    float *in = random_f32(n), *out = f32_array(n);
    if (n > 64) sprinkle_special_f32(in, n, 3);
    call_shifted(function, out, in, shape, of_out, of_in);
    const device_counts *c = call_counts();
    expect(n > 0 || !c || c->launches == 0, "out is empty, but a kernel is launched");
    expect_transposed(out, in, shape[0], shape[1]);
}

void transpose_random(const char *function, const long *shape)
{
    random_at(function, shape, 0, 0);
}

void transpose_aligned(const char *function, const long *shape)
{
    random_at(function, shape, 16, 16);
}

void transpose_to_any_address(const char *function, const long *shape)
{
    random_at(function, shape, 4, 16);
}

void transpose_there_and_back(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0] * shape[1];
    const float *in = random_f32(n);
    float *turned = f32_array(n), *back = f32_array(n);
    call_transpose(function, turned, in, shape);
    call_transpose(function, back, turned, (long[]){shape[1], shape[0]});
    expect(memcmp(back, in, n * sizeof(float)) == 0,
           "the transpose of the transpose is not the matrix");
}

void transpose_timed(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0] * shape[1];
    const float *in = random_f32(n);
    float *out = f32_array(n);
    call_transpose(function, out, in, shape);
    if (strncmp(function, "baseline", 8) != 0) expect_transposed(out, in, shape[0], shape[1]);
}
