/*
 * validate.c: `make validate`: each operation naive, optimised and by a library, in one table.
 *
 *   bench_validate     TSV on stdout
 *
 * A time is the median of up to 15 calls, after one to warm up. It is measured as the grader does:
 * the caches are flushed before each call, the host submits the call meanwhile, and the clock stops
 * when the device has nothing left to do. The output that was timed last is compared with sums in
 * double: all of it was written, and SAMPLES elements are right. A wrong one is called WRONG and
 * has no time.
 *
 * GB are the fewest that an operation can move: inputs read once, outputs written once. The roof is
 * the longer of two times at the device's best: to move these, or to compute. A copy and the clock
 * give that best (lines with #).
 *
 * softgpu has no times: there shapes are small, and only right and wrong are reported.
 */
#include "validate.h"

#include "course/course.h"
#include "cuda_check.h"
#include "random.h"
#include "table.h"

#include <math.h>
#include <stdint.h>
#include <sys/wait.h>

#define REPEATS   15     /* at most */
#define ENOUGH    2000.0 /* milliseconds, of all calls of a variant */
#define SAMPLES   48
#define UNWRITTEN 0x80808080u /* no sum of an int8 product is so low */

static struct cudaDeviceProp device;
static int on_softgpu;

/* ---- roofs ----------------------------------------------------------------------------------- */

static struct roof {
    const char *precision;
    double flops; /* a second; 0: unknown */
} roofs[] = {{"fp32", 0}, {"bf16", 0}, {"int8", 0}};
static double bytes_a_second;

static void find_roofs(void)
{
    const int capability = 10 * device.major + device.minor;
    const double clocks = atof(fact("clocks_of_all_sms"));
    roofs[0].flops = atof(fact("flop_per_second"));
    roofs[1].flops = clocks * tensor_operations(capability, IN_HALF);
    roofs[2].flops = clocks * tensor_operations(capability, IN_INT8);
    bytes_a_second = atof(fact("copy_bytes_per_second"));
}

static size_t bytes_of(element e)
{
    static const size_t bytes[ELEMENTS] = {[F32] = 4, [BF16] = 2, [S8] = 1, [S32] = 4};
    return bytes[e];
}

static double least_bytes(const variant *v)
{
    return validate_least.in * (double)bytes_of(v->in) +
           validate_least.out * (double)bytes_of(v->out) + validate_least.fixed;
}

/* Milliseconds that it takes at least. @param name receives what takes them */
static double roof_of(const variant *v, const char **name)
{
    double flops = 0.0;
    for (size_t i = 0; i < sizeof roofs / sizeof *roofs; i++)
        if (strcmp(roofs[i].precision, v->precision) == 0) flops = roofs[i].flops;
    const double move = bytes_a_second > 0 ? 1e3 * least_bytes(v) / bytes_a_second : 0.0;
    const double compute = flops > 0 ? 1e3 * validate_least.flop / flops : 0.0;
    *name = move == 0.0 && compute == 0.0 ? "" : move > compute ? "copy" : v->precision;
    return fmax(move, compute);
}

/* ---- one variant ----------------------------------------------------------------------------- */

typedef struct outcome {
    double milliseconds, error;
    const char *verdict;
} outcome;

static int is(const outcome *r, const char *verdict)
{
    return strcmp(r->verdict, verdict) == 0;
}

/* Queued before a call: while it runs, the host submits the call, whose time holds no launches. */
static cudaError_t flush_caches(void)
{
    static void *area;
    const size_t bytes = 4 * (size_t)device.l2CacheSize;
    if (on_softgpu) return cudaSuccess;
    if (area == NULL) CUDA_CHECK(cudaMalloc(&area, bytes));
    return cudaMemsetAsync(area, 0, bytes, 0);
}

static cudaError_t time_once(const variant *v, double *milliseconds)
{
    static cudaEvent_t start, stop;
    float ms = 0.0f;
    if (start == NULL) CUDA_CHECK(cudaEventCreate(&start));
    if (stop == NULL) CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(flush_caches());
    CUDA_CHECK(cudaEventRecord(start, 0));
    CUDA_CHECK(v->run());
    CUDA_CHECK(cudaDeviceSynchronize()); /* as the grader, which counts other streams too */
    CUDA_CHECK(cudaEventRecord(stop, 0));
    CUDA_CHECK(cudaEventSynchronize(stop));
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    *milliseconds = ms;
    return cudaSuccess;
}

static cudaError_t median_of(const variant *v, double *milliseconds)
{
    double times[REPEATS + 1], total = 0.0;
    int count = 0;
    while (count <= REPEATS && total < ENOUGH) {
        CUDA_CHECK(time_once(v, &times[count]));
        total += times[count++];
        if (on_softgpu) break;
    }
    const int first = count > 1; /* the others were warm */
    qsort(times + first, (size_t)(count - first), sizeof *times, by_value);
    *milliseconds = times[first + (count - first) / 2];
    return cudaSuccess;
}

/* NaN where nothing was written. */
static double value_of(const void *output, element e, size_t i)
{
    if (e == F32) return ((const float *)output)[i];
    const uint32_t bits =
        e == S32 ? ((const uint32_t *)output)[i] : (uint32_t)((const uint16_t *)output)[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return e == BF16 ? value : bits == UNWRITTEN ? NAN : (int32_t)bits;
}

/* The largest error, as a part of the scale; NaN where something was not written. */
static double error_of(const operation *o, const void *output, element e)
{
    const size_t size = (size_t)validate_least.out;
    random_state rng = random_seed(1);
    double worst = 0.0;
    for (size_t i = 0; i < size; i++)
        if (isnan(value_of(output, e, i))) return NAN;
    for (int s = 0; s < SAMPLES; s++) {
        const size_t i = s == 0 ? 0 : s == 1 ? size - 1 : random_below(&rng, size);
        double scale = 0.0;
        const double want = o->want(i, &scale);
        const double apart = fabs(value_of(output, e, i) - want);
        const double error = apart == 0 ? 0.0 : apart / scale;
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

static outcome measure(const operation *o, const variant *v)
{
    const size_t bytes = (size_t)validate_least.out * bytes_of(v->out);
    outcome result = {0, 0, "right"};
    void *output = malloc(bytes);
    if (output == NULL || cudaMemset(validate_output, v->out == S32 ? 0x80 : 0xff, bytes) ||
        median_of(v, &result.milliseconds) ||
        cudaMemcpy(output, validate_output, bytes, cudaMemcpyDeviceToHost)) {
        free(output);
        return (outcome){.verdict = "failed"};
    }
    result.error = error_of(o, output, v->out);
    free(output);
    if (!(result.error <= v->allowed)) return (outcome){0, result.error, "WRONG"};
    if (on_softgpu) result.milliseconds = 0.0;
    return result;
}

/* PyTorch draws its own inputs, and prints milliseconds and the largest error. */
static outcome by_torch(const operation *o, const variant *v)
{
    const long *s = validate_shape;
    char command[256];
    outcome result = {0, 0, "right"};
    if (on_softgpu) return (outcome){.verdict = "not here"};
    snprintf(command, sizeof command,
             "\"${PYTHON:-python3}\" bench/validate_torch.py '%s' '%s' %ld %ld %ld %ld %ld",
             o->name, v->name, s[0], s[1], s[2], s[3], s[4]);
    FILE *out = popen(command, "r");
    if (out == NULL) return (outcome){.verdict = "failed"};
    const int read = fscanf(out, "%lf %lf", &result.milliseconds, &result.error);
    const int status = pclose(out);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return (outcome){.verdict = "not here"};
    if (status != 0 || read != 2) return (outcome){.verdict = "failed"};
    if (!(result.error <= v->allowed)) return (outcome){0, result.error, "WRONG"};
    return result;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void describe_machine(void)
{
    printf("# device %s; ", device.name);
    if (!on_softgpu) printf("driver for CUDA %s; ", fact("driver"));
    printf("commit %s\n", variable("COURSE_COMMIT"));
    if (!on_softgpu)
        printf("# roofs: copy=%.4g GB/s, fp32=%.5g, bf16=%.5g, int8=%.5g GFLOP/s\n",
               1e-9 * bytes_a_second, 1e-9 * roofs[0].flops, 1e-9 * roofs[1].flops,
               1e-9 * roofs[2].flops);
    printf("operation\tvariant\tkind\tprecision\tshape\tmilliseconds\tGB\tGFLOP\troof\t%% of "
           "roof\ttimes naive\terror\tverdict\n");
}

static void print_variant(const operation *o, const variant *v, const outcome *r, double naive)
{
    static const char *const kinds[] = {"naive", "optimised", "library"};
    const long *s = validate_shape;
    const char *roof;
    const double least = roof_of(v, &roof), ms = r->milliseconds;
    printf("%s\t%s\t%s\t%s\t", o->name, v->name, kinds[v->kind], v->precision);
    printf(o->words, s[0], s[1], s[2], s[3], s[4]);
    if (on_softgpu && is(r, "right"))
        printf("\tnot timed");
    else
        print_number("%.4f", ms);
    print_number("%.4g", 1e-9 * least_bytes(v));
    print_number("%.4g", 1e-9 * validate_least.flop);
    printf("\t%s", roof);
    print_number("%.1f", ms > 0 ? 100 * least / ms : 0.0);
    print_number("%.3g", ms > 0 ? naive / ms : 0.0);
    putchar('\t');
    if (is(r, "right") || is(r, "WRONG")) printf("%.1e", r->error);
    printf("\t%s\n", r->verdict);
    fflush(stdout);
}

/* @return whether something is wrong or failed */
static int validate(const operation *o)
{
    double naive = 0.0;
    int failed = 0;
    validate_shape = o->shape[on_softgpu];
    const cudaError_t error = o->begin();
    for (int i = 0; i < validate_variant_count; i++) {
        const variant *v = &validate_variants[i];
        if (strcmp(v->operation, o->name) != 0) continue;
        outcome r = {.verdict = "no room"};
        if (error == cudaSuccess) r = v->run ? measure(o, v) : by_torch(o, v);
        if (v->kind == NAIVE) naive = r.milliseconds;
        print_variant(o, v, &r, naive);
        failed |= is(&r, "WRONG") || is(&r, "failed");
    }
    validate_end();
    return failed;
}

int main(void)
{
    int failed = 0;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
        fprintf(stderr, "bench_validate: no device\n");
        return 2;
    }
    on_softgpu = strcmp(device.name, "softgpu") == 0;
    if (!on_softgpu) find_roofs();
    describe_machine();
    for (int i = 0; i < validate_operation_count; i++) failed |= validate(&validate_operations[i]);
    return failed;
}
