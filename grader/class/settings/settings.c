/*
 * settings.c: class.ini.
 *
 *   [course]
 *   name = GPU programming        ; on the class page
 *   [weights]
 *   501 = 2                       ; points of 501 count twice
 *   [due]
 *   206 = 2026-11-06T23:59:00Z    ; UTC; who is later is shown, and loses nothing
 *   [late]
 *   due = 2026-11-20T23:59:00Z    ; UTC
 *   per_day = 10                  ; percent of the points for each day begun
 *   most = 50                     ; percent
 *   [submitted]
 *   anna = 2026-11-20T20:00:00Z   ; instead of the time of her files
 *   [slurm]                       ; what SCHEDULER=slurm asks for, in sbatch's words
 *   partition = teaching          ; also account, qos, time, gres, cpus-per-task, mem, constraint
 *   limit = 20                    ; tasks at once
 *   poll = 5                      ; seconds between two looks at the queue
 */
#include "settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const slurm_options[] = {"partition", "account",       "qos", "time",       "gres",
                                     "gpus",      "cpus-per-task", "mem", "constraint", NULL};

static bool is_time(const char *text, time_t *seconds)
{
    struct tm parts = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end) return false;
    *seconds = timegm(&parts);
    return true;
}

static bool is_number(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end != text && !*end && isfinite(value) && value >= 0;
}

static bool is_percent(const char *text)
{
    return is_number(text) && atof(text) <= 100;
}

static bool is_exercise(const char *text)
{
    return catalog_find(id_parse(text, NULL)) != NULL;
}

/* These words reach a script: nothing in them may mean anything to a shell or to sbatch. */
static const char *wrong_slurm(const setting *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+.,:=/|&[]()*@";
    if (strcmp(s->name, "poll") == 0) {
        return is_number(s->value) && atof(s->value) > 0 ? NULL : "poll is a number of seconds";
    }
    if (strcmp(s->name, "limit") == 0) {
        const bool digits = !s->value[strspn(s->value, "0123456789")] && atoi(s->value) > 0;
        return digits ? NULL : "limit is a whole number, 1 or more";
    }
    for (const char *const *o = slurm_options; *o; o++) {
        if (strcmp(*o, s->name) != 0) continue;
        return s->value[strspn(s->value, plain)] ? "has a character that is not allowed here"
                                                 : NULL;
    }
    return "not an option of [slurm]: docs/class.md lists them";
}

/* @return what is wrong with a setting, or NULL */
static const char *wrong_setting(const setting *s)
{
    time_t ignored;
    if (strcmp(s->section, "slurm") == 0) return wrong_slurm(s);
    if (strcmp(s->section, "weights") == 0) {
        if (!is_exercise(s->name)) return "there is no such exercise";
        return is_number(s->value) ? NULL : "a weight is a number, 0 or more";
    }
    if (strcmp(s->section, "due") == 0 && !is_exercise(s->name)) return "there is no such exercise";
    if (strcmp(s->section, "submitted") == 0 || strcmp(s->section, "due") == 0 ||
        (strcmp(s->section, "late") == 0 && strcmp(s->name, "due") == 0)) {
        return is_time(s->value, &ignored) ? NULL : "a time looks like 2026-11-20T23:59:00Z";
    }
    if (strcmp(s->section, "late") == 0 &&
        (strcmp(s->name, "per_day") == 0 || strcmp(s->name, "most") == 0)) {
        return is_percent(s->value) ? NULL : "a percentage is a number from 0 to 100";
    }
    if (strcmp(s->section, "course") == 0 && strcmp(s->name, "name") == 0) return NULL;
    return "not a setting: [course] name, [weights] EXERCISE, [due] EXERCISE, [late] due, per_day, "
           "most, "
           "[submitted] STUDENT, [slurm] OPTION";
}

static const char *add_setting(void *context, const ini_line *at)
{
    settings *to = context;
    setting s;
    if (!*at->name) return NULL; /* a section may have any name: its settings may not */
    snprintf(s.section, sizeof s.section, "%s", at->section);
    snprintf(s.name, sizeof s.name, "%s", at->name);
    snprintf(s.value, sizeof s.value, "%s", at->value);
    const char *wrong = wrong_setting(&s);
    if (wrong) return wrong;
    to->all = realloc(to->all, (to->count + 1) * sizeof *to->all);
    to->all[to->count++] = s;
    return NULL;
}

bool settings_read(settings *s, const char *path)
{
    int number;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "class: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    const char *wrong = ini_read(file, add_setting, s, &number);
    if (wrong) fprintf(stderr, "class: %s:%d: %s\n", path, number, wrong);
    fclose(file);
    return !wrong;
}

void settings_free(settings *s)
{
    free(s->all);
    *s = (settings){0};
}

const char *settings_find(const settings *s, const char *section, const char *name)
{
    for (size_t i = s->count; i-- > 0;) { /* the last one counts */
        if (strcmp(s->all[i].section, section) == 0 && strcmp(s->all[i].name, name) == 0) {
            return s->all[i].value;
        }
    }
    return NULL;
}

double settings_weight(const settings *s, int exercise)
{
    const char *value = settings_find(s, "weights", id_words(exercise));
    return value ? atof(value) : 1.0;
}

time_t settings_submitted(const settings *s, const char *student, time_t files)
{
    const char *value = settings_find(s, "submitted", student);
    if (value) is_time(value, &files);
    return files;
}

static int days_after(const char *date, time_t submitted)
{
    time_t due;
    if (!date || !is_time(date, &due) || submitted <= due) return 0;
    return (int)((submitted - due + 86399) / 86400);
}

int settings_days_late(const settings *s, time_t submitted)
{
    return days_after(settings_find(s, "late", "due"), submitted);
}

int settings_days_after(const settings *s, int exercise, time_t submitted)
{
    return days_after(settings_find(s, "due", id_words(exercise)), submitted);
}

double settings_late_factor(const settings *s, int days)
{
    const char *per_day = settings_find(s, "late", "per_day"),
               *most = settings_find(s, "late", "most");
    double percent = per_day ? days * atof(per_day) : 0;
    return 1 - fmin(percent, most ? atof(most) : 100) / 100;
}
