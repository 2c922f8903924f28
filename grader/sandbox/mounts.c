/*
 * mounts.c: what a program sees of the files of this machine, in the words of bubblewrap: the
 * system's own folders, the compilers, what its plan names, and one folder to write into.
 * landlock.c takes the same words.
 */
#include "jail.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRATCH_SIZE "536870912" /* bytes of the folder to write into, where it is in memory */

/* ---- lists of words -------------------------------------------------------------------------- */

void words_add(words *w, const char *word)
{
    w->at = realloc(w->at, (w->count + 2) * sizeof *w->at);
    w->at[w->count++] = strdup(word);
    w->at[w->count] = NULL;
}

void words_add_all(words *w, const char *const list[])
{
    for (size_t i = 0; list && list[i]; i++) words_add(w, list[i]);
}

void words_free(words *w)
{
    for (size_t i = 0; i < w->count; i++) free(w->at[i]);
    free(w->at);
}

/* ---- what is visible ------------------------------------------------------------------------- */

static bool has_word(const words *w, const char *word)
{
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->at[i], word) == 0) return true;
    }
    return false;
}

/* bubblewrap makes the folders above a file such that only root enters them. */
static void open_way(words *w, const char *path)
{
    char folder[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (!has_word(w, folder)) words_add_all(w, (const char *const[]){"--dir", folder, NULL});
    }
}

static void add_mount(words *w, const char *how, const char *path)
{
    open_way(w, path);
    words_add_all(w, (const char *const[]){how, path, path, NULL});
}

/* /lib and its like are links into /usr on some systems and folders on others. */
static void show_system_folder(words *w, const char *path)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
        add_mount(w, "--ro-bind-try", path);
        return;
    }
    target[length] = '\0';
    words_add_all(w, (const char *const[]){"--symlink", target, path, NULL});
}

static bool is_shown_already(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 || strcmp(path, "/") == 0 || path[0] != '/';
}

/* A compiler that does not lie in /usr: the folder above its bin. */
static void show_tool(words *w, const char *variable)
{
    const char *value = getenv(variable);
    char *path = value && *value == '/' ? realpath(value, NULL) : NULL;
    for (int i = 0; path && *path && i < 2; i++) *strrchr(path, '/') = '\0';
    if (path && *path && !is_shown_already(path)) add_mount(w, "--ro-bind-try", path);
    free(path);
}

static void show_folders_of(words *w, const char *variable)
{
    const char *value = getenv(variable);
    char *copy = strdup(value ? value : ""), *rest = copy;
    for (char *path; (path = strsep(&rest, ":"));) {
        if (*path && !is_shown_already(path)) add_mount(w, "--ro-bind-try", path);
    }
    free(copy);
}

static void show_system(words *w)
{
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    static const char *const tools[] = {"CC", "CXX", "NVCC", "CUCC_CLANG", "CUCC_NVCC"};
    add_mount(w, "--ro-bind", "/usr");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) show_system_folder(w, folders[i]);
    add_mount(w, "--ro-bind-try", "/etc/ld.so.cache");
    add_mount(w, "--ro-bind-try", "/etc/alternatives");
    add_mount(w, "--ro-bind-try", "/nix/store");
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) show_tool(w, tools[i]);
    show_folders_of(w, "CUDA_LIB");
    show_folders_of(w, "CUDA_INCLUDE");
}

/* A real GPU is reached through files, and its driver reads what machine this is. */
static void show_gpu(words *w)
{
    glob_t found;
    if (glob("/dev/nvidia*", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            add_mount(w, "--dev-bind-try", found.gl_pathv[i]);
        }
        globfree(&found);
    }
    add_mount(w, "--dev-bind-try", "/dev/dxg");
    add_mount(w, "--ro-bind-try", "/sys");
    add_mount(w, "--ro-bind-try", "/etc/nvidia");
    add_mount(w, "--ro-bind-try", "/run/nvidia-persistenced");
    words_add_all(w, (const char *const[]){"--tmpfs", "/dev/shm", NULL});
    show_folders_of(w, "LD_LIBRARY_PATH");
}

/* The folder of the course is hidden first, should it lie in one that is shown. */
static void show_plan(words *w, const plan *p)
{
    const char *root = sandbox_options()->root;
    if (strncmp(root, "/usr/", 5) == 0)
        words_add_all(w, (const char *const[]){"--tmpfs", root, NULL});
    for (size_t i = 0; p->read && p->read[i]; i++) add_mount(w, "--ro-bind-try", p->read[i]);
    if (p->write) add_mount(w, "--bind", p->write);
    words_add_all(w, (const char *const[]){"--remount-ro", "/dev", "--remount-ro", "/", NULL});
    words_add_all(w, (const char *const[]){"--chdir", p->write ? p->write : VIEW_SCRATCH, NULL});
}

/* New, empty folders first: what is shown may lie inside of them. */
void view_write(words *w, const plan *p)
{
    static const char *const folders[] = {"--proc",  "/proc", "--dev", "/dev",
                                          "--perms", "1777",  NULL};
    words_add_all(w, folders);
    if (sandbox_bounds_folders())
        words_add_all(w, (const char *const[]){"--size", SCRATCH_SIZE, NULL});
    words_add_all(w, (const char *const[]){"--tmpfs", VIEW_SCRATCH, NULL});
    show_system(w);
    if (p->gpu) show_gpu(w);
    show_plan(w, p);
}
