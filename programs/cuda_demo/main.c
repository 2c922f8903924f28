/*
 * main.c: `make cuda_demo`, a program on ../backend that shows a device: its properties, a
 * computation, its speed, and its error messages, after which it goes on.
 *
 *   cuda_demo [--device cpu|gpu|N]
 *
 * Without the option it takes the best GPU, or the CPU where there is none. The exit status is 1
 * when any result is wrong.
 */
#include "demo.h"
#include "not_implemented.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB ((double)(1 << 30))

/* ---- what it is ------------------------------------------------------------------------------ */

static bool show_memory(device *d)
{
    memory_use now;
    if (says_no(device_memory(d, &now))) return false;
    printf("memory: %.1f GiB, %.1f GiB of it free\n", now.bytes / GIB, now.free_bytes / GIB);
    return true;
}

/* Of a GPU: what its pool did. Nothing may be left in use. */
static bool show_pool(device *d)
{
    memory_use now;
    if (d->number == DEVICE_CPU) return true;
    if (says_no(device_memory(d, &now))) return false;
    printf(
        "the pool: %zu blocks handed out, %zu of them reused; at most %.1f MiB in use, now %zu\n",
        now.blocks, now.reused, now.peak / (GIB / 1024), now.in_use);
    return now.in_use == 0;
}

/* ---- that it computes ------------------------------------------------------------------------ */

static bool show_zeros(device *d)
{
    matrix zeros;
    float total = 1.0f;
    failure failed = matrix_zeros(&zeros, d, 1000, 1000);
    if (!failed) failed = matrix_sum(&total, &zeros);
    if (!failed) printf("the sum of 1000 x 1000 zeros: %g\n", total);
    matrix_free(&zeros);
    return !says_no(failed) && total == 0.0f;
}

static bool show_product(device *d)
{
    static const float h_a[4] = {1, 2, 3, 4}, h_b[4] = {5, 6, 7, 8}, expected[4] = {19, 22, 43, 50};
    float h_c[4] = {0};
    matrix a, b, c = {0};
    failure failed = matrix_from_slice(&a, d, h_a, 4, 2, 2),
            also = matrix_from_slice(&b, d, h_b, 4, 2, 2);
    if (!failed) failed = also;
    if (!failed) failed = matrix_matmul(&c, &a, &b);
    if (!failed) failed = matrix_to_vec(h_c, 4, &c);
    if (!failed)
        printf("[[1, 2], [3, 4]] x [[5, 6], [7, 8]] = [[%g, %g], [%g, %g]]\n", h_c[0], h_c[1],
               h_c[2], h_c[3]);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
    return !says_no(failed) && memcmp(h_c, expected, sizeof h_c) == 0;
}

/* ---- that it says no ------------------------------------------------------------------------- */

/* What should have been refused, and was. */
static bool refused(failure failed)
{
    printf("  %s\n", failed ? failed : "nobody minded");
    return failed != NULL;
}

static bool refuses_device(void)
{
    device none;
    return refused(device_open(&none, 99));
}

static bool refuses_shapes(device *d)
{
    matrix a, b, c = {0};
    failure failed = matrix_ones(&a, d, 2, 3), also = matrix_ones(&b, d, 2, 3);
    bool right = !says_no(failed) && !says_no(also) && refused(matrix_matmul(&c, &a, &b));
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
    return right;
}

/* A third more than the device has. */
static bool refuses_size(device *d)
{
    memory_use now;
    matrix huge;
    if (says_no(device_memory(d, &now))) return false;
    bool right = refused(matrix_zeros(&huge, d, 1 << 20, (int)(now.bytes / (3 << 20)) + 1));
    matrix_free(&huge);
    return right;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool demonstrate(device *d, device *cpu)
{
    bool right = show_memory(d) && show_zeros(d) && show_product(d);
    putchar('\n');
    right = right && show_work(d, cpu);
    printf("\nerrors are reported:\n");
    right = right && refuses_device() && refuses_shapes(d) && refuses_size(d);
    printf("and the program goes on:\n  ");
    right = right && show_product(d);
    return show_pool(d) && right;
}

/* A device that cannot be had is said, and the best one is taken instead. */
static bool open_chosen(device *d, int number)
{
    const int count = gpu_count();
    printf("%d GPU%s\n", count, count == 1 ? "" : "s");
    if (says_no(device_open(d, number)) && says_no(device_open(d, best_device()))) return false;
    printf("chosen: %s\n", d->name);
    return true;
}

int main(int argc, char **argv)
{
    int number;
    device chosen, cpu;
    const bool right_form = argc == 1 || (argc == 3 && strcmp(argv[1], "--device") == 0);
    if (!right_form || !device_number(&number, argc == 3 ? argv[2] : NULL)) {
        fprintf(stderr, "usage: %s [--device cpu|gpu|N]\n", argv[0]);
        return 2;
    }
    if (!open_chosen(&chosen, number) || says_no(device_open(&cpu, DEVICE_CPU))) return 1;
    bool right = demonstrate(&chosen, &cpu);
    device_close(&cpu);
    device_close(&chosen);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return right && stub == NULL ? 0 : 1;
}
