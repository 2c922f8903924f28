/*
 * allreduce_cases.c: sums of an array of each device.
 */
#include "allreduce_cases.h"

#include <math.h>
#include <string.h>

const char *allreduce_name(int gpu)
{
    static const char *const names[MOST] = {"buffers[0]", "buffers[1]", "buffers[2]", "buffers[3]",
                                            "buffers[4]", "buffers[5]", "buffers[6]", "buffers[7]"};
    return names[gpu];
}

void allreduce_add_arrays(allreduce_call *s, float *const *x, size_t n, int gpus, int first)
{
    static unsigned long long buffers[MOST], streams[MOST];
    for (int g = 0; g < gpus; g++) {
        buffers[g] = (unsigned long long)(first + g);
        streams[g] = (unsigned long long)(first + gpus + g);
        const argument on = inout_f32(allreduce_name(g), x[g], n), its = stream();
        s->arguments[buffers[g]] = beside(g ? on_device((unsigned)g, on) : on);
        s->arguments[streams[g]] = beside(g ? on_device((unsigned)g, its) : its);
    }
    s->arguments[1] = host(addresses("buffers", buffers, (size_t)gpus));
    s->arguments[4] = host(addresses("streams", streams, (size_t)gpus));
    s->count = first + 2 * gpus;
}

void allreduce_run(const char *function, float *const *x, size_t n, int gpus, int op)
{
    allreduce_call s = {0};
    s.arguments[0] = strncmp(function, "base", 4) ? handle(0) : null_pointer();
    s.arguments[2] = u64(n);
    s.arguments[3] = i32(op);
    allreduce_add_arrays(&s, x, n, gpus, 5);
    call_cuda(function, s.arguments, s.count);
}

/* ---- what must come of it -------------------------------------------------------------------- */

allreduce_wanted allreduce_sum_of(float *const *x, size_t n, int gpus, double factor)
{
    allreduce_wanted w = {f64_array(n), f64_array(n)};
    for (int g = 0; g < gpus; g++)
        for (size_t i = 0; i < n; i++) {
            w.sum[i] += factor * x[g][i];
            w.scale[i] += factor * fabs(x[g][i]);
        }
    return w;
}

static void expect_same_bits(float *const *x, size_t n, int gpus)
{
    for (int g = 1; g < gpus; g++) {
        size_t i = 0;
        while (i < n && memcmp(&x[g][i], &x[0][i], sizeof **x) == 0) i++;
        expect(i == n,
               "%s[%zu] is %.9g, and buffers[0][%zu] is %.9g: all GPUs must have the same bits",
               allreduce_name(g), i, x[g][i], i, x[0][i]);
    }
}

void allreduce_expect(float *const *x, size_t n, int gpus, allreduce_wanted w)
{
    for (int g = 0; g < gpus; g++)
        expect_close((layout){allreduce_name(g), 1, n}, x[g], w.sum, w.scale, 1e-6);
    expect_same_bits(x, n, gpus);
}

void allreduce_two_plans(const char *open, const char *close, const char *function,
                         const long *shape)
{
    const int gpus = (int)shape[0], op = (int)shape[2];
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    allreduce_draw(x, n, gpus, 0);
    const allreduce_wanted w = allreduce_sum_of(x, n, gpus, allreduce_factor(op, gpus));
    call_cuda(open, ARGS(handle_out(1), i32(gpus)));
    call_cuda(open, ARGS(handle_out(PLAN), i32(gpus)));
    call_cuda(close, ARGS(handle(1)));
    allreduce_run(function, x, n, gpus, op);
    allreduce_expect(x, n, gpus, w);
    call_cuda(close, ARGS(handle(PLAN)));
}

void allreduce_draw(float **x, size_t n, int gpus, int special)
{
    for (int g = 0; g < gpus; g++) {
        x[g] = n < 1 << 20 ? random_normal_f32(n) : random_f32(n);
        if (special && g == special % gpus) sprinkle_special_f32(x[g], n, special);
    }
}

double allreduce_factor(int op, int gpus)
{
    return op == MEAN ? 1.0 / gpus : 1.0;
}
