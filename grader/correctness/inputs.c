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

void *random_of(element_type e, size_t count, double low, double high)
{
    void *x = array_of(e, count);
    for (size_t i = 0; i < count; i++) {
        const double unit = (double)(random_u64(&running->random) >> 11) * 0x1p-53;
        element_store(e, x, i, low + (high - low) * unit);
    }
    return x;
}

float *f32_of(element_type e, const void *array, size_t count)
{
    const unsigned poison = element_poison(e), unwritten = POISON_F32;
    const size_t bytes = element_bytes(e);
    float *x = f32_array(count);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = (const unsigned char *)array + i * bytes;
        const float value = (float)element_value(e, array, i);
        const bool written = !isnan(value) || memcmp(at, &poison, bytes < 4 ? bytes : 4) != 0;
        memcpy(&x[i], written ? (const void *)&value : &unwritten, 4);
    }
    return x;
}

random_state *case_random(void)
{
    return &running->random;
}

float *random_f32(size_t count)
{
    return random_f32_between(count, -1.0f, 1.0f);
}

typedef struct uniform {
    random_state start;
    float *x, low, high;
} uniform;

/* Every part knows where in the one sequence of random numbers it begins. */
static void fill_uniform(size_t begin, size_t end, void *context)
{
    const uniform *u = context;
    random_state here = u->start;
    random_skip(&here, begin);
    random_fill_uniform(&here, u->x + begin, end - begin, u->low, u->high);
}

float *random_f32_between(size_t count, float low, float high)
{
    uniform u = {running->random, f32_array(count), low, high};
    parallel(count, 1, fill_uniform, &u);
    random_skip(&running->random, count);
    return u.x;
}

float *random_normal_f32(size_t count)
{
    float *x = f32_array(count);
    random_fill_normal(&running->random, x, count, 1.0f);
    return x;
}

int *random_i32(size_t count, int low, int high)
{
    int *x = i32_array(count);
    for (size_t i = 0; i < count; i++) {
        x[i] = low + (int)random_below(&running->random, (uint64_t)(high - low));
    }
    return x;
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
