/*
 * checks.c: which mistakes softgpu looks for, and what happens when it finds one: SOFTGPU_CHECKS.
 *
 *   SOFTGPU_CHECKS=LEVEL[,CHECK[=LEVEL]]...     warn,leaks    fatal,races=warn    off,races
 *
 * LEVEL is off, warn (a line on stderr) or fatal (that, and the launch fails for good, and the
 * program's exit status is not 0). The first one is for all checks that are on by default; a CHECK
 * without a level has that one too, or warn when that is off. What ends a launch on a GPU as well
 * (out of bounds, a failed assert, an endless loop, ...) is always said.
 */
#include "options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool asked_for; /* off until it is named */
    uint32_t device;
} checks[CHECKS] = {
    [CHECK_FAULTS] = {"faults", false, 0},
    [CHECK_UNINITIALISED] = {"uninitialised", false, DEVICE_CHECK_UNINITIALISED},
    [CHECK_RACES] = {"races", false, DEVICE_CHECK_RACES},
    [CHECK_BARRIERS] = {"barriers", false, DEVICE_CHECK_BARRIERS},
    [CHECK_LANES] = {"lanes", false, DEVICE_CHECK_LANES},
    [CHECK_FREES] = {"frees", false, 0},
    [CHECK_ERRORS] = {"errors", false, 0},
    [CHECK_LEAKS] = {"leaks", true, 0},
    [CHECK_LINT] = {"lint", true, DEVICE_CHECK_RETURNS},
};

static enum check_level levels[CHECKS];

/** @return whether `word` names a level. */
static bool read_level(const char *word, enum check_level *level)
{
    static const char *const names[] = {"off", "warn", "fatal"};

    if (!strcmp(word, "on")) word = "warn";
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, names[i]) != 0) continue;
        *level = (enum check_level)i;
        return true;
    }
    return false;
}

static void set_all(enum check_level level)
{
    for (int i = 0; i < CHECKS; i++) levels[i] = checks[i].asked_for ? CHECK_OFF : level;
}

/** NAME or NAME=LEVEL. @return false when there is no such check or level. */
static bool read_exception(char *word, enum check_level common)
{
    enum check_level level = common == CHECK_OFF ? CHECK_WARN : common;
    char *equals = strchr(word, '=');

    if (equals) *equals = '\0';
    if (equals && !read_level(equals + 1, &level)) return false;
    for (int i = 0; i < CHECKS; i++) {
        if (strcmp(word, checks[i].name) != 0) continue;
        levels[i] = level;
        return true;
    }
    return false;
}

static void read_all(void)
{
    const char *variable = getenv("SOFTGPU_CHECKS");
    enum check_level common = CHECK_WARN, first;
    char text[512], *rest = text;

    snprintf(text, sizeof text, "%s", variable ? variable : "");
    set_all(common);
    for (char *word; (word = strsep(&rest, ","));) {
        if (!*word) continue;
        if (read_level(word, &first))
            set_all(common = first);
        else if (!read_exception(word, common))
            fprintf(stderr, "softgpu: SOFTGPU_CHECKS: '%s' is neither a level nor a check\n", word);
    }
    if (levels[CHECK_FAULTS] == CHECK_OFF) levels[CHECK_FAULTS] = CHECK_WARN;
}

enum check_level check_level(enum check check)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_all);
    return levels[check];
}

enum check check_of(device_finding_kind kind)
{
    switch (kind) {
    case FINDING_RACE:
    case FINDING_STREAM_RACE:
    case FINDING_MISSING_SYNCWARP: return CHECK_RACES;
    case FINDING_UNINITIALISED: return CHECK_UNINITIALISED;
    case FINDING_DIVERGENT_BARRIER: return CHECK_BARRIERS;
    case FINDING_INACTIVE_LANE: return CHECK_LANES;
    case FINDING_EARLY_RETURN: return CHECK_LINT;
    default: return CHECK_FAULTS;
    }
}

uint32_t checks_for_device(void)
{
    uint32_t set = 0;

    for (int i = 0; i < CHECKS; i++)
        if (check_level((enum check)i) != CHECK_OFF) set |= checks[i].device;
    return set ? set : DEVICE_CHECK_NONE;
}
