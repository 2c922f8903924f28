/*
 * test_verify.c: a signed results.json survives being written and read, and nothing else: whatever
 * field or byte of it is changed, it is told. What verify says of points and files.
 */
#include "grader/tests.h"

#include "views/views.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], key_path[96], results_path[96];
static signing_key key;

static void write_file(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/verify.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(key_path, sizeof key_path, "%s/key", folder);
    snprintf(results_path, sizeof results_path, "%s/results.json", folder);
    write_file(key_path, "sixteen bytes at", 16);
    chmod(key_path, 0600);
    ck_assert(key_read(&key, key_path));
}

static void tear_down(void)
{
    const char *const argv[] = {"rm", "-rf", folder, NULL};
    free(process_run(argv, NULL, 600.0, 100).output);
    key_free(&key);
}

static const char *root(void)
{
    const char *given = getenv("COURSE_ROOT");
    return given ? given : ".";
}

#define CASE "'name': '1', 'message': '', 'seed': 7, 'seconds': 0.1, 'status': "
#define ENTRY(number, status, points, cases)                                                       \
    "{'id': " number                                                                               \
    ", 'name': 'n', 'file': 'phase1_cpu/103_matmul_cpu/103_matmul_cpu.c', 'status': '" status      \
    "', 'points': " points ", 'max_points': 10.0, 'reason': '\xc3\xa9 \\u0007', 'cases': [" cases  \
    "], 'speed': null, 'speeds': [], 'traffic': []}"
#define TOTAL(points, max_points, exercises)                                                       \
    "{'schema': 1, 'backend': 'cpu', 'commit': 'c', 'modified': false, 'seconds': 1.25e-3, "       \
    "'device': {'name': 'd', 'flop_per_second': 6.7e13}, 'points': " points                        \
    ", 'max_points': " max_points ", 'exercises': [" exercises "]}"
#define WELL                                                                                       \
    TOTAL("10.0", "20.0",                                                                          \
          ENTRY("103", "passed", "10.0", "{" CASE "'passed'}") ", " ENTRY("104", "failed", "0.0",  \
                                                                          "{" CASE "'failed'}"))

static char *json_text(const char *with_quotes)
{
    char *text = strdup(with_quotes);
    for (char *c = text; *c; c++) {
        if (*c == '\'') *c = '"';
    }
    return text;
}

static json_t *parse(const char *with_quotes)
{
    char *text = json_text(with_quotes);
    json_t *results = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(results);
    free(text);
    return results;
}

static json_t *signed_results(void)
{
    json_t *results = parse(WELL);
    ck_assert(results_sign(results, &key));
    return results;
}

/* ---- the signature --------------------------------------------------------------------------- */

START_TEST(it_survives_writing_and_reading)
{
    static const double reals[] = {0.1,  1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0,
                                   1e22, 67.3e12, 3.0,    0.30000000000000004,    1e-7};
    json_t *results = signed_results(), *more = json_array();
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        json_array_append_new(more, json_real(reals[i]));
    }
    json_array_append_new(more, json_integer(9223372036854775807LL));
    json_object_set_new(results, "more", more);
    ck_assert(results_sign(results, &key));
    for (int round = 0; round < 3; round++) {
        char *text = json_dumps(results, JSON_INDENT(round));
        json_decref(results);
        results = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        free(text);
        ck_assert_ptr_null(signature_flaw(results, &key));
    }
    json_decref(results);
}
END_TEST

START_TEST(the_order_of_fields_does_not_count)
{
    const char *name;
    json_t *results = signed_results(), *other = json_object(), *value;
    json_t *last = json_object_get(results, "exercises");
    json_object_set(other, "exercises", last);
    json_object_foreach(results, name, value) json_object_set(other, name, value);
    ck_assert_str_ne(json_object_iter_key(json_object_iter(results)), "exercises");
    ck_assert_ptr_null(signature_flaw(other, &key));
    json_decref(other);
    json_decref(results);
}
END_TEST

/* Change one value a little. */
static json_t *changed(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return json_sprintf("%s ", json_string_value(value));
    case JSON_INTEGER: return json_integer(json_integer_value(value) + 1);
    case JSON_REAL: return json_real(json_real_value(value) * (1 + 3e-16) + 1e-300);
    case JSON_TRUE: return json_false();
    case JSON_FALSE: return json_true();
    case JSON_ARRAY: return json_pack("[O, s]", value, "one more");
    case JSON_OBJECT: return json_pack("{s:O}", "inside", value);
    default: return json_false();
    }
}

static int changes;

static void expect_flaw(const json_t *results, const char *where)
{
    ck_assert_msg(signature_flaw(results, &key) != NULL, "%s", where);
    changes++;
}

/* Every value inside of `within` is changed once, and taken away once. */
static void change_each(const json_t *results, json_t *within)
{
    if (json_is_array(within)) {
        for (size_t i = 0; i < json_array_size(within); i++) {
            json_t *value = json_incref(json_array_get(within, i));
            json_array_set_new(within, i, changed(value));
            expect_flaw(results, "an element");
            json_array_set(within, i, value);
            change_each(results, value);
            json_decref(value);
        }
        return;
    }
    json_t *names = json_copy(within), *value;
    const char *name;
    json_object_foreach(names, name, value)
    {
        json_object_set_new(within, name, changed(value));
        expect_flaw(results, name);
        json_object_del(within, name);
        expect_flaw(results, name);
        json_object_set(within, name, value);
        change_each(results, value);
    }
    json_decref(names);
}

START_TEST(every_field_counts)
{
    json_t *results = signed_results();
    change_each(results, results);
    ck_assert_int_gt(changes, 80);
    ck_assert_ptr_null(signature_flaw(results, &key)); /* all was put back */
    json_object_set_new(json_object_get(results, "signature"), "more", json_null());
    expect_flaw(results, "a field more in the signature");
    json_decref(results);
}
END_TEST

/* Is it refused, or the same but for spaces and the like? */
static bool is_told(const char *text, size_t bytes, const json_t *original)
{
    json_t *results = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    const bool told =
        !results || signature_flaw(results, &key) || json_equal(results, (json_t *)original);
    json_decref(results);
    return told;
}

START_TEST(every_byte_counts)
{
    static const unsigned char flips[] = {0x01, 0x02, 0x08, 0x20, 0x80};
    json_t *original = signed_results();
    char *text = json_dumps(original, JSON_INDENT(1));
    const size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes; i++) {
        const char own = text[i];
        for (size_t k = 0; k < sizeof flips; k++) {
            text[i] = (char)(own ^ flips[k]);
            ck_assert_msg(is_told(text, bytes, original), "byte %zu", i);
        }
        text[i] = own;
        ck_assert_ptr_null(json_loadb(text, i, 0, NULL)); /* cut short */
    }
    json_decref(original);
    free(text);
}
END_TEST

START_TEST(another_key_is_told)
{
    json_t *results = signed_results();
    write_file(key_path, "sixteen bytes as", 16);
    signing_key other;
    ck_assert(key_read(&other, key_path));
    ck_assert_str_ne(key.id, other.id);
    ck_assert_ptr_nonnull(strstr(signature_flaw(results, &other), "another key"));
    key_free(&other);
    json_decref(results);
}
END_TEST

START_TEST(the_code_is_that_of_openssl)
{
    json_t *results = parse("{'b': 1.0, 'a': [true, null]}");
    ck_assert(results_sign(results, &key));
    const char *const argv[] = {
        "sh", "-c",
        "printf '{\"a\":[true,null],\"b\":1.0}' | openssl dgst -sha256 -hmac 'sixteen bytes at'",
        NULL};
    process_result r = process_run(argv, NULL, 600.0, 200);
    const char *value = string_of(json_object_get(results, "signature"), "value");
    if (r.status == 0) ck_assert_msg(strstr(r.output, value) != NULL, "%s", r.output);
    ck_assert_str_eq(value, "7962cb27ee816e5c2d0418058cf15e188843e356612d854e46179e9283d43517");
    free(r.output);
    json_decref(results);
}
END_TEST

/* ---- keys ------------------------------------------------------------------------------------ */

static void refuse(const char *path)
{
    signing_key none;
    ck_assert(!key_read(&none, path));
    key_free(&none);
}

START_TEST(bad_keys_are_refused)
{
    static char large[4097];
    refuse("/no/such/key");
    refuse(folder);
    refuse("/dev/zero");
    write_file(key_path, "fifteen bytes..", 15);
    refuse(key_path);
    write_file(key_path, large, sizeof large);
    refuse(key_path);
    write_file(key_path, large, sizeof large - 1);
    signing_key longest;
    ck_assert(key_read(&longest, key_path));
    key_free(&longest);
}
END_TEST

/* ---- the command ----------------------------------------------------------------------------- */

/* What `grader verify` ends with for a file of these bytes. */
static int verify_text(const char *text, bool with_key, bool allow_unsigned)
{
    options o = {.root = root(),
                 .results = results_path,
                 .key = with_key ? key_path : NULL,
                 .allow_unsigned = allow_unsigned};
    write_file(results_path, text, strlen(text));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    return verify(&o);
}

/* With the hashes of this course, and signed when asked to. */
static char *text_of_this_course(bool is_signed)
{
    const options o = {.root = root()};
    json_t *results = parse(WELL);
    json_object_set_new(results, "hashes", origin_hashes(&o));
    if (is_signed) results_sign(results, &key);
    char *text = json_dumps(results, JSON_INDENT(1));
    json_decref(results);
    return text;
}

static const struct {
    bool is_signed, with_key, allowed;
    int status;
} rows[] = {{true, true, false, 0},  {true, false, false, 1}, {true, false, true, 0},
            {false, true, false, 1}, {false, true, true, 1},  {false, false, false, 1},
            {false, false, true, 0}};

START_TEST(a_signature_is_missed_unless_it_need_not_be)
{
    char *text = text_of_this_course(rows[_i].is_signed);
    ck_assert_int_eq(verify_text(text, rows[_i].with_key, rows[_i].allowed), rows[_i].status);
    free(text);
}
END_TEST

START_TEST(another_course_is_told)
{
    char *text = text_of_this_course(false);
    char *hash = strstr(text, "\"cases\": \"") + strlen("\"cases\": \"");
    ck_assert_int_eq(verify_text(text, false, true), 0);
    *hash = *hash == '0' ? '1' : '0';
    ck_assert_int_eq(verify_text(text, false, true), 1);
    free(text);
}
END_TEST

static const char *const unreadable[] = {
    "",
    "no JSON",
    "[1]",
    "{}",
    "{'schema': 1",
    "{'schema': 1} {'schema': 1}",
    "{'schema': 1e999}",
    "{'schema': 99999999999999999999999}",
    "{'schema': 1, 'schema': 1, 'backend': 'cpu', 'points': 0, 'max_points': 0, 'exercises': []}",
};

START_TEST(other_files_are_refused)
{
    char *text = json_text(unreadable[_i]);
    ck_assert_int_eq(verify_text(text, true, false), 2);
    free(text);
}
END_TEST

/* ---- points ---------------------------------------------------------------------------------- */

static const struct {
    const char *results, *why; /* NULL: they follow */
} points[] = {
    {WELL, NULL},
    {TOTAL("0.0", "0.0", ""), NULL},
    {TOTAL("11.0", "10.0", ENTRY("103", "passed", "10.0", "{" CASE "'passed'}")), "total says 11"},
    {TOTAL("10.0", "12.0", ENTRY("103", "passed", "10.0", "{" CASE "'passed'}")), "of 12"},
    {TOTAL("11.0", "10.0", ENTRY("103", "passed", "11.0", "{" CASE "'passed'}")), "outside its"},
    {TOTAL("-1.0", "10.0", ENTRY("103", "passed", "-1.0", "{" CASE "'passed'}")), "outside its"},
    {TOTAL("10.0", "10.0", ENTRY("201", "passed", "10.0", "{" CASE "'passed'}")), "the exercise"},
    {TOTAL("10.0", "10.0", ENTRY("103", "passed", "10.0", "")), "not all of its cases"},
    {TOTAL("1.0", "10.0", ENTRY("103", "failed", "1.0", "{" CASE "'failed'}")), "not all of its"},
    {TOTAL("0.0", "10.0", ENTRY("103", "passed", "0.0", "{" CASE "'not_run'}")), "passed though"},
    {TOTAL("20.0", "20.0",
           ENTRY("103", "passed", "10.0", "{" CASE "'passed'}") ", " ENTRY("103", "passed", "10.0",
                                                                           "{" CASE "'passed'}")),
     "twice"},
    {TOTAL("0.0", "0.0", ENTRY("'4b'", "passed", "10.0", "{" CASE "'passed'}")), "total says"},
    {TOTAL("0.0", "0.0, 'bonus': 10.0", ENTRY("'4b'", "passed", "10.0", "{" CASE "'passed'}")),
     NULL},
};

START_TEST(points_follow_from_the_verdicts)
{
    char why[256] = "";
    json_t *results = parse(points[_i].results);
    const char *flaw = points_flaw(results, why);
    ck_assert_msg(!flaw == !points[_i].why, "%s", why);
    if (flaw) ck_assert_msg(strstr(flaw, points[_i].why) != NULL, "%s", flaw);
    json_decref(results);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------- */

static int verify_submission(const char *submission, json_t *results)
{
    const options o = {.root = root(),
                       .results = results_path,
                       .allow_unsigned = true,
                       .submission = submission,
                       .submission_given = true};
    ck_assert_int_eq(json_dump_file(results, results_path, 0), 0);
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
    return verify(&o);
}

START_TEST(other_files_of_the_submission_are_told)
{
    char path[128];
    const char *file = "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c";
    const options o = {.root = root()};
    json_t *results =
        parse(TOTAL("10.0", "10.0", ENTRY("103", "passed", "10.0", "{" CASE "'passed'}")));
    json_t *entry = json_array_get(json_object_get(results, "exercises"), 0);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    make_folders_of(path);
    write_file(path, "int x;", 6);
    json_object_set_new(results, "hashes", origin_hashes(&o));
    ck_assert_int_eq(verify_submission(folder, results), 1); /* there is no hash */
    json_object_set_new(entry, "sha256", origin_file_hash(folder, catalog_find(103)));
    ck_assert_int_eq(verify_submission(folder, results), 0);
    write_file(path, "int y;", 6);
    ck_assert_int_eq(verify_submission(folder, results), 1);
    unlink(path);
    ck_assert_int_eq(verify_submission(folder, results), 1);
    json_object_set_new(entry, "sha256", json_null());
    ck_assert_int_eq(verify_submission(folder, results), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* does not wait for a writer */
    ck_assert_int_eq(verify_submission(folder, results), 0);
    json_object_set_new(entry, "file", json_string("../key"));
    ck_assert_int_eq(verify_submission(folder, results), 1);
    json_decref(results);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof *(table))

Suite *suite_verify(void)
{
    Suite *suite = suite_create("verify");
    TCase *tcase = tcase_create("verify");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, it_survives_writing_and_reading);
    tcase_add_test(tcase, the_order_of_fields_does_not_count);
    tcase_add_test(tcase, every_field_counts);
    tcase_add_test(tcase, every_byte_counts);
    tcase_add_test(tcase, another_key_is_told);
    tcase_add_test(tcase, the_code_is_that_of_openssl);
    tcase_add_test(tcase, bad_keys_are_refused);
    tcase_add_loop_test(tcase, a_signature_is_missed_unless_it_need_not_be, 0, ROWS(rows));
    tcase_add_test(tcase, another_course_is_told);
    tcase_add_loop_test(tcase, other_files_are_refused, 0, ROWS(unreadable));
    tcase_add_loop_test(tcase, points_follow_from_the_verdicts, 0, ROWS(points));
    tcase_add_test(tcase, other_files_of_the_submission_are_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
