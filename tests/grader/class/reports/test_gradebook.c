/* test_gradebook.c: stored results of two students, and one who was refused, in both reports. */
#include "grader/class/tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static submission class[3];
static settings with;

static const char *stored(const char *name)
{
    static char path[PATH_MAX];
    const char *root = getenv("COURSE_ROOT");
    snprintf(path, sizeof path, "%s/tests/grader/class/%s", root ? root : ".", name);
    return path;
}

static void set_up(void)
{
    memset(class, 0, sizeof class);
    strcpy(class[0].student, "anna");
    strcpy(class[1].student, "ben");
    strcpy(class[2].student, "=SUM(A1), \"eve\"");
    strcpy(class[2].refused, "the archive is refused: a link: x");
    strcpy(class[0].key, "aa");
    strcpy(class[1].key, "bb");
    class[0].results = json_load_file(stored("anna.json"), 0, NULL);
    class[1].results = json_load_file(stored("ben.json"), 0, NULL);
    ck_assert_ptr_nonnull(class[0].results);
    ck_assert_ptr_nonnull(class[1].results);
    ck_assert(settings_read(&with, stored("class.ini")));
}

static char *text_of(report_writer *write)
{
    size_t size;
    char *text = NULL;
    FILE *memory = open_memstream(&text, &size);
    write(memory, class, 3, &with);
    fclose(memory);
    return text;
}

/* anna: 10 + 2 x 15 of 10 + 2 x 20. ben: 10, two days late, 20 percent less. */
START_TEST(gradebook)
{
    char *text = text_of(write_gradebook);
    ck_assert_str_eq(text,
                     "student,status,points,max_points,days_late,total,103 matmul_cpu,103 status,"
                     "211 matmul_tiled,211 status,remark,result\n"
                     "anna,graded,40.00,50.00,0,40.00,10.00,passed,15.00,passed,,graded/aa.json\n"
                     "ben,graded,10.00,50.00,2,8.00,10.00,passed,0.00,failed,,graded/bb.json\n"
                     "\"'=SUM(A1), \"\"eve\"\"\",refused,0.00,0.00,0,0.00,,refused,,refused,"
                     "the archive is refused: a link: x,\n");
    free(text);
}
END_TEST

static const char *const said[][2] = {
    {"211_matmul_tiled.cu:9:1: warning: unused\n211_matmul_tiled.cu:20:5: error: expected ';'\nx",
     "211 did not build: line 20: expected ';'"},
    {"x/211_matmul_tiled.cu(20): error: expected a \";\"",
     "211 did not build: line 20: expected a \"\";"},
    {"the submission has no file 211", "211 did not build: the submission has no file 211"},
};

START_TEST(a_zero_says_why)
{
    json_t *one = json_array_get(json_object_get(class[1].results, "exercises"), 1);
    json_object_set_new(one, "status", json_string("build_failed"));
    json_object_set_new(one, "file",
                        json_string("phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu"));
    json_object_set_new(one, "reason", json_string(said[_i][0]));
    one = json_array_get(json_object_get(class[0].results, "exercises"), 1);
    json_object_set_new(one, "status", json_string("not_started"));
    one = json_array_get(json_object_get(class[0].results, "exercises"), 0);
    json_object_set_new(one, "status", json_string("build_failed"));
    json_object_set_new(one, "sha256", json_null());
    char *text = text_of(write_gradebook);
    ck_assert_msg(strstr(text, ",10.00,not handed in,") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "103 did not build") == NULL, "%s", text);
    ck_assert_msg(strstr(text, ",0.00,did not build,") != NULL, "%s", text);
    ck_assert_msg(strstr(text, said[_i][1]) != NULL, "%s", text);
    ck_assert_msg(strstr(text, ",15.00,not started,") != NULL, "%s", text);
    free(text);
}
END_TEST

/* ben: 103 a minute after its date, 211 a day more. anna's 211 came a day before her last file. */
START_TEST(lateness_is_shown_and_costs_nothing)
{
    const time_t due = 1795219140; /* 2026-11-20T23:59:00Z */
    class[1].times = json_pack("{s:i, s:i}", "103", due + 86460, "211", due + 86460);
    class[0].times = json_pack("{s:i}", "211", due - 86400);
    class[0].submitted = class[1].submitted = due + 86460;
    for (size_t i = 0; i < with.count; i++)
        if (strcmp(with.all[i].section, "submitted") == 0) *with.all[i].section = '\0';
    for (int i = 0; i < 2; i++) note_lateness(&class[i], &with);
    char *text = text_of(write_gradebook);
    ck_assert_msg(strstr(text, ",10.00,\"passed, 1 day late\",15.00,passed,") != NULL, "%s", text);
    ck_assert_msg(strstr(text, ",10.00,\"passed, 1 day late\",0.00,\"failed, 2 days late\",") !=
                      NULL,
                  "%s", text);
    free(text);
}
END_TEST

START_TEST(imports)
{
    char *text = text_of(write_moodle);
    ck_assert_str_eq(text, "Username,103 matmul_cpu,211 matmul_tiled\n"
                           "anna,10.00,15.00\nben,10.00,0.00\n"
                           "\"'=SUM(A1), \"\"eve\"\"\",,\n");
    free(text);
    strcpy(class[2].student, "eve");
    text = text_of(write_canvas);
    ck_assert_str_eq(text,
                     "Student,ID,SIS User ID,SIS Login ID,Section,103 matmul_cpu,211 matmul_tiled\n"
                     "    Points Possible,,,,,10.00,20.00\n"
                     "anna,,,anna,,10.00,15.00\nben,,,ben,,10.00,0.00\neve,,,eve,,,\n");
    free(text);
}
END_TEST

START_TEST(what_was_too_noisy_is_remarked)
{
    json_t *exercise = json_array_get(json_object_get(class[1].results, "exercises"), 1);
    json_object_set_new(exercise, "speeds", json_pack("[{s:s}]", "verdict", "too_noisy"));
    char *text = text_of(write_gradebook);
    ck_assert_ptr_nonnull(
        strstr(text, "ben,graded,10.00,50.00,2,8.00,10.00,passed,0.00,failed,too noisy: 211,"));
    free(text);
}
END_TEST

START_TEST(page)
{
    char *text = text_of(write_page);
    ck_assert_ptr_nonnull(strstr(text, "<h1>GPUs &amp; us</h1>"));
    ck_assert_ptr_nonnull(
        strstr(text, "Last graded 2026-11-21T05:18:55Z; on a &lt;GPU&gt;; course at b90233a</p>"));
    ck_assert_ptr_nonnull(strstr(text, "3 submissions: 2 graded, 1 refused, 0 that"));
    ck_assert_ptr_nonnull(strstr(text, "<tr><td>race<td class=\"n\">1<td>211 (1)\n"
                                       "<tr><td>the sign is wrong<td class=\"n\">1<td>211 (1)\n"));
    ck_assert_ptr_null(strstr(text, "17x33x65"));
    ck_assert_ptr_null(strstr(text, "anna"));
    ck_assert_ptr_null(strstr(text, "http"));
    free(text);
}
END_TEST

START_TEST(penalties)
{
    const time_t due = 1795219140; /* 2026-11-20T23:59:00Z */
    ck_assert_int_eq(settings_days_late(&with, due), 0);
    ck_assert_int_eq(settings_days_late(&with, due + 1), 1);
    ck_assert_int_eq(settings_days_late(&with, due + 86400), 1);
    ck_assert_int_eq(settings_days_late(&with, due + 86401), 2);
    ck_assert_double_eq_tol(settings_late_factor(&with, 2), 0.8, 1e-12);
    ck_assert_double_eq_tol(settings_late_factor(&with, 9), 0.75, 1e-12);
    ck_assert_int_eq(settings_submitted(&with, "anna", 5), due - 14340);
    ck_assert_int_eq(settings_submitted(&with, "carla", 5), 5);
}
END_TEST

static const char *const wrong[] = {"[weights]\n999 = 1\n",
                                    "[weights]\n211 = much\n",
                                    "[late]\ndue = tomorrow\n",
                                    "[late]\nper_day = 200\n",
                                    "[late]\nper_week = 5\n",
                                    "[late]\nper_day\n",
                                    "[slurm]\nlimit = 0\n",
                                    "[slurm]\nlimit = 2x\n",
                                    "[slurm]\npoll = 0\n",
                                    "[slurm]\nwrap = rm\n",
                                    "[slurm]\nmem = $(rm)\n",
                                    "[slurm]\nqos = a b\n",
                                    "[due]\n999 = 2026-11-20T23:59:00Z\n",
                                    "[due]\n206 = soon\n",
                                    "[weights]\n211 = -1\n",
                                    "due = 2026-11-20T23:59:00Z\n"};

START_TEST(wrong_settings_are_refused)
{
    char path[] = "/tmp/class.ini.XXXXXX";
    settings s = {0};
    const int file = mkstemp(path);
    ck_assert_int_gt(write(file, wrong[_i], strlen(wrong[_i])), 0);
    close(file);
    const bool read = settings_read(&s, path);
    unlink(path);
    ck_assert(!read);
}
END_TEST

START_TEST(a_challenge_is_a_bonus)
{
    json_t *exercises = json_object_get(class[0].results, "exercises");
    json_array_append_new(exercises, json_pack("{s:s, s:s, s:f, s:f}", "id", "4b", "name", "wgmma",
                                               "points", 5.0, "max_points", 10.0));
    const mark m = mark_of(&class[0], &with);
    ck_assert_double_eq(m.points, 40.0);
    ck_assert_double_eq(m.max_points, 50.0);
    ck_assert_double_eq(m.total, 45.0);
}
END_TEST

Suite *suite_gradebook(void)
{
    Suite *suite = suite_create("gradebook");
    TCase *tcase = tcase_create("gradebook");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, gradebook);
    tcase_add_loop_test(tcase, a_zero_says_why, 0, sizeof said / sizeof *said);
    tcase_add_test(tcase, lateness_is_shown_and_costs_nothing);
    tcase_add_test(tcase, imports);
    tcase_add_test(tcase, a_challenge_is_a_bonus);
    tcase_add_test(tcase, what_was_too_noisy_is_remarked);
    tcase_add_test(tcase, page);
    tcase_add_test(tcase, penalties);
    tcase_add_loop_test(tcase, wrong_settings_are_refused, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, tcase);
    return suite;
}
