/*
 * history.c: who was graded when, and with what result. A line is added when a student's result
 * differs from the one before: because of new files, or because everything was graded anew. The
 * results themselves stay in graded/, so that any two gradings can be compared at any time.
 */
#include "gradings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- generations ----------------------------------------------------------------------------- */

static void path_in(char path[PATH_MAX], const class_options *o, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", o->out, name);
}

static bool write_generation(const class_options *o, const char *state)
{
    char text[64];
    snprintf(text, sizeof text, "%d %s\n", o->generation, state);
    return write_whole(o, "generation", text);
}

bool generation_begin(class_options *o)
{
    char path[PATH_MAX], state[16] = "new";
    path_in(path, o, "generation");
    FILE *file = fopen(path, "r");
    o->generation = 1;
    if (file && fscanf(file, "%d %15s", &o->generation, state) != 2) o->generation = 1;
    if (file) fclose(file);
    if (o->rerun && strcmp(state, "done") == 0) {
        o->generation++;
        return write_generation(o, "begun");
    }
    if (o->rerun && strcmp(state, "begun") == 0) {
        printf("class: the last grading was not finished; this goes on with it\n");
    }
    return strcmp(state, "new") != 0 || write_generation(o, "begun");
}

bool generation_end(const class_options *o)
{
    return write_generation(o, "done");
}

/* ---- the history ----------------------------------------------------------------------------- */

/* Lines that make no sense (a crash cut one short) are left out. */
static json_t *read_history(const class_options *o)
{
    char path[PATH_MAX], *line = NULL;
    size_t size = 0;
    json_t *all = json_array();
    path_in(path, o, "history.jsonl");
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &size, file) > 0) {
        json_t *one = json_loads(line, 0, NULL);
        if (one && *string_of(one, "student") && *string_of(one, "key")) {
            json_array_append_new(all, one);
        } else {
            json_decref(one);
        }
    }
    if (file) fclose(file);
    free(line);
    return all;
}

/* The line begins on one of its own, whatever the last one ended with. */
static bool append_line(const class_options *o, const json_t *one)
{
    char path[PATH_MAX], last = '\n';
    path_in(path, o, "history.jsonl");
    FILE *file = fopen(path, "a+");
    if (!file) return false;
    if (fseek(file, -1, SEEK_END) == 0) last = (char)fgetc(file);
    if (last != '\n') fputc('\n', file);
    const bool whole = json_dumpf(one, file, JSON_COMPACT) == 0 && fputc('\n', file) != EOF;
    return fclose(file) == 0 && whole;
}

static json_t *line_of(const class_options *o, const submission *s)
{
    char now[32], key[33];
    const time_t seconds = time(NULL);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
    snprintf(key, sizeof key, "%s", s->key);
    return json_pack("{s:s, s:s, s:s, s:s, s:O}", "time", now, "student", s->student, "key", key,
                     "judge", o->judge, "files", s->files);
}

static const char *last_key(const json_t *history, const char *student)
{
    for (size_t i = json_array_size(history); i-- > 0;) {
        const json_t *line = json_array_get(history, i);
        if (strcmp(string_of(line, "student"), student) == 0) return string_of(line, "key");
    }
    return "";
}

bool history_update(const class_options *o, submission *all, size_t count)
{
    json_t *history = read_history(o);
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        if (!all[i].results) continue;
        if (strncmp(last_key(history, all[i].student), all[i].key, 32) != 0) {
            json_t *line = line_of(o, &all[i]);
            whole = append_line(o, line) && whole;
            json_array_append_new(history, line);
        }
        find_changes(o, history, &all[i]);
    }
    if (!whole) fprintf(stderr, "class: cannot write history.jsonl: %s\n", strerror(errno));
    json_decref(history);
    return whole;
}
