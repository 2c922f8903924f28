/*
 * rules.c: finds the rule of an opcode by its name or by its handler, in two hash tables over all
 * opcode tables.
 *
 * Interface
 *   rule_find, rule_of
 */
#include <pthread.h>
#include <string.h>

#include "ops.h"

extern const rule integer_rules[], float_rules[], convert_rules[];

enum { SLOTS = 4096 };

static const rule *slots[SLOTS], *handlers[SLOTS]; /* by name, by handler: the first that has it */
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/* @return its slot, or the free one where it belongs */
static const rule **slot_of(handler *run)
{
    uint32_t i = (uint32_t)((uintptr_t)run >> 4) % SLOTS;
    while (handlers[i] && handlers[i]->run != run) i = (i + 1) % SLOTS;
    return &handlers[i];
}

static void add(const rule *rules)
{
    for (; rules->name; rules++) {
        uint32_t i = hash(rules->name) % SLOTS;
        while (slots[i]) i = (i + 1) % SLOTS;
        slots[i] = rules;
        const rule **by_handler = slot_of(rules->run);
        if (!*by_handler) *by_handler = rules;
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
    pthread_once(&filled, fill);
    return *slot_of(run);
}
