/*
 * contracts.c: the headers that a compiler finds: those of common/ and of the phases, copied to
 * contracts/ in the build folder, so that a compiler sees them and no other file of the course. It
 * reaches them by a link in its working folder: so no path in its messages names a folder of this
 * clone.
 */
#include "compiling.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const patterns[] = {"common/*.h", "phase?_*/*.h", "phase?_*/*/*.h"};

void contracts_folder(const options *o, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/contracts", o->build);
}

/* Calls it for each header of a folder, by its path in there: of the course, or of the copies. */
static void each_header(const char *top, void (*use)(void *, const char *), void *context)
{
    char pattern[PATH_MAX];
    struct stat facts;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", top, patterns[i]);
        if (glob(pattern, 0, NULL, &found) != 0) continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            if (lstat(found.gl_pathv[k], &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
            use(context, found.gl_pathv[k] + strlen(top) + 1);
        }
        globfree(&found);
    }
}

typedef struct headers {
    const char *top, *to;
    hash *hash;
    FILE *list;
} headers;

static void hash_header(void *context, const char *name)
{
    const headers *all = context;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", all->top, name);
    hash_text(all->hash, name);
    hash_file(all->hash, path);
}

static void copy_header(void *context, const char *name)
{
    const headers *all = context;
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(from, sizeof from, "%s/%s", all->top, name);
    snprintf(to, sizeof to, "%s/%s", all->to, name);
    make_folders_of(to);
    copy_file(from, to);
}

static void list_header(void *context, const char *name)
{
    fprintf(((const headers *)context)->list, "%s\n", name);
}

static void hash_all(const char *top, char hex[HASH_HEX])
{
    headers all = {.top = top, .hash = hash_begin()};
    each_header(top, hash_header, &all);
    hash_end(all.hash, hex);
}

static bool are_fresh(const options *o)
{
    char to[PATH_MAX], wanted[HASH_HEX], there[HASH_HEX];
    contracts_folder(o, to);
    hash_all(o->root, wanted);
    hash_all(to, there);
    return strcmp(wanted, there) == 0;
}

/* A compiler is another user. */
static void refresh(const options *o)
{
    char to[PATH_MAX];
    contracts_folder(o, to);
    const mode_t mask = umask(022);
    remove_tree(to);
    each_header(o->root, copy_header, &(headers){.top = o->root, .to = to});
    umask(mask);
}

int contracts_hold(const options *o)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/objects", o->build);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/objects/headers.lock", o->build);
    const int lock = lock_file(path, LOCK_SH);
    if (are_fresh(o)) return lock;
    change_lock(lock, LOCK_EX);
    if (!are_fresh(o)) refresh(o);
    change_lock(lock, LOCK_SH);
    return lock;
}

void contracts_link(const options *o, const char *folder)
{
    char to[PATH_MAX], link[PATH_MAX];
    contracts_folder(o, to);
    snprintf(link, sizeof link, "%s/contracts", folder);
    unlink(link);
    if (symlink(to, link) != 0) return; /* no header is found, says the compiler */
}

void contracts_list(const options *o, FILE *to)
{
    char top[PATH_MAX];
    contracts_folder(o, top);
    each_header(top, list_header, &(headers){.list = to});
}

void contracts_hash(const options *o, const char *name, hash *h)
{
    char top[PATH_MAX];
    contracts_folder(o, top);
    hash_header(&(headers){.top = top, .hash = h}, name);
}
