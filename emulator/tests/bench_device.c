/*
 * bench_device.c: how fast the device interprets: matrix products of 512 x 512 in several styles,
 * and an empty launch. Usage: bench_device bench_device.ptx [threads [checks [kernel]]]
 *
 * GFLOP/s are given by wall time and by processor time, which other users of the machine do not
 * disturb: the latter is the speed of one host thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/device.h"

enum { N = 512, LAUNCHES = 2000 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *read_file(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        exit(1);
    }
    char *text = malloc(1 << 24);
    *bytes = fread(text, 1, 1 << 24, file);
    fclose(file);
    return text;
}

static void must(device *d, device_status status)
{
    if (status == DEVICE_OK) return;
    fprintf(stderr, "status %d: %s\n", (int)status, device_error(d));
    exit(1);
}

typedef struct arguments {
    device_address a, b, c;
    int n;
} arguments;

static void launch(device *d, uint32_t module, const char *kernel, arguments *args, uint32_t grid,
                   uint32_t x, uint32_t y)
{
    device_launch_request r = {
        .grid = {grid, grid, 1}, .block = {x, y, 1}, .params = args, .param_bytes = 28};
    must(d, device_function(d, module, kernel, &r.function));
    must(d, device_launch(d, &r));
    device_finding finding;
    while (device_take_finding(d, &finding))
        printf("finding: line %u: %s\n", finding.line, finding.text);
}

static void measure(device *d, uint32_t module, const char *kernel, arguments *args, uint32_t grid,
                    uint32_t x, uint32_t y)
{
    double wall = seconds(CLOCK_MONOTONIC), busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
    launch(d, module, kernel, args, grid, x, y);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    busy = seconds(CLOCK_PROCESS_CPUTIME_ID) - busy;
    double gflop = 2e-9 * N * N * N;
    printf("%-8s %6.2f GFLOP/s, %6.2f a host thread\n", kernel, gflop / wall, gflop / busy);
}

static void check(device *d, const arguments *args, const float *a, const float *b, float *c)
{
    must(d, device_read(d, c, args->c, sizeof(float) * N * N));
    for (int k = 0; k < 1000; k++) {
        int i = rand() % N, j = rand() % N;
        double sum = 0;
        for (int m = 0; m < N; m++) sum += (double)a[i * N + m] * b[m * N + j];
        if (!(sum - c[i * N + j] <= 1e-3 && c[i * N + j] - sum <= 1e-3)) {
            printf("wrong: c[%d][%d] = %g, not %g\n", i, j, c[i * N + j], sum);
            exit(1);
        }
    }
    must(d, device_forget(d, args->c, sizeof(float) * N * N));
}

int main(int count, char **argument)
{
    if (count < 2) return 2;
    device_options options = {.threads = count > 2 ? (uint32_t)atoi(argument[2]) : 0};
    if (count > 3 && atoi(argument[3]) == 0) options.checks = DEVICE_CHECK_NONE;
    device *d = device_open(&options);
    size_t bytes;
    char *text = read_file(argument[1], &bytes);
    uint32_t module;
    must(d, device_load(d, text, bytes, &module));
    float *a = malloc(sizeof *a * N * N), *b = malloc(sizeof *b * N * N),
          *c = malloc(sizeof *c * N * N);
    for (int i = 0; i < N * N; i++)
        a[i] = (float)(rand() % 100) / 100, b[i] = (float)(rand() % 100) / 100;
    arguments args = {.n = N};
    must(d, device_alloc(d, sizeof *a * N * N, &args.a));
    must(d, device_alloc(d, sizeof *b * N * N, &args.b));
    must(d, device_alloc(d, sizeof *c * N * N, &args.c));
    must(d, device_write(d, args.a, a, sizeof *a * N * N));
    must(d, device_write(d, args.b, b, sizeof *b * N * N));
    static const struct {
        const char *kernel;
        uint32_t grid, x, y;
    } rows[] = {{"naive", N / 32, 32, 32},
                {"naive", N / 16, 16, 16},
                {"tiled32", N / 32, 32, 32},
                {"tiled16", N / 16, 16, 16},
                {"blocked", N / 64, 64, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (count > 4 && strcmp(argument[4], rows[i].kernel)) continue;
        measure(d, module, rows[i].kernel, &args, rows[i].grid, rows[i].x, rows[i].y);
        check(d, &args, a, b, c);
    }
    double start = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < LAUNCHES; i++) launch(d, module, "empty", &args, 1, 32, 1);
    printf("launch   %6.2f us\n", 1e6 * (seconds(CLOCK_MONOTONIC) - start) / LAUNCHES);
    start = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < LAUNCHES; i++) launch(d, module, "empty", &args, 4, 256, 1);
    printf("launch   %6.2f us, 16 blocks of 256\n",
           1e6 * (seconds(CLOCK_MONOTONIC) - start) / LAUNCHES);
    device_close(d);
    free(a);
    free(b);
    free(c);
    free(text);
    return 0;
}
