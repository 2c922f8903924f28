/*
 * threads.c: the threads and processes of a worker, by the kernel's own lists, which no library can
 * forge. One that outlives its call works unmeasured, or slows down the next measurement.
 */
#include "call.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define EXITING 4 /* a kernel's flag: on its way out, though a list may still have it */

static FILE *open_list(pid_t process, const char *thread, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)process, thread, name);
    return fopen(path, "re");
}

/* The flags are the ninth field. The second is a name in brackets, which its owner may choose. */
static bool is_exiting(pid_t process, const char *thread)
{
    char line[1024] = "";
    unsigned flags = EXITING;
    FILE *file = open_list(process, thread, "stat");
    if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
    if (file) fclose(file);
    const char *rest = strrchr(line, ')');
    if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1) return true;
    return flags & EXITING;
}

/* The threads of a process and of all that it has started. */
static int count_all(pid_t process)
{
    char path[64];
    int count = 0, child;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *threads = opendir(path);
    for (struct dirent *d; threads && (d = readdir(threads));) {
        if (d->d_name[0] == '.' || is_exiting(process, d->d_name)) continue;
        count++;
        FILE *children = open_list(process, d->d_name, "children");
        while (children && fscanf(children, "%d", &child) == 1) count += count_all(child);
        if (children) fclose(children);
    }
    if (threads) closedir(threads);
    return count;
}

int threads_beyond(pid_t process)
{
    const int all = count_all(process);
    return all > 0 ? all - 1 : 0;
}
