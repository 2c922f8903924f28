/* files.c: make folders, copy, replace and lock files, remove trees. */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void make_folders_of(const char *path)
{
    char folder[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0777);
    }
}

bool copy_file(const char *from, const char *to)
{
    char block[1 << 14];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    bool whole = in && out;
    for (size_t n; whole && (n = fread(block, 1, sizeof block, in)) > 0;) {
        whole = fwrite(block, 1, n, out) == n;
    }
    if (in) fclose(in);
    if (out) whole = fclose(out) == 0 && whole;
    return whole;
}

bool replace_file(const char *path, const char *text)
{
    char unfinished[PATH_MAX + 8];
    snprintf(unfinished, sizeof unfinished, "%s.XXXXXX", path);
    const int made = mkostemp(unfinished, O_CLOEXEC);
    FILE *file = made >= 0 ? fdopen(made, "w") : NULL;
    bool whole = file && fputs(text, file) >= 0 && fchmod(made, 0644) == 0;
    if (file) whole = fclose(file) == 0 && whole;
    if (whole && rename(unfinished, path) == 0) return true;
    if (made >= 0) unlink(unfinished);
    return false;
}

void change_lock(int lock, int how)
{
    while (lock >= 0 && flock(lock, how) != 0 && errno == EINTR) {
    }
}

int lock_file(const char *path, int how)
{
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    change_lock(lock, how);
    return lock;
}

/* Each folder from the one before: what is exchanged for a link meanwhile is not entered. */
int open_beneath(const char *folder, const char *file)
{
    char name[NAME_MAX + 1];
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; at >= 0 && (slash = strchr(file, '/')); file = slash + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(slash - file), file);
        const int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    if (at < 0) return -1;
    const int found = openat(at, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int error = errno;
    close(at);
    errno = error;
    return found;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts, (void)kind, (void)where;
    remove(path);
    return 0; /* what cannot go does not keep the rest */
}

bool remove_tree(const char *path)
{
    struct stat facts;
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return lstat(path, &facts) != 0;
}
