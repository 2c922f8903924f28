/*
 * jail.c: how a program starts that compiles a student's file, or holds it. It sees the system's
 * own folders and what its plan names, read-only, and can write into one folder; it runs as a user
 * that nobody else is, within limits, with an environment of a few variables.
 *
 * bubblewrap makes the namespaces and setpriv (of util-linux) takes the user id inside of them.
 * Where there are none, what remains is done by the child itself. sandbox.c says what there is.
 */
#include "grader.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FILES   1024
#define SCRATCH_SIZE "536870912" /* bytes of the one writable folder, where it is in memory */
#define INSIDE       "/tmp"      /* that folder, in a mount namespace */

typedef struct words {
    char **at; /* NULL-ended */
    size_t count;
} words;

struct jail {
    words command, environment;
    layers on;
    uid_t user; /* to become, or 0 */
    unsigned cpu_seconds;
    size_t address_bytes, file_bytes;
    char directory[PATH_MAX]; /* to start in */
    bool scratch;             /* which was made for it and goes with it */
};

/* ---- lists of words -------------------------------------------------------------------------- */

static void add(words *w, const char *word)
{
    w->at = realloc(w->at, (w->count + 2) * sizeof *w->at);
    w->at[w->count++] = strdup(word);
    w->at[w->count] = NULL;
}

static void add_all(words *w, const char *const list[])
{
    for (size_t i = 0; list && list[i]; i++) add(w, list[i]);
}

static void words_free(words *w)
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
        if (!has_word(w, folder)) add_all(w, (const char *const[]){"--dir", folder, NULL});
    }
}

static void add_mount(words *w, const char *how, const char *path)
{
    open_way(w, path);
    add_all(w, (const char *const[]){how, path, path, NULL});
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
    add_all(w, (const char *const[]){"--symlink", target, path, NULL});
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
    for (int i = 0; path && i < 2; i++) *strrchr(path, '/') = '\0';
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
    add_all(w, (const char *const[]){"--tmpfs", "/dev/shm", NULL});
    show_folders_of(w, "LD_LIBRARY_PATH");
}

/* The folder of the course is hidden first, should it lie in one that is shown. */
static void show_plan(words *w, const plan *p)
{
    const char *root = sandbox_options()->root;
    if (strncmp(root, "/usr/", 5) == 0) add_all(w, (const char *const[]){"--tmpfs", root, NULL});
    for (size_t i = 0; p->read && p->read[i]; i++) add_mount(w, "--ro-bind-try", p->read[i]);
    if (p->write) add_mount(w, "--bind", p->write);
    add_all(w, (const char *const[]){"--remount-ro", "/dev", "--remount-ro", "/", NULL});
    add_all(w, (const char *const[]){"--chdir", p->write ? p->write : INSIDE, "--", NULL});
}

static void add_namespaces(jail *j, const plan *p)
{
    static const char *const always[] = {
        "bwrap",         "--die-with-parent", "--unshare-pid",        "--unshare-net",
        "--unshare-ipc", "--unshare-uts",     "--unshare-cgroup-try", NULL};
    static const char *const as_user[] = {"--unshare-user", NULL};
    static const char *const as_root[] = {"--cap-drop", "ALL",        "--cap-add", "CAP_SETUID",
                                          "--cap-add",  "CAP_SETGID", NULL};
    static const char *const folders[] = {"--proc",  "/proc", "--dev", "/dev",
                                          "--perms", "1777",  NULL};
    words *w = &j->command;
    add_all(w, always);
    if (geteuid() != 0) add_all(w, as_user);
    if (geteuid() == 0)
        add_all(w, j->user ? as_root : (const char *const[]){"--cap-drop", "ALL", NULL});
    show_system(w);
    add_all(w, folders);
    if (sandbox_bounds_folders()) add_all(w, (const char *const[]){"--size", SCRATCH_SIZE, NULL});
    add_all(w, (const char *const[]){"--tmpfs", INSIDE, NULL});
    if (p->gpu) show_gpu(w);
    show_plan(w, p);
}

static void add_user(jail *j)
{
    char id[32];
    snprintf(id, sizeof id, "%u", (unsigned)j->user);
    add_all(&j->command,
            (const char *const[]){"setpriv", "--reuid", id, "--regid", id, "--clear-groups",
                                  "--inh-caps=-all", "--no-new-privs", "--", NULL});
}

/* ---- environment ----------------------------------------------------------------------------- */

static void keep_variable(words *w, const char *name)
{
    const char *value = getenv(name);
    char *word = NULL;
    if (value && asprintf(&word, "%s=%s", name, value) >= 0) add(w, word);
    free(word);
}

static void set_environment(jail *j, const plan *p)
{
    static const char *const kept[] = {"NVCC",         "NVCC_CCBIN",   "CUDA_HOME",
                                       "CUCC_NVCC",    "CUCC_CLANG",   "CUCC_FRONTEND",
                                       "CUCC_LIBRARY", "SOFTGPU_SIMD", "SOFTGPU_CHECKS"};
    static const char *const of_gpu[] = {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
                                         "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
                                         "NVIDIA_DRIVER_CAPABILITIES"};
    words *w = &j->environment;
    if (!getenv("PATH")) add(w, "PATH=/usr/local/bin:/usr/bin:/bin");
    keep_variable(w, "PATH");
    add_all(w, (const char *const[]){"HOME=" INSIDE, "TMPDIR=" INSIDE, "LANG=C.UTF-8", NULL});
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) keep_variable(w, kept[i]);
    for (size_t i = 0; p->gpu && i < sizeof of_gpu / sizeof *of_gpu; i++) {
        keep_variable(w, of_gpu[i]);
    }
}

/* ---- a user of its own ----------------------------------------------------------------------- */

/* Do all user ids exist here, or only the first 65536, as in many a container? */
static bool all_ids_exist(void)
{
    unsigned inside = 1, outside = 1, count = 0;
    FILE *map = fopen("/proc/self/uid_map", "r");
    const bool read = map && fscanf(map, "%u %u %u", &inside, &outside, &count) == 3;
    if (map) fclose(map);
    return read && inside == 0 && count == 4294967295u;
}

/* One that no other process has: limits on processes count by user. */
static uid_t new_user(void)
{
    static atomic_uint started;
    const unsigned number = (unsigned)getpid() * 64 + atomic_fetch_add(&started, 1) % 64;
    return all_ids_exist() ? 1000000000 + number : 20000 + number % 40000;
}

/* The folder and what lies in it, which is ours, become that user's. */
static void give_folder(const char *path, uid_t user)
{
    DIR *list = opendir(path);
    for (struct dirent *d; list && (d = readdir(list));) {
        if (strcmp(d->d_name, "..") == 0) continue;
        if (fchownat(dirfd(list), d->d_name, user, user, AT_SYMLINK_NOFOLLOW) != 0) continue;
    }
    if (list) closedir(list);
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

/* ---- a jail ---------------------------------------------------------------------------------- */

/* Without a mount namespace: a folder beside those of others. */
static void make_scratch(jail *j)
{
    snprintf(j->directory, sizeof j->directory, "%s/scratch/XXXXXX", sandbox_options()->build);
    j->scratch = mkdtemp(j->directory) != NULL;
    if (!j->scratch) snprintf(j->directory, sizeof j->directory, "/");
}

jail *jail_create(const plan *p, const char *const argv[])
{
    jail *j = calloc(1, sizeof *j);
    j->on = sandbox_layers();
    j->cpu_seconds = p->cpu_seconds;
    j->address_bytes = p->address_bytes;
    j->file_bytes = p->file_bytes;
    if (j->on.user && geteuid() == 0) j->user = new_user();
    if (p->write) {
        snprintf(j->directory, sizeof j->directory, "%s", p->write);
    } else if (!j->on.namespaces) {
        make_scratch(j);
    } else {
        snprintf(j->directory, sizeof j->directory, "/");
    }
    if (j->user && (p->write || j->scratch)) give_folder(j->directory, j->user);
    if (j->on.namespaces) add_namespaces(j, p);
    if (j->on.namespaces && j->user) add_user(j);
    add_all(&j->command, argv);
    if (j->on.environment) set_environment(j, p);
    return j;
}

void jail_free(jail *j)
{
    if (!j) return;
    if (j->scratch) remove_tree(j->directory);
    words_free(&j->command);
    words_free(&j->environment);
    free(j);
}

static void limit(int resource, rlim_t value)
{
    if (value) setrlimit(resource, &(struct rlimit){value, value});
}

/* Where the machine runs out of memory, this goes first, and not the grader. */
static void volunteer(void)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, "1000", 4) == 4) close(file);
}

static bool become_user(uid_t user)
{
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
           setresuid(user, user, user) == 0;
}

void jail_enter(const jail *j)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (j->on.limits) {
        limit(RLIMIT_CPU, j->cpu_seconds);
        limit(RLIMIT_AS, j->address_bytes);
        limit(RLIMIT_FSIZE, j->file_bytes);
        limit(RLIMIT_NOFILE, OPEN_FILES);
        volunteer();
    }
    if (chdir(j->directory) != 0) return;
    if (!j->on.namespaces && j->on.limits) {
        if (j->user && !become_user(j->user)) return;
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the user id, which takes it back */
    execvpe(j->command.at[0], j->command.at, j->on.environment ? j->environment.at : environ);
}

bool jail_hides_signals(const jail *j)
{
    return j->on.namespaces;
}
