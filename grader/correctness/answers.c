/* answers.c: the contents of the submission's file of answers, for cases: course/answers.c reads
   it. */
#include "running.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const char *answer_text(const char *key)
{
    static char value[ANSWER_MOST];
    const char *wrong = answer_find(running->exercise, running->folder, key, value);
    if (wrong) fail("%s", wrong);
    return value;
}

long long answer_i64(const char *key)
{
    char *end;
    const char *text = answer_text(key);
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (*end || errno) fail("`%s = %s` is not a whole number", key, text);
    return number;
}

double answer_f64(const char *key)
{
    char *end;
    const char *text = answer_text(key);
    const double number = strtod(text, &end);
    if (*end || !isfinite(number)) fail("`%s = %s` is not a number", key, text);
    return number;
}

long drawn_i64(const char *name)
{
    long number = 0;
    if (!draw_number(running->exercise, name, answer_text("student"), &number))
        fail("exercise %d draws no number %s", running->exercise->id, name);
    return number;
}
