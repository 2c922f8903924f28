/*
 * test_calls.c: what a worker counts of the runtime's calls, as what, and which it refuses
 * (worker/calls.c). The runtime behind it is none: an address says what memory it is of, and what
 * would be copied is noted.
 */
#include "grader/tests.h"

#include <dlfcn.h>
#include <stdint.h>

static void *runtime_function(void *handle, const char *name);

#define WITH_CUDA
#define dlsym          runtime_function
#define pthread_create thread_of_the_code /* else it would be that of all tests */
#include "worker/calls.c"
#undef pthread_create
#undef dlsym

bool code_calls_from(const void *address)
{
    return address != NULL;
}

/* ---- a runtime ------------------------------------------------------------------------------- */

#define ADDRESS(n) ((void *)(uintptr_t)(n))
#define DEVICE     ADDRESS(0x1000)
#define MANAGED    ADDRESS(0x2000)
#define PINNED     ADDRESS(0x3000)
#define PAGEABLE   ADDRESS(0x4000)
#define UNKNOWN    ADDRESS(0x5000) /* the runtime has no answer */
#define STREAM     ((cudaStream_t)ADDRESS(0x6000))

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *pointer)
{
    memset(a, 0, sizeof *a);
    a->type = pointer == DEVICE    ? cudaMemoryTypeDevice
              : pointer == MANAGED ? cudaMemoryTypeManaged
              : pointer == PINNED  ? cudaMemoryTypeHost
                                   : cudaMemoryTypeUnregistered;
    if (pointer == UNKNOWN) a->type = cudaMemoryTypeDevice; /* and says that this means nothing */
    return pointer == UNKNOWN ? cudaErrorInvalidValue : cudaSuccess;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "another";
}

typedef struct call {
    const char *function;
    const void *to, *from;
    size_t to_pitch, from_pitch, width, height;
    enum cudaMemcpyKind kind;
    cudaStream_t on;
} call;

static call seen;

static cudaError_t copied(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    seen = (call){"cudaMemcpy", to, from, 0, 0, bytes, 1, kind, NULL};
    return cudaErrorInvalidValue; /* so that it is seen to come back */
}

static cudaError_t copied_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                cudaStream_t on)
{
    seen = (call){"cudaMemcpyAsync", to, from, 0, 0, bytes, 1, kind, on};
    return cudaErrorInvalidValue;
}

static cudaError_t copied_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind)
{
    seen = (call){"cudaMemcpy2D", to, from, to_pitch, from_pitch, width, height, kind, NULL};
    return cudaErrorInvalidValue;
}

static cudaError_t copied_2d_async(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, enum cudaMemcpyKind kind,
                                   cudaStream_t on)
{
    seen = (call){"cudaMemcpy2DAsync", to, from, to_pitch, from_pitch, width, height, kind, on};
    return cudaErrorInvalidValue;
}

static cudaError_t allocated(void **pointer, size_t bytes)
{
    (void)pointer;
    return bytes > 100 ? cudaErrorMemoryAllocation : cudaSuccess;
}

static cudaError_t allocated_async(void **pointer, size_t bytes, cudaStream_t on)
{
    (void)on;
    return allocated(pointer, bytes);
}

static cudaError_t freed(void *pointer)
{
    return pointer == UNKNOWN ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t freed_async(void *pointer, cudaStream_t on)
{
    (void)on;
    return freed(pointer);
}

static int waits;

static cudaError_t waited(void)
{
    waits++;
    return cudaSuccess;
}

static cudaError_t started(void)
{
    return cudaSuccess;
}

static void *runtime_function(void *handle, const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } all[] = {{"cudaMemcpy", (void *)copied},
               {"cudaMemcpyAsync", (void *)copied_async},
               {"cudaMemcpy2D", (void *)copied_2d},
               {"cudaMemcpy2DAsync", (void *)copied_2d_async},
               {"cudaMalloc", (void *)allocated},
               {"cudaMallocAsync", (void *)allocated_async},
               {"cudaFree", (void *)freed},
               {"cudaFreeAsync", (void *)freed_async},
               {"cudaStreamSynchronize", (void *)waited},
               {"cudaDeviceSynchronize", (void *)waited},
               {"cudaLaunchKernel", (void *)started},
               {"cudaGetLastError", (void *)started},
               {"cudaStreamCreate", (void *)started},
               {"cudaStreamDestroy", (void *)started},
               {"cudaStreamWaitEvent", (void *)waited},
               {"cudaLaunchHostFunc", (void *)started}};
    ck_assert_ptr_eq(handle, RTLD_NEXT); /* or it finds itself */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) return all[i].function;
    }
    ck_abort_msg("%s is asked for", name);
}

/* ---- what is counted ------------------------------------------------------------------------- */

static const struct {
    void *to, *from;
    size_t bytes;
    unsigned count, pinned;
} rows[] = {
    {DEVICE, PAGEABLE, 100, 1, 0},  {PAGEABLE, DEVICE, 100, 1, 0}, {DEVICE, PINNED, 100, 1, 1},
    {PINNED, DEVICE, 100, 1, 1},    {MANAGED, PINNED, 100, 1, 1},  {PAGEABLE, MANAGED, 100, 1, 0},
    {DEVICE, DEVICE, 100, 0, 0},    {DEVICE, MANAGED, 100, 0, 0},  {PAGEABLE, PINNED, 100, 0, 0},
    {PAGEABLE, UNKNOWN, 100, 0, 0}, {DEVICE, UNKNOWN, 100, 1, 0},  {DEVICE, NULL, 100, 1, 0},
    {DEVICE, PINNED, 0, 0, 0},
};

static wire_reply stopped(void)
{
    wire_reply reply;
    calls_stop(&reply);
    return reply;
}

static void expect_copies(unsigned count, unsigned pinned, size_t bytes)
{
    const wire_copies c = stopped().copies;
    ck_assert_uint_eq(c.count, count);
    ck_assert_uint_eq(c.pinned, pinned);
    ck_assert_uint_eq(c.bytes, bytes);
}

static void start(uint32_t refuse_at)
{
    const wire_call call = {.refuse_at = refuse_at};
    calls_start(&call, STREAM);
}

START_TEST(between_host_and_device)
{
    start(0);
    cudaMemcpy(rows[_i].to, rows[_i].from, rows[_i].bytes, cudaMemcpyDefault);
    expect_copies(rows[_i].count, rows[_i].pinned, rows[_i].count * rows[_i].bytes);
}
END_TEST

START_TEST(by_every_function)
{
    start(0);
    cudaMemcpy(DEVICE, PAGEABLE, 1, cudaMemcpyHostToDevice);
    cudaMemcpyAsync(DEVICE, PINNED, 10, cudaMemcpyHostToDevice, STREAM);
    cudaMemcpy2D(DEVICE, 64, PAGEABLE, 32, 20, 5, cudaMemcpyHostToDevice);
    cudaMemcpy2DAsync(PINNED, 64, DEVICE, 32, 20, 50, cudaMemcpyDeviceToHost, STREAM);
    expect_copies(4, 2, 1111);
}
END_TEST

START_TEST(in_a_call_alone)
{
    cudaMemcpy(DEVICE, PINNED, 100, cudaMemcpyHostToDevice);
    start(0);
    cudaMemcpy(DEVICE, PAGEABLE, 7, cudaMemcpyHostToDevice);
    expect_copies(1, 0, 7);
    cudaMemcpy(DEVICE, PINNED, 100, cudaMemcpyHostToDevice);
    expect_copies(1, 0, 7);
    start(0);
    expect_copies(0, 0, 0);
}
END_TEST

START_TEST(what_is_not_freed)
{
    void *p;
    cudaMalloc(&p, 4);
    start(0);
    cudaMalloc(&p, 4);
    cudaMallocAsync(&p, 4, STREAM);
    cudaMalloc(&p, 1000);
    cudaFree(NULL);
    cudaFree(UNKNOWN);
    ck_assert_int_eq(stopped().copies.kept, 2);
    start(0);
    cudaMalloc(&p, 4);
    cudaFree(DEVICE);
    cudaFreeAsync(DEVICE, STREAM);
    ck_assert_int_eq(stopped().copies.kept, -1);
}
END_TEST

/* ---- what it does, and is refused ------------------------------------------------------------ */

static void launch(cudaStream_t on)
{
    cudaLaunchKernel(NULL, (dim3){0}, (dim3){0}, NULL, 0, on);
}

static void expect_deeds(wire_deed deed, unsigned count, const char *first)
{
    const wire_calls c = stopped().calls;
    ck_assert_uint_eq(c.deeds[deed].count, count);
    ck_assert_str_eq(c.deeds[deed].first, first);
}

START_TEST(what_it_does)
{
    void *p;
    start(0);
    launch(STREAM);
    cudaMallocAsync(&p, 4, STREAM);
    cudaFreeAsync(DEVICE, STREAM);
    expect_deeds(DEED_WAIT, 0, "");
    expect_deeds(DEED_ALLOCATE, 1, "cudaMallocAsync");
    expect_deeds(DEED_ALLOCATE_ELSEWHERE, 0, "");
    expect_deeds(DEED_LAUNCH, 1, "cudaLaunchKernel");
    expect_deeds(DEED_ASTRAY, 0, "");
    expect_deeds(DEED_LEGACY, 0, "");
    start(0);
    launch(NULL);
    cudaLaunchHostFunc(NULL, NULL, NULL);
    expect_deeds(DEED_ASTRAY, 2, "cudaLaunchKernel");
    expect_deeds(DEED_LEGACY, 2, "cudaLaunchKernel");
    start(0);
    cudaMallocAsync(&p, 4, NULL);
    cudaMalloc(&p, 4);
    cudaFree(NULL);
    expect_deeds(DEED_WAIT, 0, "");
    cudaStreamSynchronize(STREAM);
    start(0);
    cudaMallocAsync(&p, 4, NULL);
    cudaFree(DEVICE);
    cudaStreamSynchronize(STREAM);
    expect_deeds(DEED_ALLOCATE_ELSEWHERE, 1, "cudaMallocAsync");
    expect_deeds(DEED_WAIT, 2, "cudaFree");
}
END_TEST

START_TEST(what_it_has_waited_for)
{
    start(0);
    launch(STREAM);
    ck_assert(stopped().calls.pending);
    start(0);
    launch(STREAM);
    cudaMemcpy(PAGEABLE, DEVICE, 4, cudaMemcpyDefault); /* of the legacy stream */
    ck_assert(stopped().calls.pending);
    start(0);
    launch(NULL);
    cudaMemcpy(PAGEABLE, DEVICE, 4, cudaMemcpyDefault);
    ck_assert(!stopped().calls.pending);
    start(0);
    launch(STREAM);
    cudaDeviceSynchronize();
    ck_assert(!stopped().calls.pending);
    start(0);
    launch(STREAM);
    cudaStreamSynchronize(NULL);
    ck_assert(stopped().calls.pending);
}
END_TEST

/* Two allocations, a launch, after which none does anything, and two waits, which are done all the
 * same; freeing is never refused. */
START_TEST(one_is_refused)
{
    static const char *const names[] = {"", "cudaMalloc", "cudaMalloc", "cudaLaunchKernel",
                                        "cudaStreamSynchronize", "cudaStreamWaitEvent"};
    void *p;
    waits = 0;
    start((uint32_t)_i);
    const int first = cudaMalloc(&p, 4), second = cudaMalloc(&p, 4);
    launch(STREAM);
    const int last = cudaGetLastError(), after = cudaGetLastError();
    ck_assert_int_eq(cudaFree(NULL), cudaSuccess);
    ck_assert_int_eq(cudaFree(DEVICE), cudaSuccess);
    ck_assert_int_eq(cudaStreamSynchronize(STREAM) != 0, _i == 4);
    ck_assert_int_eq(cudaStreamWaitEvent(STREAM, NULL, 0) != 0, _i == 5);
    const wire_calls c = stopped().calls;
    ck_assert_str_eq(c.refused, names[_i]);
    ck_assert_str_eq(c.refusal, !*c.refused ? ""
                                : _i < 3    ? "cudaErrorMemoryAllocation"
                                            : "another");
    ck_assert_int_eq(without_kernels, _i == 3);
    ck_assert_int_eq(first != 0, _i == 1);
    ck_assert_int_eq(second != 0, _i == 2);
    ck_assert_int_eq(last != 0, _i > 0 && _i < 4);
    ck_assert_int_eq(after, cudaSuccess);
    ck_assert_int_eq(waits, 2);
}
END_TEST

START_TEST(what_is_left)
{
    cudaStream_t one, two;
    start(2);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two); /* refused */
    ck_assert_int_eq(stopped().calls.left, 1);
    start(0);
    cudaStreamDestroy(STREAM);
    ck_assert_int_eq(stopped().calls.left, -1);
}
END_TEST

/* ---- and goes on ----------------------------------------------------------------------------- */

static void expect_seen(const char *function, size_t pitch, size_t height, cudaStream_t on)
{
    ck_assert_str_eq(seen.function, function);
    ck_assert_ptr_eq(seen.to, DEVICE);
    ck_assert_ptr_eq(seen.from, PINNED);
    ck_assert_uint_eq(seen.to_pitch, 2 * pitch);
    ck_assert_uint_eq(seen.from_pitch, pitch);
    ck_assert_uint_eq(seen.width, 20);
    ck_assert_uint_eq(seen.height, height);
    ck_assert_int_eq(seen.kind, cudaMemcpyHostToDevice);
    ck_assert_ptr_eq(seen.on, on);
}

START_TEST(the_runtime_gets_the_same)
{
    const enum cudaMemcpyKind kind = cudaMemcpyHostToDevice;
    ck_assert_int_eq(cudaMemcpy(DEVICE, PINNED, 20, kind), cudaErrorInvalidValue);
    expect_seen("cudaMemcpy", 0, 1, NULL);
    ck_assert_int_eq(cudaMemcpyAsync(DEVICE, PINNED, 20, kind, STREAM), cudaErrorInvalidValue);
    expect_seen("cudaMemcpyAsync", 0, 1, STREAM);
    ck_assert_int_eq(cudaMemcpy2D(DEVICE, 64, PINNED, 32, 20, 5, kind), cudaErrorInvalidValue);
    expect_seen("cudaMemcpy2D", 32, 5, NULL);
    ck_assert_int_eq(cudaMemcpy2DAsync(DEVICE, 64, PINNED, 32, 20, 5, kind, STREAM),
                     cudaErrorInvalidValue);
    expect_seen("cudaMemcpy2DAsync", 32, 5, STREAM);
}
END_TEST

Suite *suite_calls(void)
{
    Suite *suite = suite_create("calls");
    TCase *tcase = tcase_create("calls");
    tcase_add_loop_test(tcase, between_host_and_device, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, by_every_function);
    tcase_add_test(tcase, in_a_call_alone);
    tcase_add_test(tcase, what_is_not_freed);
    tcase_add_test(tcase, what_it_does);
    tcase_add_test(tcase, what_it_has_waited_for);
    tcase_add_loop_test(tcase, one_is_refused, 0, 6);
    tcase_add_test(tcase, what_is_left);
    tcase_add_test(tcase, the_runtime_gets_the_same);
    suite_add_tcase(suite, tcase);
    return suite;
}
