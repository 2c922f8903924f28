/* device.c: the machine. Only the course's own worker, without a student's code, reports about a
   GPU. */
#include "course.h"

#include "timer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of a "key=value" or "key : value" line. */
static void take_value(char *to, size_t bytes, const char *text, const char *key)
{
    const char *line = strstr(text, key);
    if (!line) return;
    line += strlen(key);
    line += strspn(line, " \t:=");
    snprintf(to, bytes, "%.*s", (int)strcspn(line, "\n"), line);
}

static double take_number(const char *text, const char *key)
{
    char number[64] = "0";
    take_value(number, sizeof number, text, key);
    return atof(number);
}

static void read_cpu_name(char *to, size_t bytes)
{
    static char text[8192];
    FILE *file = fopen("/proc/cpuinfo", "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[n] = '\0';
    snprintf(to, bytes, "unknown CPU");
    take_value(to, bytes, text, "model name");
}

/* Additions a second that wait for each other: what a core does whatever its vectors can. The
 * fastest of some, for others may use the core too. */
static double measure_adds(void)
{
    const int additions = 200000;
    double best = 0.0;
    for (int trial = 0; trial < 20; trial++) {
        volatile float result;
        float sum = 0.0f, one = (float)(trial + 1);
        const double began = seconds_now();
        for (int i = 0; i < additions; i++) sum += one;
        result = sum;
        (void)result;
        const double rate = additions / (seconds_now() - began);
        if (rate > best) best = rate;
    }
    return best;
}

device_facts device_facts_read(const options *o)
{
    device_facts facts = {.core_adds_per_second = measure_adds()};
    char program[PATH_MAX];
    if (o->backend == BACKEND_CPU) {
        char cpu[96];
        read_cpu_name(cpu, sizeof cpu);
        snprintf(facts.name, sizeof facts.name, "softgpu on %s", cpu);
        return facts;
    }
    snprintf(program, sizeof program, "%s/worker_cuda", o->build);
    const char *const argv[] = {program, "--device", NULL};
    process_result r = process_run(argv, NULL, 60.0, 4096);
    take_value(facts.name, sizeof facts.name, r.output, "name");
    take_value(facts.driver, sizeof facts.driver, r.output, "driver");
    take_value(facts.runtime, sizeof facts.runtime, r.output, "runtime");
    take_value(facts.pci, sizeof facts.pci, r.output, "pci");
    facts.copy_bytes_per_second = take_number(r.output, "copy_bytes_per_second");
    facts.capability = (int)(10 * take_number(r.output, "compute_capability") + 0.5);
    facts.flop_per_second[IN_FP32] = take_number(r.output, "flop_per_second");
    const double clocks = take_number(r.output, "clocks_of_all_sms");
    for (precision p = IN_TF32; p < PRECISION_COUNT; p++)
        facts.flop_per_second[p] = clocks * tensor_operations(facts.capability, p);
    free(r.output);
    return facts;
}

static bool have(const options *o, const char *program)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", o->build, program);
    return access(path, X_OK) == 0;
}

const char *python(void)
{
    static const char *tried, *found;
    const char *given = getenv("PYTHON");
    const char *program = given && *given ? given : "/usr/bin/python3";
    const char *const argv[] = {program, "-I", "-c", "import numpy", NULL};
    if (tried == program) return found;
    process_result r = process_run(argv, NULL, 30.0, 4096);
    tried = program;
    found = r.status == 0 ? program : NULL;
    free(r.output);
    return found;
}

const char *place_needs(const options *o, place where)
{
    const char *nvcc = getenv("NVCC");
    if (where == ON_HOST) return NULL;
    if (where == ON_PYTHON) {
        return python() && have(o, "python_worker.so") ? NULL : "python3 with NumPy";
    }
    if (where == ON_SOFTGPU) return have(o, "worker_softgpu") ? NULL : "nvcc or clang";
    if (!nvcc || !*nvcc) return "nvcc";
    return have(o, "worker_cuda") ? NULL : "the CUDA runtime";
}

const char *exercise_needs(const options *o, const exercise *e, place where)
{
    static char words[32];
    const char *needs = place_needs(o, where);
    if (!needs && is_python(e->file)) needs = place_needs(o, ON_PYTHON);
    if (needs || where != ON_GPU || e->devices < 2 || e->devices <= gpu_count(o)) return needs;
    snprintf(words, sizeof words, "%d GPUs", e->devices);
    return words;
}
