/*
 * rules.c: finds the handler of an opcode by name, in one hash table over all opcode tables.
 *
 * Interface
 *   rule_find, rule_of
 */
#include <pthread.h>
#include <string.h>

#include "ops.h"

extern const rule integer_rules[], float_rules[], convert_rules[];

enum { SLOTS = 4096 };

static const rule *slots[SLOTS];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

static void add(const rule *rules)
{
    for (; rules->name; rules++) {
        uint32_t i = hash(rules->name) % SLOTS;
        while (slots[i]) i = (i + 1) % SLOTS;
        slots[i] = rules;
    }
}

static void fill(void)
{
    add(integer_rules);
    add(float_rules);
    add(convert_rules);
}

const rule *rule_find(const char *name)
{
    pthread_once(&filled, fill);
    for (uint32_t i = hash(name) % SLOTS; slots[i]; i = (i + 1) % SLOTS) {
        if (!strcmp(slots[i]->name, name)) return slots[i];
    }
    return NULL;
}

const rule *rule_of(handler *run)
{
    const rule *const tables[] = {integer_rules, float_rules, convert_rules};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const rule *r = tables[i]; r->name; r++) {
            if (r->run == run) return r;
        }
    }
    return NULL;
}
