/* test_unpack.c: archives that are refused, what of them reaches the disk, and good ones. */
#include "grader/class/tests.h"

#include <archive.h>
#include <archive_entry.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], into[96], file[96];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/class.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(into, sizeof into, "%s/into", folder);
    snprintf(file, sizeof file, "%s/archive", folder);
    ck_assert_int_eq(mkdir(into, 0700), 0);
}

static void tear_down(void)
{
    remove_tree(folder);
}

typedef struct row {
    const char *path;
    mode_t type;
    const char *link; /* of a link, symbolic or (type S_IFREG) hard */
    long long zeros;  /* bytes */
    const char *why;  /* it is refused with these words, or NULL */
    bool tar_only;    /* a zip cannot hold it, or is read with slashes for backslashes */
} row;

static void add_entry(struct archive *to, const row *r)
{
    static const char zeros[1 << 16];
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, r->path);
    archive_entry_set_filetype(entry, r->type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, r->zeros);
    if (r->link && r->type == S_IFLNK) archive_entry_set_symlink(entry, r->link);
    if (r->link && r->type == S_IFREG) archive_entry_set_hardlink(entry, r->link);
    ck_assert_int_ge(archive_write_header(to, entry), ARCHIVE_WARN);
    for (long long left = r->zeros; left > 0; left -= (long long)sizeof zeros) {
        archive_write_data(to, zeros, left < (1 << 16) ? (size_t)left : sizeof zeros);
    }
    archive_entry_free(entry);
}

static void write_archive(bool zip, const row *rows, int count)
{
    struct archive *to = archive_write_new();
    if (zip) {
        archive_write_set_format_zip(to);
    } else {
        archive_write_add_filter_gzip(to);
        archive_write_set_format_pax_restricted(to);
    }
    ck_assert_int_eq(archive_write_open_filename(to, file), ARCHIVE_OK);
    for (int i = 0; i < count; i++) add_entry(to, &rows[i]);
    archive_write_close(to);
    archive_write_free(to);
}

static bool exists(const char *format, const char *name)
{
    char path[PATH_MAX];
    struct stat facts;
    snprintf(path, sizeof path, format, folder, name);
    return lstat(path, &facts) == 0;
}

static const row rows[] = {
    {"../outside", S_IFREG, NULL, 5, "\"..\" in a path", false},
    {"a/../../outside", S_IFREG, NULL, 5, "\"..\" in a path", false},
    {"a/..", S_IFDIR, NULL, 0, "\"..\" in a path", false},
    {"/tmp/class.outside", S_IFREG, NULL, 5, "an absolute path", false},
    {"a\\..\\outside", S_IFREG, NULL, 5, "a backslash", true},
    {"link", S_IFLNK, "/etc/passwd", 0, "a link", false},
    {"hard", S_IFREG, "phase1_cpu/a.c", 0, "a link", true},
    {"device", S_IFCHR, NULL, 0, "neither a file nor a folder", true},
    {"pipe", S_IFIFO, NULL, 0, "neither a file nor a folder", true},
    {"phase1_cpu/a.c", S_IFREG, NULL, 5, "twice the same file", false},
    {"bomb", S_IFREG, NULL, 3 << 20, "too many bytes", false},
};

static void refused(bool zip, int index)
{
    const row archive[] = {{"phase1_cpu/a.c", S_IFREG, NULL, 5, NULL, false}, rows[index]};
    char why[256] = "";
    if (zip && rows[index].tar_only) return;
    write_archive(zip, archive, 2);
    ck_assert_int_eq(unpack(file, into, (unpack_limits){100, 1 << 20}, why), REFUSED);
    ck_assert_msg(strstr(why, rows[index].why) != NULL, "%s: %s", rows[index].path, why);
    ck_assert(!exists("%s/%s", "outside"));
    ck_assert(!exists("%s/into/%s", "link"));
    ck_assert(!exists("%s/into/%s", "hard"));
    ck_assert(access("/tmp/class.outside", F_OK) != 0);
}

START_TEST(tarballs_are_refused)
{
    refused(false, _i);
}
END_TEST

START_TEST(zips_are_refused)
{
    refused(true, _i);
}
END_TEST

START_TEST(too_many_entries)
{
    row many[50];
    char names[50][16], why[256] = "";
    for (int i = 0; i < 50; i++) {
        snprintf(names[i], sizeof names[i], "file%d", i);
        many[i] = (row){names[i], S_IFREG, NULL, 1, NULL, false};
    }
    write_archive(true, many, 50);
    ck_assert_int_eq(unpack(file, into, (unpack_limits){49, 1 << 20}, why), REFUSED);
    ck_assert_str_eq(why, "too many entries");
}
END_TEST

START_TEST(a_bomb_ends_at_the_limit)
{
    const row bomb = {"bomb", S_IFREG, NULL, 64 << 20, NULL, false};
    char why[256] = "", path[PATH_MAX];
    struct stat facts;
    write_archive(false, &bomb, 1);
    ck_assert_int_eq(unpack(file, into, (unpack_limits){100, 1 << 20}, why), REFUSED);
    snprintf(path, sizeof path, "%s/bomb", into);
    ck_assert_int_eq(stat(path, &facts), 0);
    ck_assert_int_le(facts.st_size, 1 << 20);
}
END_TEST

START_TEST(good_ones_are_unpacked)
{
    const row good[] = {{"./work", S_IFDIR, NULL, 0, NULL, false},
                        {"work/phase1_cpu/a.c", S_IFREG, NULL, 70000, NULL, false},
                        {"work/..b", S_IFREG, NULL, 1, NULL, false}};
    char why[256] = "";
    write_archive(_i == 1, good, 3);
    ck_assert_msg(unpack(file, into, (unpack_limits){3, 70001}, why) == UNPACKED, "%s", why);
    ck_assert(exists("%s/into/work/%s", "phase1_cpu/a.c"));
    ck_assert(exists("%s/into/work/%s", "..b"));
}
END_TEST

START_TEST(damaged_ones_are_refused)
{
    char why[256] = "";
    FILE *to = fopen(file, "w");
    fputs(_i == 0 ? "PK\003\004 and then nothing" : "this is no archive at all", to);
    fclose(to);
    ck_assert_int_eq(unpack(file, into, (unpack_limits){100, 1 << 20}, why), REFUSED);
    ck_assert_msg(strstr(why, "damaged") != NULL, "%s", why);
}
END_TEST

/* A disk that is full is no fault of the archive. */
START_TEST(no_room_is_no_refusal)
{
    const row good = {"phase1_cpu/a.c", S_IFREG, NULL, 70000, NULL, false};
    char why[256] = "";
    write_archive(false, &good, 1);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000}), 0);
    ck_assert_int_eq(unpack(file, into, (unpack_limits){100, 1 << 20}, why), NO_ROOM);
}
END_TEST

START_TEST(endings)
{
    ck_assert_uint_eq(archive_stem("anna.tar.gz"), 4);
    ck_assert_uint_eq(archive_stem("Anna.ZIP"), 4);
    ck_assert_uint_eq(archive_stem("anna.txt"), 0);
    ck_assert_uint_eq(archive_stem(".zip"), 0);
}
END_TEST

Suite *suite_unpack(void)
{
    const int count = (int)(sizeof rows / sizeof *rows);
    Suite *suite = suite_create("unpack");
    TCase *tcase = tcase_create("unpack");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, tarballs_are_refused, 0, count);
    tcase_add_loop_test(tcase, zips_are_refused, 0, count);
    tcase_add_test(tcase, too_many_entries);
    tcase_add_test(tcase, a_bomb_ends_at_the_limit);
    tcase_add_loop_test(tcase, good_ones_are_unpacked, 0, 2);
    tcase_add_loop_test(tcase, damaged_ones_are_refused, 0, 2);
    tcase_add_test(tcase, no_room_is_no_refusal);
    tcase_add_test(tcase, endings);
    suite_add_tcase(suite, tcase);
    return suite;
}
