/*
 * allreduce.cu: the ring of 415 on all GPUs of this machine and, for small arrays, the one-shot sum
 * of 4e, next to NCCL and a copy between two GPUs.
 *
 *   allreduce [BYTES ...]     TSV on stdout; bytes of each GPU's array
 *
 * Each time is that of one call among many that follow each other, by the host's clock, the median
 * of 7 rounds. Bandwidths are bytes / time * 2 (N - 1) / N for sums, what a link carries, and bytes
 * / time for a copy. NCCL is loaded if it is there: libnccl.so.2, or what NCCL names. Lines that
 * begin with # name the machine. On softgpu the figures say how fast the emulator is.
 */
#include "cuda_check.h"
#include "optimization.h"
#include "table.h"
#include "timer.h"

#include <dlfcn.h>

#define MOST   16
#define ROUNDS 7

/* ---- NCCL, of which only this is needed ---- */

typedef void *communicator;
enum { NCCL_FLOAT = 7, NCCL_SUM = 0 };

static struct nccl {
    int (*init_all)(communicator *, int, const int *);
    int (*group_start)(void), (*group_end)(void);
    int (*all_reduce)(const void *, void *, size_t, int, int, communicator, cudaStream_t);
    int (*get_version)(int *);
    communicator of[MOST];
    int version; /* 0: it is not there */
} nccl;

static bool find(void *function, void *library, const char *name)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

/* @return why it cannot be measured, or NULL */
static const char *open_nccl(int gpus)
{
    const char *name = getenv("NCCL");
    void *library = dlopen(name && *name ? name : "libnccl.so.2", RTLD_NOW);
    if (!library) return "it is not installed (NCCL=path/of/libnccl.so.2)";
    if (!find(&nccl.init_all, library, "ncclCommInitAll") ||
        !find(&nccl.group_start, library, "ncclGroupStart") ||
        !find(&nccl.group_end, library, "ncclGroupEnd") ||
        !find(&nccl.all_reduce, library, "ncclAllReduce") ||
        !find(&nccl.get_version, library, "ncclGetVersion"))
        return "it lacks a function";
    if (nccl.init_all(nccl.of, gpus, NULL)) return "it cannot start here";
    return nccl.get_version(&nccl.version) ? "it does not say its version" : NULL;
}

/* ---- what is timed ---- */

typedef struct bench {
    int gpus;
    size_t n; /* of each buffer */
    float *buffers[MOST];
    cudaStream_t streams[MOST];
    allreduce *plan;
    oneshot *shot;
} bench;

typedef cudaError_t operation(const bench *b);

static cudaError_t by_ring(const bench *b)
{
    return allreduce_ring(b->plan, b->buffers, b->n, ALLREDUCE_MEAN, b->streams);
}

static cudaError_t by_oneshot(const bench *b)
{
    return allreduce_oneshot(b->shot, b->buffers, b->n, ALLREDUCE_MEAN, b->streams);
}

static cudaError_t by_nccl(const bench *b)
{
    int failed = nccl.group_start();
    for (int g = 0; g < b->gpus && !failed; g++)
        failed = nccl.all_reduce(b->buffers[g], b->buffers[g], b->n, NCCL_FLOAT, NCCL_SUM,
                                 nccl.of[g], b->streams[g]);
    return nccl.group_end() || failed ? cudaErrorUnknown : cudaSuccess;
}

static cudaError_t by_copy(const bench *b)
{
    return cudaMemcpyPeerAsync(b->buffers[1], 1, b->buffers[0], 0, b->n * sizeof(float),
                               b->streams[1]);
}

static cudaError_t wait(const bench *b)
{
    for (int g = 0; g < b->gpus; g++) CUDA_CHECK(cudaStreamSynchronize(b->streams[g]));
    return cudaSuccess;
}

static cudaError_t time_calls(double *seconds, operation *run, const bench *b, int calls)
{
    double times[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        const double began = seconds_now();
        for (int i = 0; i < calls; i++) CUDA_CHECK(run(b));
        CUDA_CHECK(wait(b));
        if (round >= 0) times[round] = (seconds_now() - began) / calls;
    }
    qsort(times, ROUNDS, sizeof *times, by_value);
    *seconds = times[ROUNDS / 2];
    return cudaSuccess;
}

/* ---- is it right? ---- */

__global__ static void fill(float *x, size_t n, float value)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] = value + (float)(i % 7);
}

__global__ static void compare(int *wrong, const float *x, size_t n, float value)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        if (x[i] != value + (float)(i % 7)) *wrong = 1;
}

/* GPU g has g + i % 7: small integers, of which the sum is exact, and the mean of 2^k GPUs. */
static cudaError_t fill_all(const bench *b)
{
    for (int g = 0; g < b->gpus; g++) {
        CUDA_CHECK(cudaSetDevice(g));
        fill<<<64, 256, 0, b->streams[g]>>>(b->buffers[g], b->n, (float)g);
        CUDA_CHECK(cudaGetLastError());
    }
    return wait(b);
}

static cudaError_t check_all(const bench *b, bool *right)
{
    const float mean = (float)(b->gpus - 1) / 2.0f;
    for (int g = 0; g < b->gpus; g++) {
        int wrong = 0, *d_wrong;
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaMalloc((void **)&d_wrong, sizeof *d_wrong));
        CUDA_CHECK(cudaMemset(d_wrong, 0, sizeof *d_wrong));
        CUDA_CHECK(cudaDeviceSynchronize());
        compare<<<64, 256, 0, b->streams[g]>>>(d_wrong, b->buffers[g], b->n, mean);
        CUDA_CHECK(cudaStreamSynchronize(b->streams[g]));
        CUDA_CHECK(cudaMemcpy(&wrong, d_wrong, sizeof wrong, cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaFree(d_wrong));
        *right = *right && !wrong;
    }
    return cudaSuccess;
}

/* ---- a row ---- */

static void print_time(double seconds, double bytes)
{
    print_number("%.2f", 1e6 * seconds);
    print_number("%.1f", seconds > 0 ? 1e-9 * bytes / seconds : 0);
}

/* @param right becomes false where the first sum is wrong */
static cudaError_t time_checked(double *seconds, bool *right, operation *run, const bench *b,
                                int calls)
{
    CUDA_CHECK(fill_all(b));
    CUDA_CHECK(run(b));
    CUDA_CHECK(wait(b));
    CUDA_CHECK(check_all(b, right));
    return time_calls(seconds, run, b, calls);
}

static cudaError_t bench_bytes(bench *b, size_t bytes)
{
    const int calls = bytes > (64u << 20) ? 10 : 50;
    const double carried = (double)bytes * 2 * (b->gpus - 1) / b->gpus;
    double ring, shot = 0, peer = 0, copy = 0;
    bool right = true;
    b->n = bytes / sizeof(float);
    CUDA_CHECK(time_checked(&ring, &right, by_ring, b, calls));
    if (b->shot && b->n <= ONESHOT_FLOATS)
        CUDA_CHECK(time_checked(&shot, &right, by_oneshot, b, calls));
    if (nccl.version) CUDA_CHECK(time_calls(&peer, by_nccl, b, calls));
    CUDA_CHECK(time_calls(&copy, by_copy, b, calls));
    printf("%zu", bytes);
    print_time(ring, carried);
    print_time(peer, carried);
    print_time(copy, (double)bytes);
    print_number("%.2f", peer / ring);
    print_number("%.2f", 1e6 * shot);
    printf("\t%s\n", right ? "yes" : "no");
    return right ? cudaSuccess : cudaErrorUnknown;
}

static cudaError_t make(bench *b, size_t bytes)
{
    CUDA_CHECK(allreduce_open(&b->plan, b->gpus));
    if (b->gpus <= ONESHOT_GPUS) CUDA_CHECK(oneshot_open(&b->shot, b->gpus));
    for (int g = 0; g < b->gpus; g++) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaStreamCreateWithFlags(&b->streams[g], cudaStreamNonBlocking));
        CUDA_CHECK(cudaMalloc((void **)&b->buffers[g], bytes));
    }
    return cudaSetDevice(0);
}

static cudaError_t describe(const bench *b, const char *lacks)
{
    cudaDeviceProp p;
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    printf("# %d devices %s, commit %s\n", b->gpus, p.name, variable("COURSE_COMMIT"));
    if (lacks)
        printf("# NCCL: not measured here, %s\n", lacks);
    else
        printf("# NCCL %d.%d.%d\n", nccl.version / 10000, nccl.version / 100 % 100,
               nccl.version % 100);
    puts("bytes\tring us\tring GB/s\tNCCL us\tNCCL GB/s\tcopy us\tcopy GB/s\tNCCL us / ring us\t"
         "one shot us\tright");
    return cudaSuccess;
}

int main(int argc, char **argv)
{
    static const size_t usual[] = {1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20,
                                   1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    size_t most = 0, sizes[64];
    bench b = {};
    if (count > 64 || cudaGetDeviceCount(&b.gpus)) return 1;
    for (int i = 0; i < count; i++) {
        sizes[i] = argc > 1 ? strtoull(argv[i + 1], NULL, 10) : usual[i];
        if (sizes[i] > most) most = sizes[i];
    }
    if (b.gpus < 2) {
        puts("# not measured here: it takes two GPUs");
        return 0;
    }
    if (b.gpus > MOST) b.gpus = MOST;
    if (make(&b, most) || describe(&b, open_nccl(b.gpus))) return 1;
    for (int i = 0; i < count; i++)
        if (bench_bytes(&b, sizes[i])) return 1;
    return 0;
}
