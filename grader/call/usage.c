/*
 * usage.c: use of the cores: how much of them a process used and how long it waited for one, and
 * how much the host of a virtual machine took of all of them; and how often the system ended a
 * process for lack of memory. The kernel reports all of this, not the process; what the kernel does
 * not report is zero.
 */
#include "call.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BESIDE_SHARE 1.25   /* of what an honest worker works beside its call */
#define BESIDE_SLACK 200e-6 /* seconds */

static double seconds_worked(pid_t process)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(process, &clock) == 0) clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the first thread, which is the one that calls. */
static double seconds_waited(pid_t process)
{
    char path[64];
    long long on_core, waited;
    double seconds = 0.0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%lld %lld", &on_core, &waited) == 2) seconds = 1e-9 * (double)waited;
    if (file) fclose(file);
    return seconds;
}

core_usage usage_of(pid_t process)
{
    return (core_usage){seconds_worked(process), seconds_waited(process)};
}

const char *oom_counter = "/proc/vmstat";

unsigned long long oom_kills(void)
{
    char line[128];
    unsigned long long kills = 0;
    FILE *file = fopen(oom_counter, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "oom_kill %llu", &kills) == 1) break;
    }
    if (file) fclose(file);
    return kills;
}

size_t bytes_held_by(pid_t process)
{
    char path[64];
    size_t all, resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%zu %zu %zu", &all, &resident, &shared) != 3) resident = shared;
    if (file) fclose(file);
    return (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

double work_hidden(double beside, double honest)
{
    const double hidden = beside - (BESIDE_SHARE * fmax(honest, 0.0) + BESIDE_SLACK);
    return hidden > 0.0 ? hidden : 0.0;
}

void read_stolen(double *stolen, double *all)
{
    double tick[8] = {0};
    FILE *file = fopen("/proc/stat", "re");
    *stolen = *all = 0.0;
    if (!file) return;
    if (fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &tick[0], &tick[1], &tick[2], &tick[3],
               &tick[4], &tick[5], &tick[6], &tick[7]) == 8) {
        for (int i = 0; i < 8; i++) *all += tick[i];
        *stolen = tick[7];
    }
    fclose(file);
}
