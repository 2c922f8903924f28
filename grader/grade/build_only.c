/* build_only.c: make phaseN: compile, and show the compilers' messages. */
#include "grade.h"

#include <stdio.h>

static int show_build(const item *it)
{
    const build *b = &it->build;
    printf("  %s %-22s %s\n", id_words(it->exercise->id), it->exercise->name,
           b->ok ? "built" : "does not build");
    if (b->log && *b->log) printf("%s\n", b->log);
    return b->ok ? 0 : 1;
}

int build_only(const options *o)
{
    int failed = 0;
    if (!submission_exists(o) || !libraries_are_whole(o) || !is_isolated(o)) return 2;
    run *r = run_begin(o);
    run_build(r);
    report_progress("%s", "");
    for (int i = 0; i < r->count; i++) {
        item *it = &r->items[i];
        if (!it->wanted) continue;
        if (it->buildable) {
            build_on_prerequisites(r, it);
            failed |= show_build(it);
        } else {
            printf("  %s %-22s %s\n", id_words(it->exercise->id), it->exercise->name,
                   json_string_value(json_object_get(it->entry, "status")));
        }
    }
    run_end(r);
    return failed;
}
