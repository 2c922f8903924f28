/*
 * landlock.c: where the kernel gives no namespaces it may still have Landlock (Linux 5.13): a
 * process gives up all files but some, for good. The names of the other files then stay visible,
 * but the files cannot be opened.
 */
#include "jail.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(SYS_landlock_create_ruleset) && __has_include(<linux/landlock.h>)
#include <linux/landlock.h>

#define READ_FILES (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
#define READ       (READ_FILES | LANDLOCK_ACCESS_FS_READ_DIR)
#define ALL_OF_1   ((1ull << 13) - 1) /* what version 1 knows */
#define REFER      (1ull << 13)       /* since version 2: move between folders */
#define TRUNCATE   (1ull << 14)       /* since version 3 */
#define SOCKETS    1ull               /* since version 6: those without a file */
#define SIGNALS    2ull

/* struct landlock_ruleset_attr, as the newest kernels have it: the last is what they may reach that
 * are behind no Landlock, or behind another. Older ones take it when that is 0. */
typedef struct ruleset {
    uint64_t files, network, scoped;
} ruleset;

/* All that this kernel can keep a process from. */
static ruleset all_accesses(void)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return (ruleset){0};
    return (ruleset){.files = ALL_OF_1 | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0),
                     .scoped = version >= 6 ? SOCKETS | SIGNALS : 0};
}

/* What is not there needs no rule. */
static void allow(int rules, const char *path, uint64_t accesses)
{
    struct stat facts;
    const int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0) return;
    const bool folder = fstat(file, &facts) == 0 && S_ISDIR(facts.st_mode);
    const uint64_t of_files = READ_FILES | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE;
    struct landlock_path_beneath_attr rule = {folder ? accesses : accesses & of_files, file};
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(file);
}

static void allow_view(int rules, const words *view, uint64_t all)
{
    for (size_t i = 0; i + 2 < view->count; i++) {
        const char *how = view->at[i], *path = view->at[i + 1];
        if (strncmp(how, "--ro-bind", 9) == 0) allow(rules, path, READ);
        if (strcmp(how, "--bind") == 0 || strncmp(how, "--dev-bind", 10) == 0) {
            allow(rules, path, all);
        }
    }
}

bool landlock_enter(const words *view, const char *folder)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom",
                                          "/dev/random"};
    const ruleset handled = all_accesses();
    const uint64_t all = handled.files;
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (!all || rules < 0) return false;
    allow_view(rules, view, all);
    allow(rules, folder, all);
    allow(rules, "/proc", READ);
    allow(rules, "/sys/devices/system/cpu", READ);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) allow(rules, devices[i], all);
    const bool entered = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return entered;
}

#else

bool landlock_enter(const words *view, const char *folder)
{
    (void)view, (void)folder;
    return false;
}

#endif
