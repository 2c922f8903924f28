/*
 * fuzz_history.c: any bytes as history.jsonl. Whatever they are, a record that is added afterwards
 * is read back, and none is lost by it. No fuzzer guesses a checksum: each line that is JSON is
 * also added as a record, and must come back as it was.
 */
#include "fuzz.h"
#include "student/student.h"

#include <stdlib.h>
#include <string.h>

static size_t count(const char *path)
{
    int skipped;
    json_t *records = history_load(path, &skipped);
    const size_t found = json_array_size(records);
    json_decref(records);
    return found;
}

static json_t *last(const char *path)
{
    int skipped;
    json_t *records = history_load(path, &skipped);
    json_t *one = json_incref(json_array_get(records, json_array_size(records) - 1));
    json_decref(records);
    return one;
}

static void add(const char *path, json_t *record)
{
    const size_t before = count(path);
    if (!history_append(path, record)) abort();
    json_t *back = last(path);
    json_object_del(record, "crc32"); /* the reader's own */
    if (count(path) != before + 1 || !json_equal(back, record)) abort();
    json_decref(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const options o = {.history = file_of(data, bytes)};
    json_t *record = json_loadb((const char *)data, bytes, JSON_DISABLE_EOF_CHECK, NULL);
    json_decref(history_of(&o, "/submission", 0));
    if (json_object_size(record) > 0) add(o.history, record);
    json_decref(record);
    json_decref(history_of(&o, "/submission", 103));
    return 0;
}
