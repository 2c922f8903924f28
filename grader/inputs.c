/* inputs.c: arrays of a case, from the case's own random numbers; freed when the case ends. */
#include "grader.h"

#include <math.h>
#include <stdlib.h>

struct allocation {
    struct allocation *next;
    double bytes[];
};

static void *allocate(size_t count, size_t element)
{
    struct allocation *a = calloc(1, sizeof *a + count * element);
    if (!a) fail("the grader has no memory for %zu elements", count);
    a->next = now.allocations;
    now.allocations = a;
    return a->bytes;
}

void inputs_free(void)
{
    while (now.allocations) {
        struct allocation *next = now.allocations->next;
        free(now.allocations);
        now.allocations = next;
    }
}

float *f32_array(size_t count)
{
    return allocate(count, sizeof(float));
}

double *f64_array(size_t count)
{
    return allocate(count, sizeof(double));
}

int *i32_array(size_t count)
{
    return allocate(count, sizeof(int));
}

random_state *case_random(void)
{
    return &now.random;
}

float *random_f32(size_t count)
{
    return random_f32_between(count, -1.0f, 1.0f);
}

float *random_f32_between(size_t count, float low, float high)
{
    float *x = f32_array(count);
    random_fill_uniform(&now.random, x, count, low, high);
    return x;
}

float *random_normal_f32(size_t count)
{
    float *x = f32_array(count);
    random_fill_normal(&now.random, x, count, 1.0f);
    return x;
}

int *random_i32(size_t count, int low, int high)
{
    int *x = i32_array(count);
    for (size_t i = 0; i < count; i++) {
        x[i] = low + (int)random_below(&now.random, (uint64_t)(high - low));
    }
    return x;
}

void sprinkle_f32(float *x, size_t count, float value, int how_many)
{
    for (int i = 0; i < how_many && count > 0; i++) x[random_below(&now.random, count)] = value;
}
