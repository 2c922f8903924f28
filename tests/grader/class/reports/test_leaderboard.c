/* test_leaderboard.c: who is on it, under which name, in which order. */
#include "grader/class/tests.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static submission class[14];

static void set_up(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    memset(class, 0, sizeof class);
    snprintf(folder, sizeof folder, "/tmp/class.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(class[0].folder, sizeof class[0].folder, "%s/taken", folder);
    mkdir(class[0].folder, 0700);
}

static void tear_down(void)
{
    for (size_t i = 0; i < sizeof class / sizeof *class; i++) json_decref(class[i].results);
    remove_tree(folder);
}

static const struct {
    const char *text, *nickname, *note;
} rows[] = {{"ace\n", "ace", ""},
            {"  Zoë O'Neil-2_b. \r\nmore\n", "Zoë O'Neil-2_b.", ""},
            {"零壱弐", "零壱弐", ""},
            {"", "", "cannot be read"},
            {"   \n", "", "is empty"},
            {"<script>", "", "letters, digits"},
            {"a\xe2\x80\xae"
             "b",
             "", "letters, digits"}, /* turns text around */
            {"a\tb", "", "letters, digits"},
            {"\xff\xfe", "", "not UTF-8"},
            {"abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx", ""},
            {"abcdefghijklmnopqrstuvwxy", "", "more than 24"}};

START_TEST(nicknames)
{
    write_text(rows[_i].text, "%s/leaderboard.txt", folder);
    nickname_read(folder, "leaderboard.txt", &class[0]);
    ck_assert_str_eq(class[0].nickname, rows[_i].nickname);
    ck_assert_msg(strstr(class[0].note, rows[_i].note) && !*class[0].note == !*rows[_i].note, "%s",
                  class[0].note);
}
END_TEST

START_TEST(no_file_no_link)
{
    char path[PATH_MAX];
    nickname_read(folder, "leaderboard.txt", &class[0]);
    ck_assert_str_eq(class[0].nickname, "");
    ck_assert_str_eq(class[0].note, "");
    snprintf(path, sizeof path, "%s/leaderboard.txt", folder);
    ck_assert_int_eq(symlink("/etc/hostname", path), 0);
    nickname_read(folder, "leaderboard.txt", &class[0]);
    ck_assert_str_eq(class[0].nickname, "");
    ck_assert_str_ne(class[0].note, "");
}
END_TEST

START_TEST(equal_nicknames_are_numbered)
{
    strcpy(class[0].nickname, "ace");
    strcpy(class[2].nickname, "ace");
    strcpy(class[3].nickname, "other");
    strcpy(class[4].nickname, "ace");
    number_nicknames(class, 5);
    ck_assert_str_eq(class[0].nickname, "ace");
    ck_assert_str_eq(class[1].nickname, "");
    ck_assert_str_eq(class[2].nickname, "ace (2)");
    ck_assert_str_eq(class[3].nickname, "other");
    ck_assert_str_eq(class[4].nickname, "ace (3)");
}
END_TEST

static void grade_as(submission *s, const char *status, const char *verdict, double ratio,
                     double counted)
{
    s->results =
        json_pack("{s:[{s:i, s:s, s:s, s:[{s:s, s:s, s:s, s:f}], s:[{s:s, s:s, s:s, s:s, s:f}]}]}",
                  "exercises", "id", 206, "name", "matmul_naive", "status", status, "speeds",
                  "metric", "speedup over the slow one", "function", "matmul_naive", "verdict",
                  verdict, "ratio", ratio, "traffic", "metric", "sectors per request", "function",
                  "matmul_naive", "bound", "at most", "verdict", "passed", "counted", counted);
    ck_assert_ptr_nonnull(s->results);
}

static char *board(size_t count)
{
    size_t size;
    char *text = NULL;
    FILE *memory = open_memstream(&text, &size);
    put_leaderboards(memory, class, count);
    fclose(memory);
    return text;
}

/* More is better for ratios, less for counts; equal numbers share a place. */
START_TEST(order)
{
    strcpy(class[0].nickname, "slow");
    strcpy(class[1].nickname, "fast");
    strcpy(class[2].nickname, "wrong");
    strcpy(class[4].nickname, "void");
    grade_as(&class[0], "passed", "passed", 2.0, 4.0);
    grade_as(&class[1], "passed", "passed", 9.0, 4.0);
    grade_as(&class[2], "failed", "passed", 99.0, 1.0);
    grade_as(&class[3], "passed", "passed", 88.0, 1.0);
    grade_as(&class[4], "passed", "failed", 77.0, 5.0);
    char *text = board(5);
    ck_assert_ptr_nonnull(
        strstr(text, "matmul_naive: speedup over the slow one<span>more is better"));
    ck_assert_ptr_nonnull(strstr(text, "<td class=\"n\">1<td>fast<td class=\"n\">9.00\n"
                                       "<tr><td class=\"n\">2<td>slow<td class=\"n\">2.00\n"
                                       "</table>"));
    ck_assert_ptr_nonnull(strstr(text, "<td class=\"n\">1<td>fast<td class=\"n\">4.00\n"
                                       "<tr><td class=\"n\">1<td>slow<td class=\"n\">4.00\n"
                                       "<tr><td class=\"n\">3<td>void<td class=\"n\">5.00\n"
                                       "</table>"));
    ck_assert_ptr_null(strstr(text, "88"));
    ck_assert_ptr_null(strstr(text, "wrong"));
    free(text);
}
END_TEST

START_TEST(ten_are_shown)
{
    for (int i = 0; i < 14; i++) {
        snprintf(class[i].nickname, sizeof class[i].nickname, "n%d", i);
        grade_as(&class[i], "passed", "passed", 20.0 - i, 1.0 + i);
    }
    char *text = board(14);
    ck_assert_ptr_nonnull(strstr(text, "<td>n9<td"));
    ck_assert_ptr_null(strstr(text, "<td>n10<td"));
    free(text);
}
END_TEST

START_TEST(nobody_wants_to)
{
    grade_as(&class[0], "passed", "passed", 2.0, 4.0);
    char *text = board(1);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

Suite *suite_leaderboard(void)
{
    Suite *suite = suite_create("leaderboard");
    TCase *tcase = tcase_create("leaderboard");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, nicknames, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, no_file_no_link);
    tcase_add_test(tcase, equal_nicknames_are_numbered);
    tcase_add_test(tcase, order);
    tcase_add_test(tcase, ten_are_shown);
    tcase_add_test(tcase, nobody_wants_to);
    suite_add_tcase(suite, tcase);
    return suite;
}
