/* history.c: an append-only file of verdicts that a crash or two writers cannot damage. student.h
 * says what is in it. */
#include "student.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define SEAL        ",\"crc32\":\"%08lx\"}" /* in place of the record's last brace */
#define SEAL_BYTES  20
#define REASON_KEPT 400 /* bytes of a reason; a compiler's may be long */

/* ---- lines ----------------------------------------------------------------------------------- */

static unsigned long checksum(const char *text, size_t bytes)
{
    return crc32(0, (const unsigned char *)text, (unsigned)bytes);
}

/* @return a line on memory of its own: a newline in front, which is left out unless the file ends
 * within a line; NULL when the record is no object with members. */
static char *sealed_line(const json_t *record)
{
    char *line = NULL, *text = json_dumps(record, JSON_COMPACT);
    const size_t bytes = text ? strlen(text) : 0;
    if (bytes > 2 && text[bytes - 1] == '}') {
        text[bytes - 1] = '\0';
        if (asprintf(&line, "\n%s" SEAL "\n", text, checksum(text, bytes - 1)) < 0) line = NULL;
    }
    free(text);
    return line;
}

/* @return the record of a line, or NULL when the line is not whole. Of the last one a crash may
 * have taken the newline alone. */
static json_t *unsealed(const char *line, size_t bytes)
{
    char seal[SEAL_BYTES + 1];
    if (bytes > 0 && line[bytes - 1] == '\n') bytes--;
    if (bytes <= SEAL_BYTES || memchr(line, '\0', bytes)) return NULL;
    const size_t body = bytes - SEAL_BYTES;
    snprintf(seal, sizeof seal, SEAL, checksum(line, body));
    if (memcmp(line + body, seal, SEAL_BYTES) != 0) return NULL;
    json_t *record = json_loadb(line, bytes, 0, NULL);
    if (record) json_object_del(record, "crc32");
    return record;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool ends_within_line(int file, off_t bytes)
{
    char last = '\n';
    return bytes > 0 && pread(file, &last, 1, bytes - 1) == 1 && last != '\n';
}

/* Under the lock. What cannot be written whole is taken back. */
static bool write_line(int file, const char *line)
{
    struct stat facts;
    if (fstat(file, &facts) != 0) return false;
    if (!ends_within_line(file, facts.st_size)) line++;
    const size_t bytes = strlen(line);
    const ssize_t written = write(file, line, bytes);
    if (written == (ssize_t)bytes) return fdatasync(file) == 0 || errno == EINVAL;
    const int why = written < 0 ? errno : ENOSPC;
    if (written > 0 && ftruncate(file, facts.st_size) != 0) return false;
    errno = why;
    return false;
}

static int lock(int file)
{
    int status;
    while ((status = flock(file, LOCK_EX)) != 0 && errno == EINTR) {
    }
    return status;
}

static void make_folders(const char *path)
{
    char folder[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0777);
    }
}

bool history_append(const char *path, const json_t *record)
{
    make_folders(path);
    char *line = sealed_line(record);
    const int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const bool whole = line && file >= 0 && lock(file) == 0 && write_line(file, line);
    if (!whole) fprintf(stderr, "grader: cannot add to %s: %s\n", path, strerror(errno));
    if (file >= 0) close(file);
    free(line);
    return whole;
}

json_t *history_load(const char *path, int *skipped)
{
    char *line = NULL;
    size_t room = 0;
    json_t *records = json_array();
    FILE *file = fopen(path, "r");
    *skipped = 0;
    if (!file) return records;
    for (ssize_t bytes; (bytes = getline(&line, &room, file)) > 0;) {
        json_t *record = unsealed(line, (size_t)bytes);
        if (record) json_array_append_new(records, record);
        *skipped += !record && bytes > 1;
    }
    free(line);
    fclose(file);
    return records;
}

json_t *history_of(const options *o, const char *submission, int id)
{
    size_t i;
    int skipped;
    json_t *record, *some = json_array(), *all = history_load(o->history, &skipped);
    if (skipped > 0) {
        fprintf(stderr, "grader: %s: %d line%s cut short or damaged, skipped\n", o->history,
                skipped, skipped > 1 ? "s" : "");
    }
    json_array_foreach(all, i, record)
    {
        const json_t *entry = json_object_get(record, "entry");
        if (strcmp(string_of(record, "submission"), submission) != 0) continue;
        if (entry && (!id || id_of(entry) == id)) json_array_append(some, record);
    }
    json_decref(all);
    return some;
}

const json_t *last_record(const json_t *records, int id)
{
    for (size_t i = json_array_size(records); i-- > 0;) {
        const json_t *record = json_array_get(records, i);
        if (id_of(json_object_get(record, "entry")) == id) return record;
    }
    return NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

static json_t *first_line(const char *reason)
{
    size_t bytes = strcspn(reason, "\n");
    if (bytes > REASON_KEPT) bytes = REASON_KEPT;
    while (bytes > 0 && ((unsigned char)reason[bytes] & 0xc0) == 0x80) bytes--; /* whole letters */
    return json_stringn(reason, bytes);
}

/* What all records begin with. */
static json_t *heading(const grading *g)
{
    const options *o = g->options;
    char whole[PATH_MAX];
    if (!realpath(o->submission, whole)) snprintf(whole, sizeof whole, "%s", o->submission);
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:f, s:f}, s:s}", "time", g->started, "commit",
                     g->commit, "backend", o->backend == BACKEND_CUDA ? "cuda" : "cpu", "device",
                     "name", g->device.name, "copy_bytes_per_second",
                     g->device.copy_bytes_per_second, "flop_per_second",
                     g->device.flop_per_second[IN_FP32], "submission", whole);
}

static json_t *record_of(const grading *g, json_t *entry, const exercise *e)
{
    size_t i;
    int passed = 0;
    char hex[HASH_HEX];
    json_t *one, *record = heading(g), *cases = json_object_get(entry, "cases");
    json_t *kept = json_copy(entry);
    json_array_foreach(cases, i, one) passed += !strcmp(string_of(one, "status"), "passed");
    json_object_del(kept, "cases");
    json_object_del(kept, "speed"); /* one of speeds */
    json_object_del(kept, "warnings");
    json_object_set_new(kept, "reason", first_line(string_of(entry, "reason")));
    exercise_hash(e, g->options->submission, hex);
    json_object_set_new(record, "sha256", json_string(hex));
    json_object_set_new(record, "cases", json_integer((json_int_t)json_array_size(cases)));
    json_object_set_new(record, "cases_passed", json_integer(passed));
    json_object_set_new(record, "entry", kept);
    return record;
}

/* Is it what the history says of the exercise already? */
static bool is_known(const options *o, const json_t *record, int id)
{
    json_t *own = history_of(o, string_of(record, "submission"), id);
    const json_t *last = json_array_get(own, json_array_size(own) - 1);
    const json_t *before = json_object_get(last, "entry"),
                 *entry = json_object_get(record, "entry");
    const bool same = !last
                          ? !strcmp(string_of(entry, "status"), "not_started")
                          : !strcmp(string_of(last, "sha256"), string_of(record, "sha256")) &&
                                !strcmp(string_of(last, "backend"), string_of(record, "backend")) &&
                                !strcmp(string_of(before, "status"), string_of(entry, "status")) &&
                                real_of(before, "points") == real_of(entry, "points");
    json_decref(own);
    return same;
}

void history_note(const grading *g, json_t *entry, bool judged)
{
    const options *o = g->options;
    const exercise *e = catalog_find(id_of(entry));
    if (!o->history || o->case_name || o->slow > 0 || !e) return;
    if (!strcmp(string_of(entry, "status"), "skipped")) return;
    json_t *record = record_of(g, entry, e);
    if (judged || !is_known(o, record, e->id)) history_append(o->history, record);
    json_decref(record);
}

void history_note_total(const grading *g)
{
    const options *o = g->options;
    if (!o->history || o->case_name || o->slow > 0 || o->phase) return;
    if (o->exercises && *o->exercises) return;
    json_t *record = heading(g);
    json_object_set_new(record, "points", json_real(g->points));
    json_object_set_new(record, "max_points", json_real(g->max_points));
    history_append(o->history, record);
    json_decref(record);
}
