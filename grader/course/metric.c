/* metric.c: the sentence of a metric, for readers; code uses its fields. */
#include "course.h"

#include <string.h>

/* Are the tests of the exercise of more than one function? Then each sentence begins with its own.
 */
static bool test_several(const exercise *e)
{
    const char *one = NULL;
    for (const speed_test *s = e->speed; s && s->function; s++) {
        if (one && strcmp(s->function, one) != 0) return true;
        one = s->function;
    }
    for (const traffic_test *t = e->traffic; t && t->function; t++) {
        if (one && strcmp(t->function, one) != 0) return true;
        one = t->function;
    }
    return false;
}

static void add(char text[METRIC_MAX], const char *between, const char *words)
{
    const size_t n = strlen(text);
    if (words) snprintf(text + n, METRIC_MAX - n, "%s%s", between, words);
}

const char *metric_text(char text[METRIC_MAX], const exercise *e, const char *function,
                        const metric *m)
{
    text[0] = '\0';
    if (test_several(e)) snprintf(text, METRIC_MAX, "%s: ", function);
    add(text, "", m->quantity);
    add(text, " per ", m->per);
    add(text, " / ", m->relative_to);
    add(text, " over ", m->over);
    add(text, ", ", m->shape);
    return text;
}

bool metric_begins(const exercise *e, const char *function, const metric *m, const char *start)
{
    char text[METRIC_MAX];
    return strncmp(metric_text(text, e, function, m), start, strlen(start)) == 0;
}
