/*
 * gpu.c: graders on one machine measure on a GPU one after the other, however they were started: a
 * run of make class, a task of Slurm, a student by hand. They may build at the same time. The lock
 * is the GPU's, by its UUID, whatever number CUDA_VISIBLE_DEVICES gives it here; the kernel
 * releases it when its holder dies. Containers that share a GPU but not /dev/shm do not see each
 * other.
 */
#include "course.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool gpu_find(const options *o, char uuid[64])
{
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/worker_cuda", o->build);
    const char *const argv[] = {program, "--uuid", NULL};
    process_result r = process_run(argv, NULL, 60.0, 63);
    const bool found = r.status == 0 && r.output && *r.output;
    snprintf(uuid, 64, "%.63s", found ? r.output : "");
    uuid[strspn(uuid, "0123456789abcdef")] = '\0';
    free(r.output);
    return *uuid != '\0';
}

int gpu_count(const options *o)
{
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/worker_cuda", o->build);
    const char *const argv[] = {program, "--count", NULL};
    process_result r = process_run(argv, NULL, 60.0, 63);
    const int count = r.status == 0 && r.output ? atoi(r.output) : 0;
    free(r.output);
    return count;
}

/* Everybody may lock it, whoever was first. Another user's file in a folder with the sticky bit
 * must not be opened with O_CREAT. */
static int open_lock(const char *path)
{
    for (int again = 0; again < 2; again++) {
        int lock = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (lock >= 0 || errno != ENOENT) return lock;
        lock = open(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (lock >= 0 || errno != EEXIST) return lock;
    }
    return -1;
}

int gpu_lock(const char *folder, const char *uuid)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/course-gpu-%s", folder, uuid);
    const int lock = open_lock(path);
    if (lock < 0) {
        fprintf(stderr, "grader: cannot lock the GPU: %s: %s\n", path, strerror(errno));
        return -1;
    }
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
    report_progress("another grader measures on this GPU");
    while (flock(lock, LOCK_EX) != 0 && errno == EINTR) {
    }
    return lock;
}

int gpu_take(const options *o)
{
    char uuid[64];
    if (o->backend != BACKEND_CUDA || !gpu_find(o, uuid)) return -1;
    return gpu_lock(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", uuid);
}
