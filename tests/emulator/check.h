/*
 * check.h: what a test program is made of. A program holds cases; the runner starts the program
 * once for every case, with the case's name, and the file's, since several may be one program:
 *
 *     CASE(name) { ... CHECK(condition); OK(cudaMalloc(&p, 4)); }
 *
 * A case passes when its process exits with 0, every CHECK held, and softgpu said exactly what the
 * comments in the source announce (see `run` for their forms).
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

struct test_case {
    const char *file, *name;
    void (*run)();
    test_case *next;
    static inline test_case *all = nullptr;
    test_case(const char *file, const char *name, void (*run)())
        : file(file), name(name), run(run), next(all)
    {
        all = this;
    }
};

#define CASE(name)                                                                                 \
    static void run_##name();                                                                      \
    static test_case case_##name(__FILE__, #name, run_##name);                                     \
    static void run_##name()

static int failures;

#define CHECK(condition) check(condition, #condition, __LINE__)
static inline void check(bool holds, const char *condition, int line)
{
    if (holds) return;
    failures++;
    printf("line %d: not true: %s\n", line, condition);
}

#define OK(call) check_ok(call, #call, __LINE__)
static inline void check_ok(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess) return;
    failures++;
    printf("line %d: %s: %s\n", line, call, cudaGetErrorName(error));
}

#define FAILS(call, error) check_fails(call, error, #call, __LINE__)
static inline void check_fails(cudaError_t got, cudaError_t want, const char *call, int line)
{
    if (got == want) return;
    failures++;
    printf("line %d: %s: %s instead of %s\n", line, call, cudaGetErrorName(got),
           cudaGetErrorName(want));
}

#define SYNC() (OK(cudaGetLastError()), OK(cudaDeviceSynchronize()))

/** Device memory with the values of a vector, and back. */
template <typename T> static T *to_device(const std::vector<T> &host)
{
    T *device;
    OK(cudaMalloc(&device, host.size() * sizeof(T)));
    OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> static std::vector<T> to_host(const T *device, size_t count)
{
    std::vector<T> host(count);
    OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

template <typename T> static T *device_array(size_t count)
{
    T *device;
    OK(cudaMalloc(&device, count * sizeof(T)));
    return device;
}

static inline bool near(double got, double want, double tolerance = 1e-5)
{
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

int main(int argc, char **argv)
{
    for (test_case *c = test_case::all; c; c = c->next) {
        if (argc < 2 || strcmp(argv[1], c->name) != 0) continue;
        if (argc > 2 && !strstr(c->file, argv[2])) continue;
        c->run();
        return failures != 0;
    }
    fprintf(stderr, "usage: %s CASE [/FILE]\n", argv[0]);
    return 2;
}
