/*
 * suspects.c: mistakes that only the case can know: wrong formulas, and the results of the call
 * before. When its array is wrong, a case computes such a formula and gives its name; the mistake
 * is named when the formula gives the student's result.
 */
#include "mistakes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formulas -------------------------------------------------------------------------------- */

#define SUSPECTS_MAX 24

static struct {
    const char *words;
    const double *wrong, *term; /* one of the two */
} suspects[SUSPECTS_MAX];
static size_t suspect_count;

static void add(const char *words, const double *wrong, const double *term)
{
    if (suspect_count == SUSPECTS_MAX) return;
    suspects[suspect_count].words = words;
    suspects[suspect_count].wrong = wrong;
    suspects[suspect_count++].term = term;
}

void suspect(const char *words, const double *wrong)
{
    add(words, wrong, NULL);
}

void suspect_term(const char *words, const double *term)
{
    add(words, NULL, term);
}

void suspects_forget(void)
{
    suspect_count = 0;
}

static guess from_formula(const mismatch *m, size_t i, size_t which)
{
    const double wrong = suspects[which].wrong[i], grown = fabs(wrong / m->want[i]);
    const double factor = isfinite(grown) ? fmax(1.0, grown) : 1.0; /* larger, and so its error */
    return (guess){wrong, factor * m->bound[i], false};
}

/* ---- terms, of which the student has a factor ------------------------------------------------ */

static double factor; /* of the term in hand */

static guess with_factor(const mismatch *m, size_t i, size_t which)
{
    return (guess){m->want[i] + (factor - 1) * suspects[which].term[i], m->bound[i], false};
}

/* Taken where it can be seen best. */
static double factor_of(const mismatch *m, const double *term)
{
    size_t at = m->first;
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && fabs(term[i]) > fabs(term[at])) at = i;
    }
    return 1 + (m->got[at] - m->want[at]) / term[at];
}

static bool is_factor(double expected)
{
    return fabs(factor - expected) <= 1e-3 * (expected == 0.0 ? 1.0 : fabs(expected));
}

/* @return 0, or the size of this call that the factor is, or one over it */
static long size_in_factor(const mismatch *m, bool inverse)
{
    for (int i = 0; i < m->size_count; i++) {
        const double size = (double)m->sizes[i];
        if (size > 1 && is_factor(inverse ? 1 / size : size)) return m->sizes[i];
    }
    return 0;
}

/* @return "" where the factor is no one's */
static const char *factor_words(const mismatch *m)
{
    static char words[96];
    const long size = size_in_factor(m, false), divided = size_in_factor(m, true);
    if (is_factor(0)) return ": left out";
    if (is_factor(-1)) return ": the sign is wrong";
    if (is_factor(2)) return ": twice as large";
    snprintf(words, sizeof words, ": %ld times too %s (a size of this call)", size ? size : divided,
             size ? "large" : "small");
    return size || divided ? words : "";
}

static bool fits(const mismatch *m, size_t which)
{
    if (!suspects[which].term) return explains(m, from_formula, which, 1);
    factor = factor_of(m, suspects[which].term);
    return isfinite(factor) && explains(m, with_factor, which, *factor_words(m) ? 1 : 3);
}

/* Where several fit, this array cannot tell them apart, and none is left out. A term is looked at
 * where no formula fits. */
void name_suspects(const mismatch *m, char *text, size_t bytes)
{
    for (int terms = false; terms <= true && !*text; terms++) {
        for (size_t i = 0; i < suspect_count; i++) {
            const size_t used = strlen(text);
            if ((suspects[i].term != NULL) != terms || strstr(text, suspects[i].words) ||
                !fits(m, i))
                continue;
            snprintf(text + used, bytes - used, "%s%s%s", used ? ", or " : "; ", suspects[i].words,
                     terms ? factor_words(m) : "");
        }
    }
}

/* ---- the call before ------------------------------------------------------------------------- */

#define ARRAYS_MAX   8
#define ELEMENTS_MAX (1u << 20) /* of a larger array nothing is kept */

static struct {
    char name[32];
    size_t count;
    float *values;
    double *wanted;
} kept[ARRAYS_MAX];
static size_t next_kept;

const float *result_of_call_before(layout l, const double **want)
{
    for (size_t i = 0; i < ARRAYS_MAX; i++) {
        if (kept[i].count == l.rows * l.cols && !strcmp(kept[i].name, l.name)) {
            *want = kept[i].wanted;
            return kept[i].values;
        }
    }
    return NULL;
}

/* Room in a slot, which forgets what it had. */
static bool make_room(size_t slot, size_t count)
{
    float *values = realloc(kept[slot].values, count * sizeof *values);
    if (values) kept[slot].values = values;
    double *wanted = realloc(kept[slot].wanted, count * sizeof *wanted);
    if (wanted) kept[slot].wanted = wanted;
    kept[slot].count = values && wanted ? count : 0;
    return kept[slot].count > 0;
}

/* The array of this name, or the oldest, makes room. */
void result_keep(layout l, const float *got, const double *want)
{
    const size_t count = l.rows * l.cols;
    size_t slot = 0;
    if (count == 0 || count > ELEMENTS_MAX || strlen(l.name) >= sizeof kept->name) return;
    while (slot < ARRAYS_MAX && strcmp(kept[slot].name, l.name) != 0) slot++;
    if (slot == ARRAYS_MAX) slot = next_kept++ % ARRAYS_MAX;
    if (!make_room(slot, count)) return;
    snprintf(kept[slot].name, sizeof kept->name, "%s", l.name);
    memcpy(kept[slot].values, got, count * sizeof *got);
    memcpy(kept[slot].wanted, want, count * sizeof *want);
}
