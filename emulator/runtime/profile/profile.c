/*
 * profile.c: SOFTGPU_PROFILE: from the first launch to the end of the program everything is
 * counted, and then printed.
 *
 *   SOFTGPU_PROFILE=1           what each kernel cost, on stderr
 *   SOFTGPU_PROFILE=source      the same, and what each line of source cost
 *   SOFTGPU_PROFILE=json:FILE   all of it, for programs
 *
 * Counts are taken from a device when it is closed and at the end. A program that does not end by
 * exit() or by returning from main has no profile.
 */
#include "profile.h"

#include "runtime/core/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct profile profile;

static const char *mode(void)
{
    const char *text = getenv("SOFTGPU_PROFILE");

    return text && *text && strcmp(text, "0") != 0 && strcmp(text, "off") != 0 ? text : NULL;
}

bool profile_wanted(void)
{
    return mode() != NULL;
}

void profile_collect(void)
{
    if (profile_wanted()) profile_add(&profile, runtime.device);
}

static void collect_all(void)
{
    for (int i = 0; i < option_devices(); i++) {
        runtime_look_at(i);
        if (runtime.device) profile_collect();
    }
}

/* A child has nothing to say: its parent will. */
__attribute__((destructor)) static void finish(void)
{
    const char *how = mode();

    if (!how || (runtime.owner && runtime.owner != getpid()) || !runtime_try_lock()) return;
    collect_all();
    profile.total = count_so_far();
    profile_print(&profile, how);
    runtime_unlock();
}
