/* test_idx.c: the IDX reader on good files and on every kind of bad one, and mnist_load on them. */
#include "digits.h"
#include "idx.h"
#include "mnist.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/course_idx_XXXXXX";
static char path[256], message[256];
static idx_array array;

/* Two images of 2 x 3. */
static const unsigned char good[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                                     0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};

static void create_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
}

static void remove_folder(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    idx_free(&array);
}

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* The bytes, gzipped, less the last `cut` of the packed ones. */
static void write_gzip(const void *bytes, size_t size, size_t cut)
{
    unsigned char packed[4096];
    z_stream zip = {.next_in = (unsigned char *)bytes,
                    .avail_in = (uInt)size,
                    .next_out = packed,
                    .avail_out = sizeof packed};
    ck_assert_int_eq(deflateInit2(&zip, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&zip, Z_FINISH), Z_STREAM_END);
    deflateEnd(&zip);
    write_bytes(packed, zip.total_out - cut);
}

static int read_array(int rank)
{
    return idx_read(&array, path, rank, message, sizeof message);
}

static void expect_refused(int rank, const char *reason)
{
    ck_assert_int_eq(read_array(rank), -1);
    ck_assert_ptr_null(array.data);
    ck_assert_msg(strstr(message, reason) != NULL, "\"%s\" does not say \"%s\"", message, reason);
    ck_assert_msg(strncmp(message, path, strlen(path)) == 0, "\"%s\" names no file", message);
}

static void expect_good(void)
{
    ck_assert_msg(read_array(3) == 0, "%s", message);
    ck_assert_int_eq(array.rank, 3);
    ck_assert_uint_eq(array.shape[0], 2);
    ck_assert_uint_eq(array.shape[1], 2);
    ck_assert_uint_eq(array.shape[2], 3);
    ck_assert_uint_eq(idx_size(&array), 12);
    ck_assert_mem_eq(array.data, good + 16, 12);
}

START_TEST(test_reads_plain)
{
    write_bytes(good, sizeof good);
    expect_good();
}
END_TEST

START_TEST(test_reads_gzip)
{
    write_gzip(good, sizeof good, 0);
    expect_good();
}
END_TEST

START_TEST(test_reads_nothing)
{
    const unsigned char none[] = {0, 0, 8, 1, 0, 0, 0, 0};
    write_bytes(none, sizeof none);
    ck_assert_int_eq(read_array(1), 0);
    ck_assert_uint_eq(idx_size(&array), 0);
}
END_TEST

START_TEST(test_refuses_every_truncation)
{
    for (size_t size = 0; size < sizeof good; size++) {
        write_bytes(good, size);
        expect_refused(3, "truncated");
    }
}
END_TEST

START_TEST(test_refuses_every_truncated_gzip)
{
    write_gzip(good, sizeof good, 0);
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    size_t whole = (size_t)ftell(file);
    fclose(file);
    for (size_t cut = 1; cut + 2 <= whole; cut++) { /* two bytes make it a gzip file */
        write_gzip(good, sizeof good, cut);
        expect_refused(3, "truncated");
    }
}
END_TEST

START_TEST(test_refuses_damaged_gzip)
{
    write_gzip(good, sizeof good, 0);
    FILE *file = fopen(path, "r+b");
    fseek(file, -8, SEEK_END); /* the checksum */
    int byte = fgetc(file);
    fseek(file, -8, SEEK_END);
    fputc(byte ^ 1, file);
    fclose(file);
    expect_refused(3, "damaged");
}
END_TEST

START_TEST(test_refuses_more_than_stated)
{
    unsigned char longer[sizeof good + 1] = {0};
    memcpy(longer, good, sizeof good);
    write_bytes(longer, sizeof longer);
    expect_refused(3, "oversized: its header states 12 elements, it has 13");
    write_gzip(longer, sizeof longer, 0);
    expect_refused(3, "oversized");

    write_gzip(good, sizeof good, 0);
    FILE *file = fopen(path, "ab");
    fputc(0, file);
    fclose(file);
    expect_refused(3, "oversized: bytes after the end of the gzip data");
}
END_TEST

START_TEST(test_refuses_wrong_labels_on_the_box)
{
    unsigned char bad[sizeof good];
    write_bytes(good, sizeof good);
    expect_refused(1, "3 dimensions, expected 1");

    memcpy(bad, good, sizeof good);
    bad[0] = 'P';
    write_bytes(bad, sizeof bad);
    expect_refused(3, "not an IDX file");

    memcpy(bad, good, sizeof good);
    bad[2] = 13; /* floats */
    write_bytes(bad, sizeof bad);
    expect_refused(3, "type 0x0d");

    memcpy(bad, good, sizeof good);
    memset(bad + 4, 0xff, 12);
    write_bytes(bad, sizeof bad);
    expect_refused(3, "too many elements");
}
END_TEST

START_TEST(test_refuses_what_is_no_file)
{
    expect_refused(3, "No such file");
    strcpy(path, folder);
    expect_refused(3, "directory");
}
END_TEST

START_TEST(test_short_message_buffer)
{
    char tiny[4] = "xyz";
    ck_assert_int_eq(idx_read(&array, path, 3, tiny, 0), -1);
    ck_assert_str_eq(tiny, "xyz");
    ck_assert_int_eq(idx_read(&array, path, 3, tiny, sizeof tiny), -1);
    ck_assert_uint_eq(strlen(tiny), 3);
}
END_TEST

START_TEST(test_writes_what_it_reads)
{
    static const char *const names[] = {"plain", "packed.gz"};
    write_bytes(good, sizeof good);
    expect_good();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        ck_assert_int_eq(idx_write(&array, path, message, sizeof message), 0);
        idx_free(&array);
        expect_good();
        FILE *file = fopen(path, "rb");
        ck_assert_int_eq(fgetc(file) == 0x1f, i == 1); /* gzipped or not */
        fclose(file);
    }
}
END_TEST

/* ---- mnist_load ------------------------------------------------------------------------------ */

static mnist data;

static int load_folder(void)
{
    setenv("COURSE_DATA", folder, 1);
    int status = mnist_load(&data, message, sizeof message);
    unsetenv("COURSE_DATA");
    return status;
}

START_TEST(test_loads_what_digits_wrote)
{
    unsigned char image[DIGIT_PIXELS];
    ck_assert_int_eq(digits_write_idx(folder, 30, 20, 5, message, sizeof message), 0);
    ck_assert_msg(load_folder() == 0, "%s", message);
    ck_assert_int_eq(data.train.count, 30);
    ck_assert_int_eq(data.test.count, 20);
    ck_assert_int_eq(data.is_mnist, 0);
    ck_assert_ptr_nonnull(strstr(data.source, folder)); /* drawn digits are never called MNIST */

    snprintf(path, sizeof path, "%s/train-images-idx3-ubyte.gz", folder);
    ck_assert_int_eq(read_array(3), 0);
    memcpy(image, array.data + 29 * DIGIT_PIXELS, sizeof image);
    for (int i = 0; i < DIGIT_PIXELS; i++)
        ck_assert_float_eq_tol(data.train.images[29 * MNIST_PIXELS + i], (float)image[i] / 255,
                               1e-6f);
    mnist_free(&data);
}
END_TEST

/* A damaged copy is an error, never a reason to draw digits instead. */
START_TEST(test_load_refuses_damage)
{
    ck_assert_int_eq(digits_write_idx(folder, 30, 20, 5, message, sizeof message), 0);
    snprintf(path, sizeof path, "%s/t10k-labels-idx1-ubyte.gz", folder);

    const unsigned char few[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 2};
    write_bytes(few, sizeof few);
    ck_assert_int_eq(load_folder(), -1);
    ck_assert_ptr_nonnull(strstr(message, "2 labels for 20 images"));

    unsigned char eleven[28] = {0, 0, 8, 1, 0, 0, 0, 20, [27] = 11};
    write_bytes(eleven, sizeof eleven);
    ck_assert_int_eq(load_folder(), -1);
    ck_assert_ptr_nonnull(strstr(message, "label 19 is 11"));

    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(load_folder(), -1);
    ck_assert_ptr_nonnull(strstr(message, "No such file"));

    snprintf(path, sizeof path, "%s/train-images-idx3-ubyte.gz", folder);
    write_bytes(good, sizeof good);
    ck_assert_int_eq(load_folder(), -1);
    ck_assert_ptr_nonnull(strstr(message, "2 images of 2 x 3"));
    ck_assert_ptr_null(data.train.images);
}
END_TEST

Suite *suite_idx(void)
{
    Suite *suite = suite_create("idx");
    TCase *tests = tcase_create("idx");
    tcase_add_checked_fixture(tests, create_folder, remove_folder);
    tcase_add_test(tests, test_reads_plain);
    tcase_add_test(tests, test_reads_gzip);
    tcase_add_test(tests, test_reads_nothing);
    tcase_add_test(tests, test_refuses_every_truncation);
    tcase_add_test(tests, test_refuses_every_truncated_gzip);
    tcase_add_test(tests, test_refuses_damaged_gzip);
    tcase_add_test(tests, test_refuses_more_than_stated);
    tcase_add_test(tests, test_refuses_wrong_labels_on_the_box);
    tcase_add_test(tests, test_refuses_what_is_no_file);
    tcase_add_test(tests, test_short_message_buffer);
    tcase_add_test(tests, test_writes_what_it_reads);
    tcase_add_test(tests, test_loads_what_digits_wrote);
    tcase_add_test(tests, test_load_refuses_damage);
    suite_add_tcase(suite, tests);
    return suite;
}
