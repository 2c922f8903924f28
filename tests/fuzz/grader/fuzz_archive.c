/*
 * fuzz_archive.c: any bytes as an archive. Beside the folder it is unpacked into there must be
 * nothing afterwards, and in it only files and folders, no more bytes than allowed, none of which
 * somebody else may write.
 */
#include "class/class.h"
#include "fuzz.h"

#include <dirent.h>
#include <ftw.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unpack_limits limits = {.entries = 100, .bytes = 1 << 20};
static long long written;

static int look(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)path, (void)type, (void)where;
    if (!S_ISREG(facts->st_mode) && !S_ISDIR(facts->st_mode)) abort();
    if (facts->st_mode & (07000 | S_IRWXG | S_IRWXO)) abort();
    if (S_ISREG(facts->st_mode)) written += facts->st_size;
    return 0;
}

static int entries_of(const char *folder)
{
    int count = 0;
    DIR *list = opendir(folder);
    while (list && readdir(list)) count++;
    if (list) closedir(list);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char outer[] = "/dev/shm/archive.XXXXXX", inner[64], why[256] = "";
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(outer)) abort();
    snprintf(inner, sizeof inner, "%s/inner", outer);
    if (mkdir(inner, 0700) != 0) abort();
    if (unpack(file_of(data, bytes), inner, limits, why) != UNPACKED && !*why) abort();
    written = 0;
    if (nftw(inner, look, 16, FTW_PHYS) != 0 || written > limits.bytes) abort();
    if (entries_of(outer) != 3) abort(); /* . .. inner */
    if (!remove_tree(outer)) abort();
    return 0;
}
