/*
 * csv.c: a gradebook: one line of names, one line for the submission, with a column per exercise,
 * and one for the numbers of exercises whose speed has to be measured again.
 * The lines of many submissions of the same exercises can be put below each other.
 */
#include "views.h"

static void put_noisy(FILE *to, const json_t *exercises)
{
    size_t i;
    json_t *one;
    const char *between = "";
    json_array_foreach((json_t *)exercises, i, one)
    {
        if (!any_noisy(one)) continue;
        fprintf(to, "%s%s", between, id_words(id_of(one)));
        between = " ";
    }
}

bool csv_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    static const char *const texts[] = {"submission", "started", "commit", "backend", "error"};
    const size_t count = sizeof texts / sizeof *texts;
    const json_t *exercises = json_object_get(results, "exercises");
    size_t i;
    json_t *one;
    for (i = 0; i < count; i++) fprintf(to, "%s,", texts[i]);
    fputs("points,max_points,too_noisy", to);
    json_array_foreach((json_t *)exercises, i, one)
    {
        char name[160];
        snprintf(name, sizeof name, "%s %s", id_words(id_of(one)), string_of(one, "name"));
        fputc(',', to);
        put_csv(to, name);
    }
    fputc('\n', to);
    for (i = 0; i < count; i++) {
        put_csv(to, string_of(results, texts[i]));
        fputc(',', to);
    }
    fprintf(to, "%.2f,%.2f,", real_of(results, "points"), real_of(results, "max_points"));
    put_noisy(to, exercises);
    json_array_foreach((json_t *)exercises, i, one) fprintf(to, ",%.2f", real_of(one, "points"));
    fputc('\n', to);
    return true;
}
