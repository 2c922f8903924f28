/* inputs.c: arrays of a case, from the case's own random numbers; freed when the case ends. */
#include "running.h"

#include "mistakes/mistakes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE ((size_t)4 << 20) /* bytes; from here on in huge pages, if there are any */

struct allocation {
    struct allocation *next;
    size_t mapped; /* bytes, or 0: from calloc */
    double bytes[];
};

/* An array of 128 MiB is 32,768 page faults, or 64. */
static struct allocation *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    struct allocation *a = memory;
    a->mapped = bytes;
    return a;
}

/* It ends where unmapped memory begins, and lives as long as the process. */
static void *guarded(size_t bytes)
{
    const size_t page = 4096, whole = (bytes + page - 1) / page * page;
    unsigned char *memory =
        mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + whole, page, PROT_NONE) != 0) abort();
    return memory + whole - (bytes + 7) / 8 * 8;
}

static void *allocate(size_t count, size_t element)
{
    if (running->trial) return guarded(count * element);
    const size_t bytes = sizeof(struct allocation) + count * element;
    struct allocation *a = bytes < LARGE ? calloc(1, bytes) : map(bytes);
    if (!a) fail("the grader has no memory for %zu elements", count);
    a->next = running->allocations;
    running->allocations = a;
    return a->bytes;
}

void inputs_free(void)
{
    suspects_forget(); /* they are inputs too */
    while (running->allocations) {
        struct allocation *a = running->allocations;
        running->allocations = a->next;
        if (a->mapped)
            munmap(a, a->mapped);
        else
            free(a);
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

void *array_of(element_type e, size_t count)
{
    return allocate(count, element_bytes(e));
}

/* Every part of an array knows where in the one sequence of random numbers it begins. */
typedef struct filling {
    random_state start;
    element_type element;
    void *x;
    double low, high;
} filling;

static void fill_elements(size_t begin, size_t end, void *context)
{
    const filling *f = context;
    random_state here = f->start;
    random_skip(&here, begin);
    for (size_t i = begin; i < end; i++) {
        const double unit = (double)(random_u64(&here) >> 11) * 0x1p-53;
        element_store(f->element, f->x, i, f->low + (f->high - f->low) * unit);
    }
}

/* @param work that takes one random number an element */
static void *filled(filling f, size_t count, parallel_work *work)
{
    f.start = running->random;
    f.x = array_of(f.element, count);
    parallel(count, 1, work, &f);
    random_skip(&running->random, count);
    return f.x;
}

void *random_of(element_type e, size_t count, double low, double high)
{
    return filled((filling){.element = e, .low = low, .high = high}, count, fill_elements);
}

typedef struct conversion {
    element_type element;
    const unsigned char *from;
    float *to;
} conversion;

static void convert_part(size_t begin, size_t end, void *context)
{
    const conversion *c = context;
    const unsigned poison = element_poison(c->element), unwritten = POISON_F32;
    const size_t bytes = element_bytes(c->element);
    for (size_t i = begin; i < end; i++) {
        const float value = (float)element_value(c->element, c->from, i);
        const bool written =
            !isnan(value) || memcmp(c->from + i * bytes, &poison, bytes < 4 ? bytes : 4) != 0;
        memcpy(&c->to[i], written ? (const void *)&value : &unwritten, 4);
    }
}

float *f32_of(element_type e, const void *array, size_t count)
{
    conversion c = {e, array, f32_array(count)};
    parallel(count, 1, convert_part, &c);
    return c.to;
}

random_state *case_random(void)
{
    return &running->random;
}

float *random_f32(size_t count)
{
    return random_f32_between(count, -1.0f, 1.0f);
}

static void fill_uniform(size_t begin, size_t end, void *context)
{
    const filling *f = context;
    random_state here = f->start;
    random_skip(&here, begin);
    random_fill_uniform(&here, (float *)f->x + begin, end - begin, (float)f->low, (float)f->high);
}

float *random_f32_between(size_t count, float low, float high)
{
    return filled((filling){.element = ELEMENT_F32, .low = low, .high = high}, count, fill_uniform);
}

float *random_normal_f32(size_t count)
{
    float *x = f32_array(count);
    random_fill_normal(&running->random, x, count, 1.0f);
    return x;
}

/* Hardly ever a number takes two: then the next takes the second, too. */
static void fill_i32(size_t begin, size_t end, void *context)
{
    const filling *f = context;
    for (size_t i = begin; i < end; i++) {
        random_state here = f->start;
        random_skip(&here, i);
        const unsigned above = (unsigned)random_below(&here, (uint64_t)(f->high - f->low));
        ((int *)f->x)[i] = (int)((unsigned)(int)f->low + above);
    }
}

int *random_i32(size_t count, int low, int high)
{
    return filled((filling){.element = ELEMENT_I32, .low = low, .high = high}, count, fill_i32);
}

void sprinkle_f32(float *x, size_t count, float value, int how_many)
{
    for (int i = 0; i < how_many && count > 0; i++)
        x[random_below(&running->random, count)] = value;
}

void sprinkle_special_f32(float *x, size_t count, int how_many)
{
    sprinkle_f32(x, count, 0.0f, how_many > 0 ? (int)(count / 8) : 0);
    sprinkle_f32(x, count, INFINITY, how_many);
    sprinkle_f32(x, count, -INFINITY, how_many);
    sprinkle_f32(x, count, NAN, how_many);
}
