/*
 * test_catalog.c: what every exercise must bring: files, names, cases, pages with three hints, and
 * submissions that fail what they should.
 */
#include "grader/tests.h"

#include "course/course.h"
#include "grade/grade.h"
#include "selftest/selftest.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *root(void)
{
    const char *given = getenv("COURSE_ROOT");
    return given ? given : ".";
}

static FILE *open_file(const char *folder, const char *name, const char *suffix)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s%s", root(), folder, name, suffix);
    return fopen(path, "r");
}

static int count_exercises(void)
{
    int count = 0;
    while (catalog()[count]) count++;
    return count;
}

START_TEST(each_has_a_solution_and_a_skeleton)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        for (int i = 0; exercise_file(*e, i); i++) {
            const char *file = exercise_file(*e, i);
            FILE *solution = open_file("solutions/", file, "");
            FILE *skeleton = open_file("", file, "");
            ck_assert_msg(solution && skeleton, "%s lacks its solution or skeleton", file);
            fclose(solution);
            fclose(skeleton);
        }
    }
}
END_TEST

static bool is_given(const char *header)
{
    static const char *const folders[] = {"common", "phase?_*"};
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        char pattern[PATH_MAX];
        glob_t files = {0};
        snprintf(pattern, sizeof pattern, "%s/%s/%s", root(), folders[i], header);
        found = glob(pattern, 0, NULL, &files) == 0;
        globfree(&files);
    }
    return found;
}

/* It is compiled alone: of the course it sees the headers that students see. */
static void expect_includes(const char *file)
{
    char line[512], header[128];
    FILE *source = open_file("", file, "");
    ck_assert_msg(source != NULL, "%s is not there", file);
    while (fgets(line, sizeof line, source)) {
        if (sscanf(line, " #include \"%127[^\"]\"", header) != 1) continue;
        ck_assert_msg(is_given(header), "%s includes %s, which is no header of the course", file,
                      header);
    }
    fclose(source);
}

START_TEST(a_baseline_includes_what_it_can_see)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        if ((*e)->baseline_file) expect_includes((*e)->baseline_file);
    }
}
END_TEST

START_TEST(each_has_a_page_with_three_hints)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        char name[128], line[512];
        int hints = 0;
        snprintf(name, sizeof name, "%.*s", (int)(strrchr((*e)->file, '/') - (*e)->file),
                 (*e)->file);
        FILE *page = open_file("", name, "/README.md");
        ck_assert_msg(page != NULL, "%s has no page", name);
        while (fgets(line, sizeof line, page)) hints += strncmp(line, "### Hint ", 9) == 0;
        ck_assert_msg(hints == 3, "%s has %d hints", name, hints);
        fclose(page);
    }
}
END_TEST

static int count_corpus(const char *kind, int id)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/grader/exercises/%s_*/%s/*", root(), id_words(id), kind);
    const int count = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

START_TEST(each_is_graded_by_the_corpus)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        const int id = (*e)->id, timed = (*e)->speed_points > 0.0;
        ck_assert_msg(count_corpus("wrong", id) >= 3, "%d has too few wrong submissions", id);
        ck_assert_msg(count_corpus("right", id) >= 1, "%d has no right one", id);
        ck_assert_msg(count_corpus("slow", id) >= (timed && !(*e)->sm_90a), "%d has no slow one",
                      id);
        ck_assert_msg(count_corpus("fast", id) >= timed, "%d has no fast one", id);
    }
}
END_TEST

START_TEST(numbers_and_names_are_unique)
{
    const int count = count_exercises();
    ck_assert_int_gt(count, 0);
    for (int i = 0; i + 1 < count; i++) {
        ck_assert_int_lt(catalog()[i]->id, catalog()[i + 1]->id);
    }
    for (int i = 0; i < count; i++) {
        const grading_case *cases = catalog()[i]->cases;
        for (int a = 0; cases[a].name; a++) {
            for (int b = a + 1; cases[b].name; b++) {
                ck_assert_msg(strcmp(cases[a].name, cases[b].name) != 0, "%d has two cases %s",
                              catalog()[i]->id, cases[a].name);
            }
        }
    }
}
END_TEST

START_TEST(prerequisites_come_earlier)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        for (int i = 0; (*e)->prerequisites[i]; i++) {
            const exercise *needed = catalog_find((*e)->prerequisites[i]);
            ck_assert_ptr_nonnull(needed);
            /* A challenge, which comes last, has a phase too. */
            const int place = needed->id < 1000 ? needed->id : needed->id % 1000;
            ck_assert_int_lt(place, (*e)->id);
        }
    }
}
END_TEST

/* Their verdicts decide what it is linked with. */
START_TEST(own_exercises_are_judged_first)
{
    static run r;
    const options all = {0};
    r = (run){.options = &all};
    select_items(&r);
    ck_assert_int_eq(r.count, count_exercises());
    for (int i = 0; i < r.count; i++) {
        const exercise *e = r.items[i].exercise;
        for (int k = 0; e->own_prerequisites && e->prerequisites[k]; k++)
            ck_assert(find_item(&r, e->prerequisites[k]) < &r.items[i]);
    }
}
END_TEST

/* Whoever follows it has written what the next exercise calls, and goes through every phase. */
START_TEST(the_path_has_what_it_needs)
{
    int count = 0, phases = 0;
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!(*e)->core) continue;
        ck_assert_msg(!id_is_challenge((*e)->id), "%s is a challenge", id_words((*e)->id));
        ck_assert_msg((*e)->devices <= 1, "%d needs several GPUs", (*e)->id);
        for (int i = 0; (*e)->prerequisites[i]; i++) {
            ck_assert_msg(catalog_find((*e)->prerequisites[i])->core, "%d needs %s", (*e)->id,
                          id_words((*e)->prerequisites[i]));
        }
        phases |= 1 << id_phase((*e)->id);
        count++;
    }
    ck_assert_int_eq(phases, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
    ck_assert_int_ge(count, 30);
    ck_assert_int_le(count, 40);
}
END_TEST

static bool needs_one_with(const exercise *e, const char *file)
{
    for (int i = 0; e->prerequisites[i]; i++) {
        if (exercise_has_file(catalog_find(e->prerequisites[i]), file)) return true;
    }
    return false;
}

START_TEST(what_is_included_is_of_a_prerequisite)
{
    int included = 0;
    for (const exercise *const *e = catalog(); *e; e++) {
        for (int i = 0; (*e)->includes[i]; i++, included++) {
            ck_assert_msg(needs_one_with(*e, (*e)->includes[i]), "%d includes %s", (*e)->id,
                          (*e)->includes[i]);
        }
    }
    ck_assert_int_gt(included, 0);
}
END_TEST

static bool timed_on_a_gpu(const exercise *e)
{
    for (const speed_test *s = e->speed; s && s->function; s++) {
        if (s->where & ON_GPU) return true;
    }
    return false;
}

static bool defines(const exercise *e, const char *function)
{
    for (int i = 0; e->functions[i]; i++) {
        if (strcmp(e->functions[i], function) == 0) return true;
    }
    return false;
}

/* Who has no GPU can earn the same points, and a wasteful submission shows that it is not for
 * nothing. What is only on sm_90a, softgpu has not. */
START_TEST(what_is_timed_on_a_gpu_is_counted_on_softgpu)
{
    for (const exercise *const *at = catalog(); *at; at++) {
        const exercise *e = *at;
        const traffic_test *t = e->traffic;
        if (!timed_on_a_gpu(e) || e->sm_90a) continue;
        ck_assert_msg(t && t->function, "%d has no traffic tests", e->id);
        ck_assert_msg(count_corpus("slow", e->id) >= 1, "%d has no slow submission", e->id);
        for (; t->function; t++) {
            ck_assert_msg(t->run && t->count, "%d: %s", e->id, t->metric.quantity);
            ck_assert_msg(defines(e, t->function), "%d: %s", e->id, t->metric.quantity);
            ck_assert_msg(!t->baseline || e->baseline_file, "%d: %s", e->id, t->metric.quantity);
        }
    }
}
END_TEST

/* Does the claim name this metric by its beginning, and no other of the exercise? */
static bool demands(const claim *c, const exercise *e, const traffic_test *test)
{
    if (c->exercise != e || c->part != IN_METRIC) return false;
    if (!metric_begins(e, test->function, &test->metric, c->name)) return false;
    for (const traffic_test *t = e->traffic; t->function; t++) {
        if (t != test && metric_begins(e, t->function, &t->metric, c->name)) return false;
    }
    return true;
}

/* A count that no submission fails may be one that nobody can fail. */
START_TEST(each_traffic_test_is_failed_by_a_claim)
{
    const options o = {.root = root()};
    int count, bad;
    claim *claims = claims_read(&o, &count, &bad);
    for (const exercise *const *e = catalog(); *e; e++) {
        for (const traffic_test *t = (*e)->traffic; t && t->function; t++) {
            int found = 0;
            for (int i = 0; i < count; i++) found += demands(&claims[i], *e, t);
            char text[METRIC_MAX];
            ck_assert_msg(found > 0, "no slow or hostile submission of %d claims: %s", (*e)->id,
                          metric_text(text, *e, t->function, &t->metric));
        }
    }
    claims_free(claims, count);
}
END_TEST

/* The sentence fits, and names one test of the exercise. */
static void expect_sentence(const exercise *e, const char *function, const metric *m)
{
    int like_it = 0;
    char text[METRIC_MAX];
    metric_text(text, e, function, m);
    ck_assert_msg(strlen(text) < METRIC_MAX - 1, "%s: %s", id_words(e->id), text);
    ck_assert_msg(!m->relative_to || !m->over, "%s: %s", id_words(e->id), text);
    for (const speed_test *s = e->speed; s && s->function; s++)
        like_it += metric_begins(e, s->function, &s->metric, text);
    for (const traffic_test *t = e->traffic; t && t->function; t++)
        like_it += metric_begins(e, t->function, &t->metric, text);
    ck_assert_msg(like_it == 1, "%s: %d begin so: %s", id_words(e->id), like_it, text);
}

/* A count that is divided by an ideal says so; how many times better it is needs a baseline. */
START_TEST(a_metric_says_what_its_number_is)
{
    for (const exercise *const *at = catalog(); *at; at++) {
        const exercise *e = *at;
        for (const speed_test *s = e->speed; s && s->function; s++) {
            ck_assert_msg(s->metric.relative_to || s->metric.over, "%s", id_words(e->id));
            expect_sentence(e, s->function, &s->metric);
        }
        for (const traffic_test *t = e->traffic; t && t->function; t++) {
            ck_assert_msg(!t->metric.over == !t->baseline, "%s", id_words(e->id));
            ck_assert_msg(!t->metric.relative_to || t->ideal > 0, "%s", id_words(e->id));
            expect_sentence(e, t->function, &t->metric);
        }
    }
}
END_TEST

START_TEST(a_metric_is_a_sentence)
{
    char text[METRIC_MAX];
    const speed_test of_two[] = {{.function = "f"}, {.function = "g"}, {0}};
    const exercise one = {.id = 1}, two = {.id = 1, .speed = of_two};
    const metric all = {"reduction in instructions", .per = "warp", .over = "206",
                        .shape = "8 × 8"},
                 bytes = {"DRAM bytes", .relative_to = MINIMUM};
    ck_assert_str_eq(metric_text(text, &one, "f", &all),
                     "reduction in instructions per warp over 206, 8 × 8");
    ck_assert_str_eq(metric_text(text, &two, "g", &bytes), "g: DRAM bytes / minimum");
}
END_TEST

/* make see runs that case on softgpu. */
START_TEST(what_is_to_be_seen_is_a_case)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        bool found = (*e)->see == NULL;
        for (const grading_case *c = (*e)->cases; c->name && !found; c++)
            found = strcmp(c->name, (*e)->see) == 0 && (!c->where || c->where & ON_SOFTGPU);
        ck_assert_msg(found, "%s has no case %s", id_words((*e)->id), (*e)->see);
    }
}
END_TEST

/* A challenge is all or nothing. */
START_TEST(parts_and_tests_fit)
{
    const char *names[PARTS_MAX];
    for (const exercise *const *e = catalog(); *e; e++) {
        int tests = 0;
        const int parts = parts_of(*e, names);
        for (const speed_test *s = (*e)->speed; s && s->function; s++) tests++;
        for (const traffic_test *t = (*e)->traffic; t && t->function; t++) tests++;
        ck_assert_msg(parts < (id_is_challenge((*e)->id) ? 2 : PARTS_MAX), "%s", (*e)->name);
        ck_assert_msg(tests <= CALLS_MAX, "%s", (*e)->name);
    }
}
END_TEST

START_TEST(cases_belong_to_the_part_named_last)
{
    const exercise *e = catalog_find(312);
    ck_assert_str_eq(part_of_case(e, 0), "embedding_forward");
    for (int i = 0; e->cases[i].name; i++) {
        if (strncmp(e->cases[i].name, "residual", 8) == 0)
            ck_assert_str_eq(part_of_case(e, i), "residual_forward");
    }
    ck_assert_int_eq(part_number(e, "residual_forward"), 2);
    ck_assert_int_eq(part_number(e, "no such function"), -1);
    ck_assert_ptr_null(part_of_case(catalog_find(206), 0));
}
END_TEST

START_TEST(a_challenge_has_a_letter)
{
    char *end;
    const int id = id_parse("4b 206", &end);
    json_t *entry = json_pack("{s:o}", "id", id_json(id));
    ck_assert_str_eq(end, " 206");
    ck_assert_int_eq(id, CHALLENGE(4, 'b'));
    ck_assert(id_is_challenge(id) && !id_is_challenge(507));
    ck_assert_int_eq(id_phase(id), 4);
    ck_assert_int_eq(id_phase(507), 5);
    ck_assert_str_eq(id_words(id), "4b");
    ck_assert_str_eq(id_words(206), "206");
    ck_assert_str_eq(json_string_value(json_object_get(entry, "id")), "4b");
    ck_assert_int_eq(id_of(entry), id);
    ck_assert_int_eq(id_parse("1401", NULL), 0); /* its number is nobody's business */
    json_decref(entry);
}
END_TEST

Suite *suite_catalog(void)
{
    Suite *suite = suite_create("catalog");
    TCase *tcase = tcase_create("catalog");
    tcase_add_test(tcase, each_has_a_solution_and_a_skeleton);
    tcase_add_test(tcase, a_baseline_includes_what_it_can_see);
    tcase_add_test(tcase, each_has_a_page_with_three_hints);
    tcase_add_test(tcase, each_is_graded_by_the_corpus);
    tcase_add_test(tcase, numbers_and_names_are_unique);
    tcase_add_test(tcase, prerequisites_come_earlier);
    tcase_add_test(tcase, own_exercises_are_judged_first);
    tcase_add_test(tcase, the_path_has_what_it_needs);
    tcase_add_test(tcase, what_is_included_is_of_a_prerequisite);
    tcase_add_test(tcase, what_is_to_be_seen_is_a_case);
    tcase_add_test(tcase, a_challenge_has_a_letter);
    tcase_add_test(tcase, parts_and_tests_fit);
    tcase_add_test(tcase, cases_belong_to_the_part_named_last);
    tcase_add_test(tcase, what_is_timed_on_a_gpu_is_counted_on_softgpu);
    tcase_add_test(tcase, each_traffic_test_is_failed_by_a_claim);
    tcase_add_test(tcase, a_metric_says_what_its_number_is);
    tcase_add_test(tcase, a_metric_is_a_sentence);
    suite_add_tcase(suite, tcase);
    return suite;
}
