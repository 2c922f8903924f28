/*
 * suspects.c: what only the case can know: wrong formulas, and the results of the call before. A
 * case computes a formula when it has seen that its array is wrong, and says what it is called;
 * the mistake is named when the formula gives what the student has.
 */
#include "mistakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formulas -------------------------------------------------------------------------------- */

#define SUSPECTS_MAX 24

static struct {
    const char *words;
    const double *wrong;
} suspects[SUSPECTS_MAX];
static size_t suspect_count;

void suspect(const char *words, const double *wrong)
{
    if (suspect_count == SUSPECTS_MAX) return;
    suspects[suspect_count].words = words;
    suspects[suspect_count++].wrong = wrong;
}

void suspects_forget(void)
{
    suspect_count = 0;
}

static guess from_formula(const mismatch *m, size_t i, size_t which)
{
    return (guess){suspects[which].wrong[i], m->bound[i], false};
}

/* Where several fit, this array cannot tell them apart, and none is left out. */
void name_suspects(const mismatch *m, char *text, size_t bytes)
{
    for (size_t i = 0; i < suspect_count; i++) {
        const size_t used = strlen(text);
        if (strstr(text, suspects[i].words) || !explains(m, from_formula, i, 1)) continue;
        snprintf(text + used, bytes - used, "%s%s", used ? ", or " : "; ", suspects[i].words);
    }
}

/* ---- the call before ------------------------------------------------------------------------- */

#define ARRAYS_MAX   8
#define ELEMENTS_MAX (1u << 20) /* of a larger array nothing is kept */

static struct {
    char name[32];
    size_t count;
    float *values;
} kept[ARRAYS_MAX];
static size_t next_kept;

const float *result_of_call_before(layout l)
{
    for (size_t i = 0; i < ARRAYS_MAX; i++) {
        if (kept[i].count == l.rows * l.cols && !strcmp(kept[i].name, l.name)) {
            return kept[i].values;
        }
    }
    return NULL;
}

/* The array of this name, or the oldest, makes room. */
void result_keep(layout l, const float *got)
{
    const size_t count = l.rows * l.cols;
    size_t slot = 0;
    if (count == 0 || count > ELEMENTS_MAX || strlen(l.name) >= sizeof kept->name) return;
    while (slot < ARRAYS_MAX && strcmp(kept[slot].name, l.name) != 0) slot++;
    if (slot == ARRAYS_MAX) slot = next_kept++ % ARRAYS_MAX;
    float *values = realloc(kept[slot].values, count * sizeof *values);
    if (!values) return;
    snprintf(kept[slot].name, sizeof kept->name, "%s", l.name);
    kept[slot].values = memcpy(values, got, count * sizeof *values);
    kept[slot].count = count;
}
