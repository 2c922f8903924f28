/* test_several.c: exercises judged several at once (grade/checker.c): what they do alone. */
#include "grader/tests.h"

#include "grade/grade.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 5 };

static int record[2]; /* a pipe: what each did, in order */

static void keep(char what)
{
    ck_assert_int_eq(write(record[1], &what, 1), 1);
}

static int swept[2]; /* a pipe: it may go on after its turn */

/* "c" for its cases, then its number twice for a timing; of 0 "s" once another has had its turn. */
static json_t *judge_one(void *context, int i)
{
    (void)context;
    keep('c');
    if (i == 1) return json_pack("{s:i}", "id", i); /* it is not timed */
    if (i == 3) _exit(1);
    check_await_turn();
    keep((char)('0' + i));
    usleep(20000);
    check_await_turn(); /* has had it */
    keep((char)('0' + i));
    check_end_turn();
    if (i == 0 && swept[0] && read(swept[0], &(char){0}, 1) == 1) keep('s');
    return json_pack("{s:i}", "id", i);
}

static void expect_record(const char *wanted)
{
    char all[64] = "";
    const ssize_t n = read(record[0], all, sizeof all - 1);
    ck_assert_int_eq(n, (ssize_t)strlen(wanted));
    ck_assert_str_eq(all, wanted);
}

START_TEST(timings_take_turns)
{
    check *begun[MANY];
    ck_assert_int_eq(pipe(record), 0);
    for (int i = 0; i < MANY; i++) {
        checks_await(begun, i, 1);
        begun[i] = check_start(judge_one, NULL, i);
        ck_assert_ptr_nonnull(begun[i]);
    }
    checks_await(begun, MANY, 0);
    expect_record("ccccc");
    for (int i = 0; i < MANY; i++) {
        json_t *entry = check_take(begun[i]);
        if (i == 3)
            ck_assert_ptr_null(entry);
        else
            ck_assert_int_eq(json_integer_value(json_object_get(entry, "id")), i);
        json_decref(entry);
    }
    expect_record("002244");
}
END_TEST

/* What clears away after its turn is not waited for. */
START_TEST(a_turn_ends_before_its_process)
{
    check *begun[2];
    ck_assert_int_eq(pipe(record), 0);
    ck_assert_int_eq(pipe(swept), 0);
    begun[0] = check_start(judge_one, NULL, 0);
    begun[1] = check_start(judge_one, NULL, 2);
    checks_await(begun, 2, 0);
    expect_record("cc");
    for (int i = 0; i < 2; i++) {
        check_give_turn(begun[i]);
        check_await_end_of_turn(begun[i]);
    }
    expect_record("0022");
    ck_assert_int_eq(write(swept[1], "", 1), 1);
    for (int i = 0; i < 2; i++) json_decref(check_take(begun[i]));
    expect_record("s");
    check_await_end_of_turn(NULL);
}
END_TEST

static item item_of(int id, json_t *entry)
{
    return (item){.exercise = catalog_find(id), .buildable = true, .entry = entry};
}

/* 303 calls 212 and more: whichever of the run has no verdict. */
START_TEST(what_stands_on_others_waits_for_them)
{
    const exercise *linear = catalog_find(303);
    ck_assert(linear->own_prerequisites && linear->prerequisites[0]);
    run *r = calloc(1, sizeof *r);
    r->items[0] = item_of(linear->prerequisites[0], NULL);
    r->items[1] = item_of(303, NULL);
    r->count = 2;
    ck_assert(!must_wait(r, &r->items[0]));
    ck_assert(must_wait(r, &r->items[1]));
    r->items[0].entry = json_object();
    ck_assert(!must_wait(r, &r->items[1]));
    json_decref(r->items[0].entry);
    r->items[0].entry = NULL;
    r->items[0].buildable = false; /* no verdict will come */
    ck_assert(!must_wait(r, &r->items[1]));
    free(r);
}
END_TEST

Suite *suite_several(void)
{
    Suite *suite = suite_create("several");
    TCase *tcase = tcase_create("several");
    tcase_add_test(tcase, timings_take_turns);
    tcase_add_test(tcase, a_turn_ends_before_its_process);
    tcase_add_test(tcase, what_stands_on_others_waits_for_them);
    suite_add_tcase(suite, tcase);
    return suite;
}
