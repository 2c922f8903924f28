/*
 * softgpu.cu: the speed of softgpu, with checks: four matrix products on 1 and 2 host threads next
 * to the same loops compiled for the processor, two of them also with 64-bit indices; the cost of a
 * launch, a start and the checks.
 *
 *     bench_softgpu [N]            a table for people; N x N matrices, a multiple of 64
 *     bench_softgpu [N] --tsv      the same, tab-separated
 *
 * Compiled by nvcc it has a column for clang: bench_softgpu_clang beside it, if there is one, is
 * the same program compiled by that. A measurement that needs more cores than there are is left
 * out: "-".
 *
 * softgpu reads its environment once, so every measurement is a process of its own: this program
 * again, with the measurement's name.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

extern "C" const char *softgpu_simd(void) __attribute__((weak));

/* ---- kernels, and the same loops for the host -------------------------------------------------
 */

/* I: the type of all indices. */
template <typename I> __global__ void naive(float *c, const float *a, const float *b, int size)
{
    I n = size, j = blockIdx.x * blockDim.x + threadIdx.x,
      i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (i >= n || j >= n) return;
    for (I k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

template <int T, typename I>
__global__ void tiled(float *c, const float *a, const float *b, int size)
{
    __shared__ float x[T][T], y[T][T];
    I n = size, tx = threadIdx.x, ty = threadIdx.y, j = blockIdx.x * T + tx,
      i = blockIdx.y * T + ty;
    float sum = 0;
    for (I t = 0; t < n; t += T) {
        x[ty][tx] = a[i * n + t + tx];
        y[ty][tx] = b[(t + ty) * n + j];
        __syncthreads();
        for (I k = 0; k < T; k++) sum += x[ty][k] * y[k][tx];
        __syncthreads();
    }
    c[i * n + j] = sum;
}

/* A block makes 64 x 64 elements, a thread 4 x 4; tiles are 8 deep. */
__global__ void in_registers(float *c, const float *a, const float *b, int n)
{
    __shared__ float x[8][64], y[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int e = t; e < 512; e += 256) {
            x[e % 8][e / 8] = a[(row + e / 8) * n + k0 + e % 8];
            y[e / 64][e % 64] = b[(k0 + e / 64) * n + column + e % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) sum[p][q] += x[k][ty * 4 + p] * y[k][tx * 4 + q];
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) c[(row + ty * 4 + p) * n + column + tx * 4 + q] = sum[p][q];
}

__global__ void nothing()
{
}

__global__ void add_one(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static void host_naive(float *c, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

template <int T> static void host_tiled(float *c, const float *a, const float *b, int n)
{
    for (int i0 = 0; i0 < n; i0 += T)
        for (int j0 = 0; j0 < n; j0 += T) {
            float x[T][T], y[T][T], sum[T][T] = {};
            for (int t = 0; t < n; t += T) {
                for (int i = 0; i < T; i++)
                    for (int j = 0; j < T; j++) {
                        x[i][j] = a[(i0 + i) * n + t + j];
                        y[i][j] = b[(t + i) * n + j0 + j];
                    }
                for (int i = 0; i < T; i++)
                    for (int j = 0; j < T; j++)
                        for (int k = 0; k < T; k++) sum[i][j] += x[i][k] * y[k][j];
            }
            for (int i = 0; i < T; i++)
                for (int j = 0; j < T; j++) c[(i0 + i) * n + j0 + j] = sum[i][j];
        }
}

/* The order of in_registers: for each step of k, all products of a column and a row of a tile. */
static void host_in_registers(float *c, const float *a, const float *b, int n)
{
    for (int i0 = 0; i0 < n; i0 += 64)
        for (int j0 = 0; j0 < n; j0 += 64) {
            float sum[64][64] = {};
            for (int k = 0; k < n; k++)
                for (int i = 0; i < 64; i++)
                    for (int j = 0; j < 64; j++)
                        sum[i][j] += a[(i0 + i) * n + k] * b[k * n + j0 + j];
            for (int i = 0; i < 64; i++) memcpy(&c[(i0 + i) * n + j0], sum[i], sizeof sum[i]);
        }
}

typedef void kernel(float *, const float *, const float *, int);

static const struct {
    const char *name;
    kernel *device, *host;
    int tile, threads_x, threads_y;
} products[] = {
    {"naive", naive<int>, host_naive, 32, 32, 32},
    {"naive, size_t", naive<size_t>, host_naive, 32, 32, 32},
    {"tiled 32x32", tiled<32, int>, host_tiled<32>, 32, 32, 32},
    {"tiled 32x32, size_t", tiled<32, size_t>, host_tiled<32>, 32, 32, 32},
    {"tiled 16x16", tiled<16, int>, host_tiled<16>, 16, 16, 16},
    {"register-tiled", in_registers, host_in_registers, 64, 256, 1},
};

/* ---- measurements, each in a process of its own ------------------------------------------------
 */

static double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "bench_softgpu: %s\n", cudaGetErrorString(error));
    exit(1);
}

template <typename F> static double best_of(int rounds, F run)
{
    double best = 1e30;
    for (int r = 0; r < rounds; r++) {
        double start = now();
        run();
        best = std::min(best, now() - start);
    }
    return best;
}

static double gflops(int n, double seconds)
{
    return 2.0 * n * n * n / seconds * 1e-9;
}

static double measure_device(int product, int n)
{
    auto &p = products[product];
    float *m[3];
    for (float *&x : m) {
        check(cudaMalloc(&x, sizeof(float) * n * n));
        check(cudaMemset(x, 0, sizeof(float) * n * n));
    }
    dim3 grid(n / p.tile, n / p.tile), block(p.threads_x, p.threads_y);
    return gflops(n, best_of(3, [&] {
                      p.device<<<grid, block>>>(m[0], m[1], m[2], n);
                      check(cudaDeviceSynchronize());
                  }));
}

static double measure_host(int product, int n)
{
    std::vector<float> a(n * n, 1), b(n * n, 2), c(n * n);
    return gflops(n, best_of(3, [&] { products[product].host(c.data(), a.data(), b.data(), n); }));
}

static double measure_launch()
{
    const int launches = 1000;
    nothing<<<1, 32>>>();
    return best_of(5,
                   [&] {
                       for (int i = 0; i < launches; i++) nothing<<<1, 32>>>();
                       check(cudaDeviceSynchronize());
                   }) /
           launches * 1e6;
}

static const int DATA = 256 << 20; /* bytes */

static double resident()
{
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss * 1024.0;
}

/* Bytes of host memory for a byte of the device's that a kernel has read and written, less itself.
 */
static double measure_memory()
{
    float *data;
    nothing<<<1, 32>>>();
    check(cudaDeviceSynchronize());
    double before = resident();
    check(cudaMalloc(&data, DATA));
    check(cudaMemset(data, 1, DATA));
    add_one<<<DATA / 4 / 256, 256>>>(data);
    check(cudaDeviceSynchronize());
    return (resident() - before) / DATA - 1;
}

static double measure(const std::string &what, int which, int n)
{
    if (what == "device") return measure_device(which, n);
    if (what == "host") return measure_host(which, n);
    if (what == "launch") return measure_launch();
    if (what == "memory") return measure_memory();
    check(cudaFree(nullptr)); /* a start: up to the first answer of the device */
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static double ask(const char *self, const char *settings, const char *what, int which, int n)
{
    std::string command = std::string(settings) + " '" + self + "' --measure " + what + " " +
                          std::to_string(which) + " " + std::to_string(n);
    double value = 0;
    FILE *answer = popen(command.c_str(), "r");
    if (!answer || fscanf(answer, "%lf", &value) != 1 || pclose(answer) != 0) exit(1);
    return value;
}

static std::string processor()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (!line.compare(0, 10, "model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

/* A number, or "-" where there is none. */
static std::string number(double value)
{
    char text[32] = "-";
    if (value > 0) snprintf(text, sizeof text, "%.2f", value);
    return text;
}

/* GFLOP/s on that many threads; 0: the machine has fewer cores, or there is no such program. */
static double speed(const std::string &program, int threads, int product, int n)
{
    if (program.empty() || threads > (int)std::thread::hardware_concurrency()) return 0;
    std::string settings = "SOFTGPU_THREADS=" + std::to_string(threads);
    return ask(program.c_str(), settings.c_str(), "device", product, n);
}

static std::string compiled_by_clang(const char *self)
{
    std::string file = std::string(self) + "_clang";
    return access(file.c_str(), X_OK) == 0 ? file : "";
}

static void print_products(const char *self, int n, bool tsv)
{
    std::string clang = compiled_by_clang(self);
    printf(tsv ? "kernel\tGFLOP/s, 1 thread\tGFLOP/s, 2 threads\tscaling\tgcc -O3, 1 thread\t"
                 "4 threads\tclang, 1 thread\tnvcc / clang\n"
               : "%-19s %10s %10s %10s %10s %10s %10s %12s\n",
           "GFLOP/s", "1 thread", "2 threads", "scaling", "gcc -O3", "4 threads", "clang",
           "nvcc / clang");
    for (int i = 0; i < (int)(sizeof products / sizeof *products); i++) {
        double one = speed(self, 1, i, n), two = speed(self, 2, i, n), four = speed(self, 4, i, n);
        double other = speed(clang, 1, i, n);
        printf(
            tsv ? "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n" : "%-19s %10s %10s %10s %10s %10s %10s %12s\n",
            products[i].name, number(one).c_str(), number(two).c_str(), number(two / one).c_str(),
            number(ask(self, "", "host", i, n)).c_str(), number(four).c_str(),
            number(other).c_str(), number(other > 0 ? one / other : 0).c_str());
    }
}

/* The setting with which a program has its device in another process; "" without softgpu. */
static std::string elsewhere()
{
    Dl_info library;
    if (!softgpu_simd || !dladdr((void *)softgpu_simd, &library)) return "";
    std::string file = library.dli_fname;
    return "LD_PRELOAD='" + file.substr(0, file.rfind('/')) + "/remote/libsoftgpu.so'";
}

static double measure_start(const char *self, const char *settings)
{
    return best_of(5, [&] { ask(self, settings, "start", 0, 0); }) * 1e3;
}

static void print_costs(const char *self, bool tsv)
{
    std::string remote = elsewhere();
    double start = measure_start(self, "");
    double empty =
        best_of(5, [&] { check(system("true") ? cudaErrorUnknown : cudaSuccess); }) * 1e3;
    double times = ask(self, "", "memory", 0, 0);
    const char *format = tsv ? "%s\t%.3g\t\t\t\t\t\t\n" : "%-44s %10.3g\n";
    printf(format, "a launch, microseconds", ask(self, "", "launch", 0, 0));
    if (!remote.empty())
        printf(format, "... on a device in another process",
               ask(self, remote.c_str(), "launch", 0, 0));
    printf(format, "start of a program, milliseconds", start);
    if (!remote.empty())
        printf(format, "... and its device in another process",
               measure_start(self, remote.c_str()));
    printf(format, "of which the shell takes", empty);
    printf(format, "memory of the checks, times the data", times);
}

int main(int argc, char **argv)
{
    if (argc == 5 && !strcmp(argv[1], "--measure")) {
        printf("%.9g\n", measure(argv[2], atoi(argv[3]), atoi(argv[4])));
        return 0;
    }
    bool tsv = argc > 1 && !strcmp(argv[argc - 1], "--tsv");
    int n = argc > 1 + tsv ? atoi(argv[1]) : 512;
    if (n <= 0 || n % 64) {
        fprintf(stderr, "usage: %s [N] [--tsv], N a multiple of 64\n", argv[0]);
        return 2;
    }
    const char *simd = softgpu_simd ? softgpu_simd() : "none: a real GPU";
    printf(tsv ? "# %s, %u cores, softgpu's %s device, all checks on, n = %d\n"
               : "%s, %u cores, %s device, n = %d\n",
           processor().c_str(), std::thread::hardware_concurrency(), simd, n);
    print_products(argv[0], n, tsv);
    print_costs(argv[0], tsv);
    return 0;
}
