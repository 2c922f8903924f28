/*
 * remembered.c: the counts of baselines. One that is called with the open inputs costs the same for
 * every submission, so its counts are kept beside the verdicts, under what they come from: the
 * library, the call, its shape, and the programs that make the inputs and count. FRESH=1 counts
 * again.
 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBERS (sizeof(device_counts) / sizeof(uint64_t))

/* A program that is built again is another file. */
static void hash_program(hash *h, const char *path)
{
    char text[128] = "";
    struct stat facts;
    if (stat(path, &facts) == 0)
        snprintf(text, sizeof text, "%llu %lld %lld.%09ld", (unsigned long long)facts.st_ino,
                 (long long)facts.st_size, (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    hash_text(h, path);
    hash_text(h, text);
}

static void hash_programs(hash *h, const char *build)
{
    static const char *const programs[] = {"worker_softgpu", "softgpu_device", "libcourse.so",
                                           "remote/libsoftgpu.so", "libsoftgpu_cublas.so"};
    char path[PATH_MAX];
    hash_program(h, "/proc/self/exe"); /* the grader: the inputs, the least change of them too */
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", build, programs[i]);
        hash_program(h, path);
    }
}

bool counts_key(const options *o, const char *library, const char *call,
                const long shape[SHAPE_MAX], char key[HASH_HEX])
{
    hash *h = hash_begin();
    hash_text(h, "counts");
    const bool readable = hash_file(h, library);
    hash_text(h, call);
    hash_bytes(h, (const char *)shape, SHAPE_MAX * sizeof *shape);
    hash_programs(h, o->build);
    hash_end(h, key);
    return readable;
}

bool counts_load(const options *o, const char *key, device_counts *counts)
{
    uint64_t numbers[NUMBERS];
    json_t *all = o->fresh ? NULL : cache_load(o->build, key);
    const bool whole = json_array_size(all) == NUMBERS;
    for (size_t i = 0; whole && i < NUMBERS; i++)
        numbers[i] = (uint64_t)json_integer_value(json_array_get(all, i));
    if (whole) memcpy(counts, numbers, sizeof numbers);
    json_decref(all);
    return whole;
}

void counts_store(const options *o, const char *key, const device_counts *counts)
{
    uint64_t numbers[NUMBERS];
    json_t *all = json_array();
    memcpy(numbers, counts, sizeof numbers);
    for (size_t i = 0; i < NUMBERS; i++)
        json_array_append_new(all, json_integer((json_int_t)numbers[i]));
    cache_store(o->build, key, all);
    json_decref(all);
}
