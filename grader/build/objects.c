/*
 * objects.c: the objects that compilers made, kept by the content of their sources. Like ccache it
 * has two levels. Below the hash of compilers, options and sources lies which headers these
 * included when they were last compiled; that hash and the headers as they are now are the key of
 * the object. A header that is not included changes no key.
 *
 *   COURSE_CACHE/HASH.headers   names of headers, one a line
 *   COURSE_CACHE/HASH.lock      while it is compiled: others who want the same wait for it
 *   COURSE_CACHE/KEY/           exercise.o, unless the compiler failed, and log, its words
 *
 * Clones of the course may share the folder: no option names one. Only the line information of an
 * object does, and its readers take the file's name alone. Only its owner, who runs the grader, can
 * access the folder; compilers and workers do not see it.
 */
#include "compiling.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_BYTES (2LL << 30) /* that it may hold */
#define CACHE_LEFT  (CACHE_BYTES / 4 * 3)
#define LOG_LIMIT   (64 << 10)
#define LIST_LIMIT  (1 << 20) /* of what a compiler read */

/* ---- where ----------------------------------------------------------------------------------- */

static bool is_ours(const char *folder)
{
    struct stat facts;
    make_folders_of(folder);
    mkdir(folder, 0700);
    return stat(folder, &facts) == 0 && facts.st_uid == geteuid() && chmod(folder, 0700) == 0 &&
           access(folder, W_OK) == 0;
}

static void choose_folder(const options *o, char path[PATH_MAX])
{
    const char *given = getenv("COURSE_CACHE"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (given && *given)
        snprintf(path, PATH_MAX, "%s", given);
    else if (cache && *cache)
        snprintf(path, PATH_MAX, "%s/cuda-course", cache);
    else
        snprintf(path, PATH_MAX, "%s/.cache/cuda-course", home ? home : "");
    if (*path == '/' && is_ours(path)) return;
    snprintf(path, PATH_MAX, "%s/objects/compiled", o->build);
    is_ours(path);
}

/* What is built elsewhere, to be removed, is kept there too. */
void objects_folder(const options *o, const build *b, char path[PATH_MAX])
{
    if (!b->own || !o->objects) {
        choose_folder(o, path);
        return;
    }
    snprintf(path, PATH_MAX, "%s/compiled", o->objects);
    is_ours(path);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void name_of(char path[PATH_MAX], const char *folder, const char *key, const char *rest)
{
    snprintf(path, PATH_MAX, "%s/%.32s%s", folder, key, rest);
}

/* A regular file, and not where a link leads: a compiler made it. @return the caller's, or NULL */
static char *read_whole(const char *path, size_t limit)
{
    struct stat facts;
    if (lstat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return NULL;
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, limit + 1) : NULL;
    if (text) text[fread(text, 1, limit, file)] = '\0';
    if (file) fclose(file);
    return text;
}

static bool copy_regular(const char *from, const char *to)
{
    struct stat facts;
    return lstat(from, &facts) == 0 && S_ISREG(facts.st_mode) && copy_file(from, to);
}

static void mark_used(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, 0);
}

/* ---- which headers -----------------------------------------------------------------------------
 */

static void key_of(const options *o, const char *sources, char *names, char key[HASH_HEX])
{
    hash *h = hash_begin();
    hash_text(h, sources);
    for (char *rest = names, *name; (name = strsep(&rest, "\n"));) {
        if (*name) contracts_hash(o, name, h);
    }
    hash_end(h, key);
}

bool objects_key(const options *o, const char *folder, const char *sources, char key[HASH_HEX])
{
    char path[PATH_MAX];
    name_of(path, folder, sources, ".headers");
    char *names = read_whole(path, LIST_LIMIT);
    if (!names) return false;
    mark_used(path);
    key_of(o, sources, names, key);
    free(names);
    return true;
}

/* Those of the contracts among the words of a rule of make. @return false when that cannot be told
 */
static bool list_included(char *rule, FILE *to)
{
    static const char place[] = "contracts/";
    for (char *rest = rule, *word; (word = strsep(&rest, " \t\r\n\\"));) {
        if (!strstr(word, place)) continue;
        if (strncmp(word, place, sizeof place - 1) != 0) return false;
        if (strstr(word + sizeof place - 1, "..")) return false;
        fprintf(to, "%s\n", word + sizeof place - 1);
    }
    return true;
}

/* Where it cannot be told which, all of them. */
static char *names_of(const options *o, const char *work, bool whole)
{
    char path[PATH_MAX], *names = NULL;
    size_t bytes;
    snprintf(path, sizeof path, "%s/" HEADERS_FILE, work);
    char *rule = whole ? read_whole(path, LIST_LIMIT) : NULL;
    FILE *to = open_memstream(&names, &bytes);
    if (!rule || !list_included(rule, to)) {
        rewind(to);
        contracts_list(o, to);
    }
    fclose(to);
    free(rule);
    return names;
}

void objects_learn(const options *o, const char *folder, const char *sources, const char *work,
                   bool whole, char key[HASH_HEX])
{
    char path[PATH_MAX];
    char *names = names_of(o, work, whole);
    name_of(path, folder, sources, ".headers");
    replace_file(path, names);
    key_of(o, sources, names, key);
    free(names);
}

/* ---- objects --------------------------------------------------------------------------------- */

int objects_await_turn(const char *folder, const char *sources)
{
    char path[PATH_MAX];
    name_of(path, folder, sources, ".lock");
    return lock_file(path, LOCK_EX);
}

/* Who waits for the lock finds the object, and who comes now has a lock of its own. */
void objects_end_turn(const char *folder, const char *sources, int turn)
{
    char path[PATH_MAX];
    name_of(path, folder, sources, ".lock");
    unlink(path);
    if (turn >= 0) close(turn);
}

void objects_keep(const char *folder, const char *key, const char *work, const char *log)
{
    char path[PATH_MAX], unfinished[PATH_MAX], from[PATH_MAX], to[PATH_MAX + 16];
    struct stat facts;
    snprintf(unfinished, sizeof unfinished, "%s/new.XXXXXX", folder);
    if (!mkdtemp(unfinished)) return;
    snprintf(from, sizeof from, "%s/exercise.o", work);
    snprintf(to, sizeof to, "%s/exercise.o", unfinished);
    bool whole = lstat(from, &facts) != 0 || copy_regular(from, to);
    snprintf(to, sizeof to, "%s/log", unfinished);
    FILE *file = fopen(to, "w");
    whole = file && fputs(log, file) >= 0 && whole;
    if (file) whole = fclose(file) == 0 && whole;
    name_of(path, folder, key, "");
    if (!whole || rename(unfinished, path) != 0) remove_tree(unfinished); /* another was first */
}

char *objects_log(const char *folder, const char *key, bool *compiled)
{
    char path[PATH_MAX];
    name_of(path, folder, key, "");
    mark_used(path);
    name_of(path, folder, key, "/exercise.o");
    *compiled = access(path, R_OK) == 0;
    name_of(path, folder, key, "/log");
    return read_whole(path, LOG_LIMIT);
}

bool objects_take(const char *folder, const char *key, const char *work)
{
    char path[PATH_MAX], to[PATH_MAX];
    name_of(path, folder, key, "/exercise.o");
    snprintf(to, sizeof to, "%s/exercise.o", work);
    return copy_regular(path, to);
}

/* ---- no more than so many -------------------------------------------------------------------- */

typedef struct kept {
    char name[NAME_MAX + 1];
    time_t used;
    long long bytes;
} kept;

static long long bytes_at(const char *folder, const char *name, const char *rest, time_t *used)
{
    char path[2 * PATH_MAX];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s%s", folder, name, rest);
    if (stat(path, &facts) != 0) return 0;
    if (used) *used = facts.st_mtime;
    return facts.st_blocks * 512LL;
}

static int longest_unused_first(const void *a, const void *b)
{
    const time_t one = ((const kept *)a)->used, other = ((const kept *)b)->used;
    return (one > other) - (one < other);
}

/* @return how many there are, in *all, and what they hold together */
static size_t read_all(const char *folder, kept **all, long long *bytes)
{
    size_t count = 0, room = 0;
    DIR *list = opendir(folder);
    for (struct dirent *d; list && (d = readdir(list));) {
        if (d->d_name[0] == '.') continue;
        if (count == room) *all = realloc(*all, (room = 2 * room + 64) * sizeof **all);
        kept *k = &(*all)[count++];
        snprintf(k->name, sizeof k->name, "%s", d->d_name);
        k->bytes = bytes_at(folder, k->name, "", &k->used) +
                   bytes_at(folder, k->name, "/exercise.o", NULL) +
                   bytes_at(folder, k->name, "/log", NULL);
        *bytes += k->bytes;
    }
    if (list) closedir(list);
    return count;
}

/* It goes at once, for others. */
static void remove_one(const char *folder, const char *name)
{
    char path[2 * PATH_MAX], gone[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(gone, sizeof gone, "%s/new.%d", folder, (int)getpid());
    if (rename(path, gone) == 0) remove_tree(gone);
}

void objects_trim(const char *folder)
{
    kept *all = NULL;
    long long bytes = 0;
    const size_t count = read_all(folder, &all, &bytes);
    if (bytes <= CACHE_BYTES) bytes = 0;
    qsort(all, count, sizeof *all, longest_unused_first);
    for (size_t i = 0; bytes > CACHE_LEFT && i < count; i++) {
        remove_one(folder, all[i].name);
        bytes -= all[i].bytes;
    }
    free(all);
}
