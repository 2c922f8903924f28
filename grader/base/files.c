/* files.c: folders that are made, files that are copied, trees that go. */
#include "base.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

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
