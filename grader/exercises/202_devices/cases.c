/* 202_devices: two devices; tensors on each; and calls that must be refused in words, after which
 * the same process computes as before. */
#include "correctness/case.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONFIGURATION = 9, INVALID_DEVICE = 101 };
enum { MULTIPROCESSORS = 16, MOST_THREADS = 1 }; /* cudaDeviceAttr */
enum { HOST_TO_HOST = 0 };                       /* cudaMemcpyKind */

typedef struct device_info { /* as in basics.h */
    int number, multiprocessors, most_threads, padding;
    uint64_t bytes, free_bytes;
} device_info;

typedef struct tensor { /* likewise */
    uint64_t h_data, d_data, n;
    int place, padding;
} tensor;

static argument struct_out(const char *name, void *data, size_t bytes)
{
    return host(out_i32(name, data, bytes / sizeof(int)));
}

static int attribute_of(int device, int attribute)
{
    int value;
    call_cuda("cudaDeviceGetAttribute",
              ARGS(struct_out("value", &value, sizeof value), i32(attribute), i32(device)));
    return value;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* As a number of its own: 9 does not stand in 99. */
static bool has_number(const char *words, unsigned long long number)
{
    for (const char *at = words; *at;) {
        char *end = (char *)at + 1;
        if (isdigit((unsigned char)*at) && strtoull(at, &end, 10) == number) return true;
        at = end;
    }
    return false;
}

/* As many as there is room for. */
static const char *words_in(size_t room)
{
    char *got = array_of(ELEMENT_BYTE, room);
    call_void("device_words", ARGS(host(out_of(ELEMENT_BYTE, "h_words", got, room)), u64(room)));
    expect(memchr(got, '\0', room) != NULL,
           "the words are not terminated within a room of %zu bytes", room);
    return got;
}

/* Ended by 0. */
static void expect_words(const unsigned long long *numbers)
{
    static char words[300];
    snprintf(words, sizeof words, "%s", words_in(256));
    for (size_t room = 1; room < 20; room += 9)
        expect(strncmp(words_in(room), words, room - 1) == 0,
               "a room of %zu bytes gets other words than one of 256", room);
    for (; *numbers; numbers++)
        expect(has_number(words, *numbers), "the words are `%s`, and do not say %llu", words,
               *numbers);
}

#define WORDS(...) expect_words((unsigned long long[]){__VA_ARGS__, 0})

/* ---- devices --------------------------------------------------------------------------------- */

static int count_devices(void)
{
    int count, is;
    call_cuda("device_count", ARGS(struct_out("h_count", &count, sizeof count)));
    call_cuda("cudaGetDeviceCount", ARGS(struct_out("count", &is, sizeof is)));
    expect(count == is, "device_count says %d, and there are %d", count, is);
    return count;
}

static device_info info_of(int number)
{
    device_info info;
    call_cuda("device_new", ARGS(struct_out("h_info", &info, sizeof info), i32(number)));
    return info;
}

static void expect_int(int device, const char *what, int said, int is)
{
    expect(said == is, "%s of device %d is reported as %d, but is %d", what, device, said, is);
}

static void run_devices(const long *shape)
{
    const int count = count_devices();
    (void)shape;
    const char *words = words_in(256);
    expect(!*words, "nothing has failed yet, but the words are `%s`", words);
    for (int i = 0; i < count; i++) {
        const device_info info = info_of(i);
        expect_int(i, "number", info.number, i);
        expect_int(i, "multiprocessors", info.multiprocessors, attribute_of(i, MULTIPROCESSORS));
        expect_int(i, "most_threads", info.most_threads, attribute_of(i, MOST_THREADS));
        expect(info.bytes >= info.free_bytes && info.free_bytes > 0,
               "device %d has %llu bytes, and %llu of them are said to be free", i,
               (unsigned long long)info.bytes, (unsigned long long)info.free_bytes);
    }
    uint64_t unused, bytes;
    call_cuda("cudaMemGetInfo", ARGS(struct_out("free", &unused, sizeof unused),
                                     struct_out("total", &bytes, sizeof bytes)));
    expect(info_of(0).bytes == bytes, "device 0 is reported to have %llu bytes, but has %llu",
           (unsigned long long)info_of(0).bytes, (unsigned long long)bytes);
}

static void run_default(const long *shape)
{
    int said, best = 0;
    (void)shape;
    call_cuda("default_device", ARGS(struct_out("h_number", &said, sizeof said)));
    for (int i = count_devices() - 1; i >= 0; i--) {
        const bool more = attribute_of(i, MULTIPROCESSORS) >= attribute_of(best, MULTIPROCESSORS);
        if (more) best = i;
    }
    expect(said == best, "default_device says %d; %d is the first with most multiprocessors", said,
           best);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* The host could fill managed memory by itself. */
static void expect_moved(const char *function, size_t n)
{
    const device_counts *c = call_counts();
    if (!c) return;
    expect(moved_bytes(c) >= (double)(n * sizeof(float)),
           "%s: the device wrote or copied %.0f bytes for %zu floats: they belong on it", function,
           moved_bytes(c), n);
}

/* Its numbers are on the GPU alone, and it says so. */
static void expect_place(const char *function, int t)
{
    tensor got;
    call_cuda("cudaMemcpy", ARGS(struct_out("tensor", &got, sizeof got), handle(t), u64(sizeof got),
                                 i32(HOST_TO_HOST)));
    expect(got.place == 1, "%s leaves %d in place: it should be TENSOR_ON_GPU, 1", function,
           got.place);
    expect(!got.h_data, "%s: h_data should be NULL: the tensor has no host memory", function);
}

static void make(int t, const char *function, int device, size_t n)
{
    call_counted(function, ARGS(handle_out(t), i32(device), u64(n)));
    expect_moved(function, n);
    expect_place(function, t);
}

static void slice(int t, int device, const float *x, size_t rows, size_t cols)
{
    call_counted("from_slice",
                 ARGS(handle_out(t), i32(device), host(in_f32("h_values", x, rows * cols)),
                      u64(rows * cols), u64(rows), u64(cols)));
    expect_moved("from_slice", rows * cols);
    expect_place("from_slice", t);
}

static void expect_tensor(int t, const float *want, size_t n)
{
    float *y = f32_array(n);
    double *all = f64_array(n);
    for (size_t i = 0; i < n; i++) all[i] = want[i];
    call_counted("to_vec", ARGS(host(out_f32("h_y", y, n)), u64(n), handle(t)));
    expect_moved("to_vec", n);
    expect_close((layout){"h_y", 1, n}, y, all, NULL, 0.0);
}

static void release(int t)
{
    call_cuda("tensor_release", ARGS(handle(t)));
}

static const float *filled(size_t n, float value)
{
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) x[i] = value;
    return x;
}

/* shape: n, device */
static void run_filled(const long *shape)
{
    const size_t n = (size_t)shape[0];
    make(0, "zeros", (int)shape[1], n);
    make(1, "ones", (int)shape[1], n);
    call_cuda("synchronize", ARGS(i32((int)shape[1])));
    expect_tensor(0, filled(n, 0.0f), n);
    release(0);
    expect_tensor(1, filled(n, 1.0f), n);
    release(1);
}

/* shape: rows, cols, device */
static void run_slice(const long *shape)
{
    const size_t n = (size_t)(shape[0] * shape[1]);
    float *x = random_f32(n);
    sprinkle_special_f32(x, n, n > 100 ? 3 : 0);
    slice(0, (int)shape[2], x, (size_t)shape[0], (size_t)shape[1]);
    expect_tensor(0, x, n);
    release(0);
    call_cuda("tensor_release", ARGS(null_pointer()));
}

/* Memory is taken from the device that was named, and from no other. shape: n */
static void run_where(const long *shape)
{
    static const char *const functions[] = {"zeros", "ones", "from_slice"};
    const size_t n = (size_t)shape[0];
    for (int f = 0; f < 3; f++) {
        const uint64_t first = info_of(0).free_bytes, second = info_of(1).free_bytes;
        if (f < 2)
            make(0, functions[f], 1, n);
        else
            slice(0, 1, filled(n, 2.0f), n, 1);
        expect(info_of(0).free_bytes + 2 * n > first, "%s for device 1 takes memory of device 0",
               functions[f]);
        expect(info_of(1).free_bytes + 2 * n < second, "%s for device 1 takes no memory of it",
               functions[f]);
        release(0);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* As before, in the same process. */
static void expect_alive(void)
{
    run_filled((const long[]){1000, 0});
    run_slice((const long[]){20, 50, 1});
}

/* Other words, of another size. @param t is not NULL afterwards, unless a refused call says so */
static void refuse_length(int t)
{
    make(t, "ones", 1, 5);
    call_refused(INVALID_VALUE, "to_vec",
                 ARGS(host(out_f32("h_y", f32_array(7), 7)), u64(7), handle(t)));
    release(t);
    WORDS(5, 7);
}

/* shape: device, size */
static void run_no_device(const long *shape)
{
    const int device = (int)shape[0], count = count_devices();
    const unsigned said = (unsigned)abs(device);
    const size_t n = (size_t)shape[1];
    const float *x = random_f32(n);
    device_info info;
    refuse_length(0);
    call_refused(INVALID_DEVICE, "device_new",
                 ARGS(struct_out("h_info", &info, sizeof info), i32(device)));
    WORDS(said, (unsigned)count);
    refuse_length(0);
    call_refused(INVALID_DEVICE, "synchronize", ARGS(i32(device)));
    WORDS(said, (unsigned)count);
    for (int f = 0; f < 2; f++) {
        refuse_length(0);
        call_refused(INVALID_DEVICE, f ? "ones" : "zeros",
                     ARGS(handle_out(0), i32(device), u64(n)));
        release(0); /* NULL */
        WORDS(said, (unsigned)count);
    }
    refuse_length(0);
    call_refused(
        INVALID_DEVICE, "from_slice",
        ARGS(handle_out(0), i32(device), host(in_f32("h_values", x, n)), u64(n), u64(n), u64(1)));
    release(0);
    expect_alive();
    WORDS(said, (unsigned)count); /* of the last one that failed, whatever has worked since */
}

/* shape: n, 2^20 times */
static void run_no_memory(const long *shape)
{
    const unsigned long long n = (unsigned long long)shape[0] << 20;
    for (int device = 0; device < 2; device++) {
        refuse_length(0);
        call_refused(OUT_OF_MEMORY, device ? "ones" : "zeros",
                     ARGS(handle_out(0), i32(device), u64(n)));
        release(0);
        WORDS(n);
    }
    const float one = 1.0f; /* no more of them is read: the memory comes first */
    refuse_length(0);
    call_refused(
        OUT_OF_MEMORY, "from_slice",
        ARGS(handle_out(0), i32(1), host(in_f32("h_values", &one, 1)), u64(n), u64(n), u64(1)));
    release(0);
    WORDS(n);
    expect_alive();
}

static void make_and_release(const void *unused)
{
    (void)unused;
    make(0, "ones", 1, 5);
    release(0);
}

static void ask_too_much(const void *unused)
{
    (void)unused;
    call_refused(OUT_OF_MEMORY, "ones", ARGS(handle_out(0), i32(1), u64(1ull << 58)));
}

/* shape: times */
static void run_frees_all(const long *shape)
{
    const double each = kept_by(make_and_release, NULL, shape[0], shape[0], KEEPS_NOTHING);
    const double none = kept_by(ask_too_much, NULL, shape[0], shape[0], KEEPS_NOTHING);
    expect(each <= KEEPS_NOTHING, "%.0f bytes of host memory are not freed for each tensor", each);
    expect(none <= KEEPS_NOTHING,
           "ones, refused for lack of memory, keeps %.0f bytes of host memory", none);
}

/* shape: count, rows, cols */
static void run_shape(const long *shape)
{
    const size_t count = (size_t)shape[0];
    const unsigned long long rows = (unsigned long long)shape[1];
    const unsigned long long cols = (unsigned long long)shape[2];
    refuse_length(0);
    call_refused(INVALID_VALUE, "from_slice",
                 ARGS(handle_out(0), i32(0), host(in_f32("h_values", random_f32(count), count)),
                      u64(count), u64(rows), u64(cols)));
    release(0);
    if (count > 0 && rows > 0 && cols > 0) WORDS(count, rows, cols);
    expect_alive();
}

/* shape: n of the tensor, n that is asked for */
static void run_other_length(const long *shape)
{
    const size_t n = (size_t)shape[0], asked = (size_t)shape[1];
    float *y = f32_array(asked);
    make(0, "ones", 1, n);
    call_refused(INVALID_VALUE, "to_vec",
                 ARGS(host(inout_of(ELEMENT_F32, "h_y", y, asked)), u64(asked), handle(0)));
    WORDS(n, asked);
    for (size_t i = 0; i < asked; i++)
        expect(y[i] == 0.0f, "to_vec writes h_y[%zu] of an array that is too small for the tensor",
               i);
    expect_tensor(0, filled(n, 1.0f), n);
    release(0);
    expect_alive();
}

static void launch(int threads)
{
    const size_t n = (size_t)threads;
    int *out = i32_array(n), *want = i32_array(n);
    for (int i = 0; i < threads; i++) want[i] = i;
    call_cuda("launch_threads", ARGS(out_i32("out", out, n), i32(threads), stream()));
    expect_equal_i32((layout){"out", 1, n}, out, want);
}

/* shape: threads */
static void run_threads(const long *shape)
{
    launch((int)shape[0]);
}

static void run_too_many_threads(const long *shape)
{
    int out = 0;
    call_refused(INVALID_CONFIGURATION, "launch_threads",
                 ARGS(inout_of(ELEMENT_I32, "out", &out, 1), i32((int)shape[0]), stream()));
    WORDS((unsigned)shape[0], (unsigned)attribute_of(0, MOST_THREADS));
    launch(attribute_of(0, MOST_THREADS));
    expect_alive();
}

static const grading_case cases[] = {
    {.name = "each device", .run = run_devices, .once = true},
    {.name = "default device", .run = run_default, .once = true},
    {.name = "filled, n=1", .run = run_filled, .shape = {1, 0}, .part = "zeros"},
    {.name = "filled, n=0", .run = run_filled, .shape = {0, 1}},
    {.name = "filled, any on device 1", .run = run_filled, .shape = {1, 1}, .most = {3000}},
    LONG_ROW("filled, n=70001 on device 1", run_filled, 70001, 1),
    {.name = "slice of 3 x 5", .run = run_slice, .shape = {3, 5, 0}},
    {.name = "slice of 0 x 5", .run = run_slice, .shape = {0, 5, 1}},
    {.name = "slice of 5 x 0", .run = run_slice, .shape = {5, 0, 0}},
    LONG_ROW("slice of 70001 x 1", run_slice, 70001, 1, 0),
    LONG_ROW("slice of 2 x 65537 on device 1", run_slice, 2, 65537, 1),
    {.name = "on the device that is named", .run = run_where, .shape = {4 << 20}, .once = true},
    {.name = "device 99", .run = run_no_device, .shape = {99, 10}, .once = true},
    {.name = "device 99, nothing", .run = run_no_device, .shape = {99, 0}, .once = true},
    {.name = "device 2 of 2",
     .run = run_no_device,
     .shape = {2, 10},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "device -1", .run = run_no_device, .shape = {-1, 10}, .once = true},
    {.name = "10 TB", .run = run_no_memory, .shape = {2500000}, .once = true},
    {.name = "2^62 floats", .run = run_no_memory, .shape = {1L << 42}, .once = true},
    {.name = "2^62 + 2^20 floats", .run = run_no_memory, .shape = {(1L << 42) + 1}, .once = true},
    {.name = "3000 tensors, each freed",
     .run = run_frees_all,
     .shape = {3000},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "shape of one too many", .run = run_shape, .shape = {16, 3, 5}},
    {.name = "shape of none", .run = run_shape, .shape = {16, 16, 3}},
    {.name = "shape of 5 x 0 for 15", .run = run_shape, .shape = {15, 5, 0}},
    {.name = "shape of 0 x 5 for 15", .run = run_shape, .shape = {15, 0, 5}},
    {.name = "shape of 3 x 5 for none", .run = run_shape, .shape = {0, 3, 5}},
    /* (2^63 + 8) x 2 */
    {.name = "shape that wraps", .run = run_shape, .shape = {16, LONG_MIN + 8, 2}},
    {.name = "too few of a tensor", .run = run_other_length, .shape = {1000, 999}},
    {.name = "too many of a tensor", .run = run_other_length, .shape = {1000, 1001}},
    {.name = "threads: 1", .run = run_threads, .shape = {1}, .part = "launch_threads"},
    {.name = "threads: none", .run = run_threads, .shape = {0}},
    {.name = "threads: 1024", .run = run_threads, .shape = {1024}},
    {.name = "threads: 1025", .run = run_too_many_threads, .shape = {1025}},
    {.name = "threads: 2^30", .run = run_too_many_threads, .shape = {1 << 30}},
    {0},
};

EXERCISE(202) = {
    .id = 202,
    .name = "devices",
    .file = "phase2_cuda_basics/202_devices/202_devices.cu",
    .functions = {"device_count", "device_new", "default_device", "synchronize", "zeros", "ones",
                  "from_slice", "to_vec", "tensor_release", "launch_threads", "device_words"},
    .promises = {{"synchronize", HAS_WAITED},
                 {"zeros", HAS_WAITED},
                 {"ones", HAS_WAITED},
                 {"from_slice", HAS_WAITED},
                 {"to_vec", HAS_WAITED}},
    .devices = 2,
    .host_copies = true,
    .points = 10,
    .cases = cases,
};
