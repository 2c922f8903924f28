/*
 * mounts.c: the files of this machine that a program sees, as arguments of bubblewrap: the system's
 * own folders and the compilers, or only the libraries of one program; the paths of its plan; and
 * one folder to write to. landlock.c takes the same arguments.
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
static void show_system_folder(words *w, const char *path, bool whole)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
        if (whole) add_mount(w, "--ro-bind-try", path);
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

static void show_system_folders(words *w, bool whole)
{
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        show_system_folder(w, folders[i], whole);
    }
    add_mount(w, "--ro-bind-try", "/etc/ld.so.cache");
}

static void show_system(words *w)
{
    static const char *const tools[] = {"CC", "CXX", "NVCC", "CUCC_CLANG", "CUCC_NVCC", "PYTHON"};
    add_mount(w, "--ro-bind", "/usr");
    show_system_folders(w, true);
    add_mount(w, "--ro-bind-try", "/etc/alternatives");
    add_mount(w, "--ro-bind-try", "/nix/store");
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) show_tool(w, tools[i]);
    show_folders_of(w, "CUDA_LIB");
    show_folders_of(w, "CUDA_INCLUDE");
}

/* ---- of the system, one program's libraries -------------------------------------------------- */

/* Under the name that it is looked for by, in the folder as it is without links. */
static void show_file(words *w, const char *path)
{
    char folder[PATH_MAX], whole[PATH_MAX], file[2 * PATH_MAX];
    const char *name = strrchr(path, '/');
    if (!name || access(path, R_OK) != 0) return;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    if (!realpath(folder, whole)) return;
    snprintf(file, sizeof file, "%s%s", whole, name);
    if (!has_word(w, file)) add_mount(w, "--ro-bind", file);
}

/* Which they are the loader says, of programs of ours and the system's. @return NULL-ended, or NULL
 * where nobody says it */
static char **libraries_of(const char *program)
{
    static struct {
        char *program;
        words paths;
    } known[8];
    size_t i = 0;
    while (i < 7 && known[i].program && strcmp(known[i].program, program) != 0) i++;
    if (known[i].program && strcmp(known[i].program, program) == 0) return known[i].paths.at;
    free(known[i].program);
    words_free(&known[i].paths);
    known[i].program = strdup(program);
    known[i].paths = (words){0};
    process_result r = process_run((const char *const[]){"ldd", program, NULL}, "/", 10.0, 1 << 16);
    for (char *rest = r.output, *word; rest && (word = strsep(&rest, " \t\n"));) {
        if (r.status == 0 && *word == '/') words_add(&known[i].paths, word);
    }
    free(r.output);
    return known[i].paths.at;
}

static bool show_libraries(words *w, const char *program)
{
    char **paths = libraries_of(program);
    for (size_t i = 0; paths && paths[i]; i++) show_file(w, paths[i]);
    return paths != NULL;
}

/* What takes the user id. */
static void show_setpriv(words *w)
{
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = path, *folder;
    char file[PATH_MAX];
    while ((folder = strsep(&rest, ":"))) {
        snprintf(file, sizeof file, "%s/setpriv", folder);
        if (access(file, X_OK) != 0) continue;
        show_file(w, file);
        show_libraries(w, file);
        break;
    }
    free(path);
}

static void show_drivers(words *w, const char *folder)
{
    static const char *const names[] = {"libcuda.so*", "libnv*.so*", "libdxcore.so*", "libd3d12*"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", folder, names[i]);
        if (glob(pattern, 0, NULL, &found) != 0) continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            if (!strstr(found.gl_pathv[k], "blas")) show_file(w, found.gl_pathv[k]);
        }
        globfree(&found);
    }
}

/* Where a driver's libraries may lie, which are loaded by name. */
static void show_all_drivers(words *w)
{
    static const char *const folders[] = {"/usr/lib/*-linux-gnu",
                                          "/usr/lib64",
                                          "/usr/lib",
                                          "/usr/lib/wsl/lib",
                                          "/usr/lib/wsl/drivers/*",
                                          "/usr/local/cuda*/compat"};
    const char *value = getenv("LD_LIBRARY_PATH");
    char *copy = strdup(value ? value : ""), *rest = copy;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) show_drivers(w, folders[i]);
    for (char *path; (path = strsep(&rest, ":"));) {
        if (*path == '/') show_drivers(w, path);
    }
    free(copy);
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
    show_all_drivers(w);
}

/* The folder of the course is hidden first, should it lie in one that is shown. */
static void show_plan(words *w, const plan *p)
{
    const char *root = sandbox_options()->root;
    if (strncmp(root, "/usr/", 5) == 0)
        words_add_all(w, (const char *const[]){"--tmpfs", root, NULL});
    for (size_t i = 0; p->read && p->read[i]; i++) add_mount(w, "--ro-bind-try", p->read[i]);
    if (p->write) add_mount(w, "--bind", p->write);
    words_add_all(w, (const char *const[]){"--remount-ro", "/dev", "--remount-ro", "/proc",
                                           "--remount-ro", "/", NULL});
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
    if (p->program && show_libraries(w, p->program)) {
        show_system_folders(w, false);
        show_setpriv(w);
    } else {
        show_system(w);
    }
    if (p->gpu) show_gpu(w);
    show_plan(w, p);
}
