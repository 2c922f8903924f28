/* 201_hello: ids of blocks, threads, lanes and warps, for grids and blocks of every dimension. An
 * id decides both what is written and where: an order other than x fastest only gives the blocks
 * other names, and cannot be seen from here. */
#include "correctness/case.h"

#include <stdio.h>
#include <string.h>

static long threads_of(const long *shape)
{
    return shape[0] * shape[1] * shape[2] * shape[3] * shape[4] * shape[5];
}

static argument grid_of(const long *shape)
{
    return dim3_of((unsigned)shape[0], (unsigned)shape[1], (unsigned)shape[2]);
}

static argument block_of(const long *shape)
{
    return dim3_of((unsigned)shape[3], (unsigned)shape[4], (unsigned)shape[5]);
}

/* shape: grid x, y, z, block x, y, z. */
static void whoami(const long *shape)
{
    const size_t threads = (size_t)threads_of(shape);
    const int per_block = (int)(shape[3] * shape[4] * shape[5]);
    int *out = i32_array(4 * threads), *want = i32_array(4 * threads);
    for (size_t i = 0; i < threads; i++) {
        const int thread = (int)(i % (size_t)per_block);
        want[4 * i] = (int)(i / (size_t)per_block);
        want[4 * i + 1] = thread;
        want[4 * i + 2] = thread % 32;
        want[4 * i + 3] = thread / 32;
    }
    call_cuda("whoami",
              ARGS(out_i32("out", out, 4 * threads), grid_of(shape), block_of(shape), stream()));
    expect_equal_i32((layout){"out", threads, 4}, out, want);
}

/* One line of hello: which thread is it? Ends the case unless it is a line as it should be. */
static long thread_of_line(const char *line, size_t length, const long *shape)
{
    char want[64];
    unsigned block = 0, thread = 0;
    const unsigned per_block = (unsigned)(shape[3] * shape[4] * shape[5]);
    sscanf(line, "Hello from block %u, thread %u", &block, &thread);
    int n = snprintf(want, sizeof want, "Hello from block %u, thread %u", block, thread);
    expect((size_t)n == length && memcmp(want, line, length) == 0,
           "a line is \"%.*s\", should be like \"Hello from block 0, thread 0\"",
           length < 80 ? (int)length : 80, line);
    expect(thread < per_block && block < threads_of(shape) / per_block,
           "\"%s\": there is no such thread", want);
    return (long)block * per_block + thread;
}

/* The lines are a set: blocks run in any order. Those of the host are not among them. */
static void hello(const long *shape)
{
    const long threads = threads_of(shape), per_block = shape[3] * shape[4] * shape[5];
    int *lines = i32_array((size_t)threads);
    call_cuda("hello", ARGS(grid_of(shape), block_of(shape), stream()));
    for (const char *line = call_output(); *line;) {
        const size_t length = strcspn(line, "\n");
        lines[thread_of_line(line, length, shape)]++;
        line += length + (line[length] == '\n');
    }
    for (long i = 0; i < threads; i++) {
        expect(lines[i] == 1, "block %ld, thread %ld printed %d lines, should be 1", i / per_block,
               i % per_block, lines[i]);
    }
}

static const grading_case cases[] = {
    {.name = "whoami 1 block of 1", .run = whoami, .shape = {1, 1, 1, 1, 1, 1}, .part = "whoami"},
    {.name = "whoami 7 blocks of 33", .run = whoami, .shape = {7, 1, 1, 33, 1, 1}},
    {.name = "whoami 3 blocks of 1024", .run = whoami, .shape = {3, 1, 1, 1024, 1, 1}},
    {.name = "whoami 1 block of 4x3x5", .run = whoami, .shape = {1, 1, 1, 4, 3, 5}},
    {.name = "whoami 3x5x2 blocks of 1", .run = whoami, .shape = {3, 5, 2, 1, 1, 1}},
    {.name = "whoami 3x5x2 blocks of 33x2", .run = whoami, .shape = {3, 5, 2, 33, 2, 1}},
    {.name = "whoami 1x1x4 blocks of 1x1x64", .run = whoami, .shape = {1, 1, 4, 1, 1, 64}},
    {.name = "whoami 70000 blocks of 2", .run = whoami, .shape = {70000, 1, 1, 2, 1, 1}},
    {.name = "whoami 2x1100 blocks of 1", .run = whoami, .shape = {2, 1100, 1, 1, 1, 1}},
    {.name = "whoami 1x2x1100 blocks of 1", .run = whoami, .shape = {1, 2, 1100, 1, 1, 1}},
    {.name = "hello 1 block of 1", .run = hello, .shape = {1, 1, 1, 1, 1, 1}, .part = "hello"},
    {.name = "hello 5 blocks of 33", .run = hello, .shape = {5, 1, 1, 33, 1, 1}},
    {.name = "hello 2x3x2 blocks of 3x2x2", .run = hello, .shape = {2, 3, 2, 3, 2, 2}},
    {.name = "hello 1100 blocks of 1", .run = hello, .shape = {1100, 1, 1, 1, 1, 1}},
    {0},
};

EXERCISE(201) = {
    .id = 201,
    .core = true,
    .name = "hello",
    .file = "phase2_cuda_basics/201_hello/201_hello.cu",
    .functions = {"hello", "whoami"},
    .points = 5,
    .see = "hello 5 blocks of 33",
    .cases = cases,
};
