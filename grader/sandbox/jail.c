/*
 * jail.c: start a program that compiles a student's file, or runs it. It sees the system's own
 * folders and the paths of its plan, read-only, and can write to one folder; it runs as a user of
 * its own, within limits, with an environment of a few variables.
 *
 * bubblewrap makes the namespaces and setpriv (of util-linux) takes the user id inside of them.
 * Without namespaces Landlock keeps the files apart, and the child does the rest itself. sandbox.c
 * says which of these the machine has.
 */
#include "jail.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FILES 1024

struct jail {
    words command, view, environment;
    layers on;
    uid_t user; /* to become, or 0 */
    unsigned cpu_seconds;
    size_t address_bytes, file_bytes;
    char directory[PATH_MAX]; /* to start in */
    bool scratch;             /* which was made for it and goes with it */
    bool light;               /* as of its plan */
};

/* ---- the command ----------------------------------------------------------------------------- */

static void add_namespaces(jail *j)
{
    static const char *const always[] = {
        "bwrap",         "--die-with-parent", "--unshare-pid",        "--unshare-net",
        "--unshare-ipc", "--unshare-uts",     "--unshare-cgroup-try", NULL};
    static const char *const as_user[] = {"--unshare-user", NULL};
    static const char *const as_root[] = {"--cap-drop", "ALL", NULL};
    static const char *const to_become[] = {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
                                            NULL};
    words_add_all(&j->command, always);
    words_add_all(&j->command, geteuid() == 0 ? as_root : as_user);
    if (j->user) words_add_all(&j->command, to_become);
    words_add_all(&j->command, (const char *const *)j->view.at);
    words_add(&j->command, "--");
}

static void add_user(jail *j)
{
    char id[32];
    snprintf(id, sizeof id, "%u", (unsigned)j->user);
    words_add_all(&j->command,
                  (const char *const[]){"setpriv", "--reuid", id, "--regid", id, "--clear-groups",
                                        "--inh-caps=-all", "--no-new-privs", "--", NULL});
}

/* ---- environment ----------------------------------------------------------------------------- */

static void keep_variable(words *w, const char *name)
{
    const char *value = getenv(name);
    char *word = NULL;
    if (value && asprintf(&word, "%s=%s", name, value) >= 0) words_add(w, word);
    free(word);
}

/* Compilers put their own files there as well. */
static void set_home(jail *j)
{
    char word[PATH_MAX + 8];
    const char *home = j->on.namespaces ? VIEW_SCRATCH : j->directory;
    snprintf(word, sizeof word, "HOME=%s", home);
    words_add(&j->environment, word);
    snprintf(word, sizeof word, "TMPDIR=%s", home);
    words_add(&j->environment, word);
}

static void set_environment(jail *j, const plan *p)
{
    static const char *const kept[] = {
        "NVCC",           "NVCC_CCBIN",      "CUDA_HOME",      "CUCC_NVCC",      "CUCC_CLANG",
        "CUCC_FRONTEND",  "CUCC_LIBRARY",    "SOFTGPU_SIMD",   "SOFTGPU_CHECKS", "SOFTGPU_MEMORY",
        "SOFTGPU_BUDGET", "SOFTGPU_THREADS", "SOFTGPU_DEVICES"};
    static const char *const of_gpu[] = {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
                                         "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
                                         "NVIDIA_DRIVER_CAPABILITIES"};
    words *w = &j->environment;
    if (!getenv("PATH")) words_add(w, "PATH=/usr/local/bin:/usr/bin:/bin");
    keep_variable(w, "PATH");
    words_add(w, "LANG=C.UTF-8");
    words_add(w, "USER=student"); /* whom it runs as has no name, and Python's libraries ask */
    set_home(j);
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

/* ---- a jail ---------------------------------------------------------------------------------- */

/* Without a mount namespace: a folder beside those of others. Where there is none, none is entered,
 * and nothing starts. */
static void make_scratch(jail *j)
{
    snprintf(j->directory, sizeof j->directory, "%s/scratch", sandbox_options()->build);
    mkdir(j->directory, 0755);
    strcat(j->directory, "/XXXXXX");
    j->scratch = mkdtemp(j->directory) != NULL;
}

jail *jail_create(const plan *p, const char *const argv[])
{
    jail *j = calloc(1, sizeof *j);
    j->on = sandbox_layers();
    j->light = p->light;
    if (p->light) j->on.namespaces = j->on.user = false;
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
    view_write(&j->view, p);
    if (j->on.namespaces) add_namespaces(j);
    if (j->on.namespaces && j->user) add_user(j);
    words_add_all(&j->command, argv);
    if (j->on.environment) set_environment(j, p);
    return j;
}

void jail_free(jail *j)
{
    if (!j) return;
    if (j->scratch) remove_tree(j->directory);
    words_free(&j->command);
    words_free(&j->view);
    words_free(&j->environment);
    free(j);
}

static void limit(int resource, rlim_t value)
{
    if (value) setrlimit(resource, &(struct rlimit){value, value});
}

/* First by a signal that names the reason, which no other ending does. */
static void limit_processor(rlim_t seconds)
{
    if (seconds) setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
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

/* Root that is no longer allowed more than others. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &head, none) == 0;
}

/* What bubblewrap and setpriv would have done. */
static bool leave_all(const jail *j)
{
    if (j->user && !become_user(j->user)) return false;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (j->light) landlock_enter(&j->view, j->directory); /* where there is one */
    if (!j->on.files || j->light) return true;
    return landlock_enter(&j->view, j->directory) && (j->user || drop_capabilities());
}

void jail_enter(const jail *j)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (j->on.limits) {
        limit_processor(j->cpu_seconds);
        limit(RLIMIT_AS, j->address_bytes);
        limit(RLIMIT_FSIZE, j->file_bytes);
        limit(RLIMIT_NOFILE, OPEN_FILES);
        volunteer();
    }
    if (chdir(j->directory) != 0) return;
    if (!j->on.namespaces && j->on.environment && !leave_all(j)) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the user id, which takes it back */
    execvpe(j->command.at[0], j->command.at, j->on.environment ? j->environment.at : environ);
}

bool jail_hides_signals(const jail *j)
{
    return j->on.namespaces;
}

static void enter(const void *j)
{
    jail_enter(j);
}

process_result jail_run(const plan *p, const char *const argv[], double deadline, size_t limit)
{
    jail *j = jail_create(p, argv);
    process_result result = process_run_behind(enter, j, argv, deadline, limit);
    jail_free(j);
    return result;
}
