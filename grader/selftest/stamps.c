/*
 * stamps.c: a claim that held is not judged again while nothing changes that could change the
 * verdict: the two libraries, the exercise's cases, the rest of the grader, its workers, softgpu,
 * the claim, the seed, the machine's layers of isolation. The grader counts by its objects in the
 * build folder, so that new cases of one exercise leave the claims of others alone.
 */
#include "selftest.h"

#include <stdlib.h>
#include <string.h>

static const char *const programs[] = {"worker_*", "python_*", "lib*.so", "remote/*.so",
                                       "softgpu_device"};

/* Of all exercises, but no exercise's own. */
static const char *const objects[] = {"obj/grader/grader/[!e]*/*.o",
                                      "obj/grader/grader/[!e]*/*/*.o",
                                      "obj/grader/grader/exercises/shared/*.o",
                                      "obj/grader/grader/exercises/shared/*/*.o",
                                      "obj/grader/emulator/*/*.o",
                                      "obj/grader/emulator/*/*/*.o"};

static void hash_layers(hash *h)
{
    json_t *layers = sandbox_json();
    char *text = json_dumps(layers, JSON_SORT_KEYS);
    hash_text(h, text);
    free(text);
    json_decref(layers);
}

void stamps_begin(const options *o, const device_facts *device, char judges[HASH_HEX])
{
    char seed[64];
    hash *h = hash_begin();
    hash_text(h, "corpus");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        hash_files(h, o->build, programs[i]);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        hash_files(h, o->build, objects[i]);
    snprintf(seed, sizeof seed, "%d %llu %d", o->seed_given, o->seed,
             core_count() < WALL_CLOCK_CORES);
    hash_text(h, seed);
    hash_text(h, device->name);
    hash_layers(h);
    hash_end(h, judges);
}

/* @return false where the cases have no object: then nobody knows what they are */
static bool hash_cases(const options *o, const claim *c, hash *h)
{
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "obj/grader/grader/exercises/%.*s/*.o",
             (int)strcspn(c->label, "/"), c->label);
    return hash_files(h, o->build, pattern) > 0;
}

bool stamp_of(const options *o, const char *judges, const claim *c, const build *b,
              const build *baseline, char key[HASH_HEX])
{
    const char *const words[] = {
        judges,       c->label, c->name,        c->text,
        c->condition, b->key,   c->name_on_gpu, baseline ? baseline->key : ""};
    char numbers[32];
    hash *h = hash_begin();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) hash_text(h, words[i]);
    snprintf(numbers, sizeof numbers, "%d %d %d", c->kind, c->part, b->place);
    hash_text(h, numbers);
    const bool known = hash_cases(o, c, h);
    hash_end(h, key);
    return known;
}

bool stamp_exists(const options *o, const char *key)
{
    json_t *stamp = o->fresh ? NULL : cache_load(o->build, key);
    json_decref(stamp);
    return stamp != NULL;
}

void stamp_put(const options *o, const char *key, const claim *c)
{
    json_t *stamp = json_pack("{s:s}", "held", c->label);
    cache_store(o->build, key, stamp);
    json_decref(stamp);
}
