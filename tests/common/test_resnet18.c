/* test_resnet18.c: the table of the network (common/resnet18_layout.c), files of weights
 * (common/weights.c), and weights and images from a seed (common/resnet18_weights.c). */
#include "grader/tests.h"

#include "resnet18_weights.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- resnet18_layout.c
 * ------------------------------------------------------------------------------ */

static size_t weights_of(const resnet18_conv *c)
{
    return (size_t)c->out_channels * c->in_channels * c->kernel * c->kernel;
}

/* Array behind array, without a gap, up to the linear layer; and as many learned numbers as the
 * network is known to have. */
START_TEST(test_table_has_no_gaps)
{
    size_t at = 0, learned = (size_t)RESNET18_CLASSES * (RESNET18_FEATURES + 1);
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        const size_t out = (size_t)c->out_channels;
        ck_assert_uint_eq(c->w, at);
        ck_assert_uint_eq(c->gamma, at + weights_of(c));
        ck_assert_uint_eq(c->beta, c->gamma + out);
        ck_assert_uint_eq(c->mean, c->beta + out);
        ck_assert_uint_eq(c->var, c->mean + out);
        at = c->var + out;
        learned += weights_of(c) + 2 * out;
    }
    ck_assert_uint_eq(at, RESNET18_FC_W);
    ck_assert_uint_eq(RESNET18_FC_BIAS, at + (size_t)RESNET18_CLASSES * RESNET18_FEATURES);
    ck_assert_uint_eq(RESNET18_FLOATS, (size_t)RESNET18_FC_BIAS + RESNET18_CLASSES);
    ck_assert_uint_eq(learned, 11689512);
    ck_assert_uint_eq(learned, RESNET18_PARAMS);
}
END_TEST

/* What a block reads is what the one before gives, in channels and in pixels. */
START_TEST(test_blocks_fit_together)
{
    int channels = resnet18_convs[0].out_channels, next = 1;
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        const resnet18_block *b = &resnet18_blocks[i];
        const resnet18_conv *first = &resnet18_convs[b->conv1], *second = first + 1;
        ck_assert_int_eq(b->conv1, next);
        ck_assert_int_eq(b->conv2, next + 1);
        ck_assert_int_eq(first->in_channels, channels);
        ck_assert_int_eq(second->in_channels, first->out_channels);
        ck_assert_int_eq(second->out_channels, first->out_channels);
        ck_assert_int_eq(second->stride, 1);
        next += 2;
        ck_assert_int_eq(b->downsample >= 0, first->stride != 1 || first->out_channels != channels);
        if (b->downsample >= 0) {
            const resnet18_conv *d = &resnet18_convs[b->downsample];
            ck_assert_int_eq(b->downsample, next++);
            ck_assert_int_eq(d->in_channels, channels);
            ck_assert_int_eq(d->out_channels, second->out_channels);
            ck_assert_int_eq(d->stride, first->stride);
            ck_assert_int_eq(d->kernel, 1);
        }
        channels = second->out_channels;
    }
    ck_assert_int_eq(next, RESNET18_CONVS);
    ck_assert_int_eq(channels, RESNET18_FEATURES);
}
END_TEST

/* For images of 224 and, with odd sides on the way, of 40 pixels a side. */
START_TEST(test_shapes_of_stages)
{
    static const int wanted[RESNET18_STAGES] = {64, 64, 64, 128, 128, 256, 256, 512, 512, 512};
    static const int sides_224[] = {56, 56, 56, 28, 28, 14, 14, 7, 7, 1};
    static const int sides_40[] = {10, 10, 10, 5, 5, 3, 3, 2, 2, 1};
    size_t floats = 0;
    for (int i = 0; i < RESNET18_STAGES; i++) {
        int channels, side;
        resnet18_stage_shape(i, 40, &channels, &side);
        ck_assert_int_eq(side, sides_40[i]);
        resnet18_stage_shape(i, 224, &channels, &side);
        ck_assert_int_eq(side, sides_224[i]);
        ck_assert_int_eq(channels, wanted[i]);
        floats += (size_t)channels * side * side;
    }
    ck_assert_uint_eq(floats, resnet18_activations(224));
}
END_TEST

START_TEST(test_sizes_that_convolutions_read)
{
    static const int sides[RESNET18_CONVS] = {224, 56, 56, 56, 56, 56, 28, 56, 28, 28,
                                              28,  14, 28, 14, 14, 14, 7,  14, 7,  7};
    for (int i = 0; i < RESNET18_CONVS; i++) ck_assert_int_eq(resnet18_in_size(i, 224), sides[i]);
}
END_TEST

START_TEST(test_multiply_adds)
{
    double sum = 0;
    for (int i = 0; i <= RESNET18_CONVS; i++) sum += resnet18_multiply_adds(i, 224);
    ck_assert_double_eq(sum, 1814073344.0);
    ck_assert_double_eq(resnet18_multiply_adds(0, 224), 112.0 * 112 * 64 * 147);
    ck_assert_double_eq(resnet18_multiply_adds(7, 224), 28.0 * 28 * 128 * 64);
}
END_TEST

/* ---- weights.c ------------------------------------------------------------------------------- */

START_TEST(test_checksum_is_that_of_zlib)
{
    ck_assert_uint_eq(weights_checksum("123456789", 9), 0xcbf43926);
    ck_assert_uint_eq(weights_checksum("", 0), 0);
}
END_TEST

START_TEST(test_image_of_two_arrays)
{
    const float a[6] = {1, 2, 3, 4, 5, 6}, b[1] = {7};
    const weights_array arrays[] = {{"a", {2, 3, 1, 1}, a}, {"b.bias", {1, 1, 1, 1}, b}};
    size_t bytes;
    unsigned char *file = weights_image(&bytes, arrays, 2);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(bytes, 64 + 2 * 128 + 64 + 64);

    weights_header header;
    weights_entry entries[2];
    memcpy(&header, file, sizeof header);
    memcpy(entries, file + sizeof header, sizeof entries);
    ck_assert_mem_eq(header.magic, WEIGHTS_MAGIC, 8);
    ck_assert_uint_eq(header.version, WEIGHTS_VERSION);
    ck_assert_uint_eq(header.arrays, 2);
    ck_assert_uint_eq(header.bytes, bytes);
    ck_assert_uint_eq(header.checksum, weights_checksum(entries, sizeof entries));
    ck_assert_str_eq(entries[1].name, "b.bias");
    ck_assert_uint_eq(entries[0].dims[1], 3);
    ck_assert_uint_eq(entries[0].floats, 6);
    ck_assert_uint_eq(entries[0].offset, 320);
    ck_assert_uint_eq(entries[1].offset, 384);
    ck_assert_mem_eq(file + entries[0].offset, a, sizeof a);
    ck_assert_mem_eq(file + entries[1].offset, b, sizeof b);
    ck_assert_uint_eq(entries[0].checksum, weights_checksum(a, sizeof a));
    free(file);
}
END_TEST

START_TEST(test_long_names_are_refused)
{
    char name[WEIGHTS_NAME_MAX + 1];
    const float x = 1;
    const weights_array array = {name, {1, 1, 1, 1}, &x};
    size_t bytes;
    memset(name, 'n', sizeof name);
    name[WEIGHTS_NAME_MAX] = '\0';
    ck_assert_ptr_null(weights_image(&bytes, &array, 1));
    name[WEIGHTS_NAME_MAX - 1] = '\0';
    void *file = weights_image(&bytes, &array, 1);
    ck_assert_ptr_nonnull(file);
    free(file);
}
END_TEST

/* ---- resnet18_weights.c ---------------------------------------------------------------------- */

static float *params_of(unsigned long long seed)
{
    float *params = malloc(RESNET18_FLOATS * sizeof *params);
    ck_assert_ptr_nonnull(params);
    resnet18_random_params(params, seed);
    return params;
}

START_TEST(test_params_depend_on_the_seed)
{
    float *one = params_of(1), *again = params_of(1), *other = params_of(2);
    ck_assert_mem_eq(one, again, RESNET18_FLOATS * sizeof *one);
    ck_assert_mem_ne(one, other, RESNET18_FLOATS * sizeof *one);
    free(one);
    free(again);
    free(other);
}
END_TEST

/* Every number is set, variances are positive, and nothing is what a layer that was forgotten would
 * be: gamma 1, beta 0, mean 0, var 1. */
START_TEST(test_params_are_those_of_a_network)
{
    float *params = params_of(3);
    int unset = 0; /* a uniform number is 0 now and then */
    for (size_t i = 0; i < RESNET18_FLOATS; i++) unset += !isfinite(params[i]) || params[i] == 0;
    ck_assert_int_lt(unset, 20);
    for (int i = 0; i < RESNET18_CONVS; i++) {
        const resnet18_conv *c = &resnet18_convs[i];
        double squares = 0;
        for (size_t j = 0; j < weights_of(c); j++) {
            squares += (double)params[c->w + j] * params[c->w + j];
        }
        /* He: 2 / terms. One filter in eight is small, and has a variance near epsilon's. */
        ck_assert_double_eq_tol(squares / c->out_channels, 2.0 * 7 / 8, 0.3);
        int small = 0;
        for (int o = 0; o < c->out_channels; o++) {
            ck_assert(params[c->var + o] > 1e-4f && params[c->var + o] < 20.0f);
            ck_assert(params[c->gamma + o] > 0.3f && params[c->gamma + o] != 1.0f);
            small += params[c->var + o] < 1e-2f;
        }
        ck_assert_int_gt(small, 0);
        ck_assert_int_lt(small, c->out_channels / 3);
    }
    free(params);
}
END_TEST

START_TEST(test_images_have_mean_0_and_deviation_1)
{
    enum { BATCH = 64, SIDE = 32, IMAGE = 3 * SIDE * SIDE };
    static float x[BATCH * IMAGE], fewer[2 * IMAGE];
    double sum = 0, squares = 0, steps = 0;
    resnet18_random_images(x, BATCH, SIDE, 5);
    for (int i = 0; i < BATCH * IMAGE; i++) {
        sum += x[i];
        squares += (double)x[i] * x[i];
        if (i % SIDE) steps += pow((double)x[i] - x[i - 1], 2);
    }
    ck_assert_double_eq_tol(sum / (BATCH * IMAGE), 0, 0.15);
    ck_assert_double_eq_tol(squares / (BATCH * IMAGE), 1, 0.15);
    ck_assert_double_le(steps / (BATCH * IMAGE), 1); /* 2 where neighbours are independent */
    resnet18_random_images(fewer, 2, SIDE, 5);
    ck_assert_mem_eq(fewer, x, sizeof fewer);
    ck_assert_mem_ne(x, x + IMAGE, IMAGE * sizeof *x);
}
END_TEST

/* torchvision's names; every float of params in one array, in its order. */
START_TEST(test_arrays_cover_params)
{
    static weights_array arrays[RESNET18_ARRAYS];
    static resnet18_name names[RESNET18_ARRAYS];
    static const float params[1];
    size_t at = 0;
    resnet18_arrays(arrays, names, params);
    for (int i = 0; i < RESNET18_ARRAYS; i++) {
        const uint32_t *d = arrays[i].dims;
        ck_assert_uint_eq((uintptr_t)arrays[i].data, (uintptr_t)params + at * sizeof(float));
        at += (size_t)d[0] * d[1] * d[2] * d[3];
        for (int j = 0; j < i; j++) ck_assert_str_ne(arrays[i].name, arrays[j].name);
    }
    ck_assert_uint_eq(at, RESNET18_FLOATS);
    ck_assert_str_eq(arrays[0].name, "conv1.weight");
    ck_assert_str_eq(arrays[4].name, "bn1.running_var");
    ck_assert_str_eq(arrays[38].name, "layer2.0.downsample.1.running_mean");
    ck_assert_str_eq(arrays[101].name, "fc.bias");
    ck_assert_uint_eq(arrays[0].dims[3], 7);
    ck_assert_uint_eq(arrays[100].dims[1], 512);
}
END_TEST

/* Where the arrays of the written file stand are the params, and nothing but zeros between them. */
START_TEST(test_file_holds_params)
{
    char path[] = "/tmp/weights.XXXXXX";
    float *params = params_of(4);
    close(mkstemp(path));
    ck_assert_int_eq(resnet18_save(path, params), 0);

    size_t bytes;
    unsigned char *image = resnet18_weights_image(&bytes, params), *file = malloc(bytes + 1);
    FILE *from = fopen(path, "rb");
    ck_assert_uint_eq(fread(file, 1, bytes + 1, from), bytes);
    fclose(from);
    unlink(path);
    ck_assert_mem_eq(file, image, bytes);
    const float *next = params;
    for (int i = 0; i < RESNET18_ARRAYS; i++) {
        weights_entry e;
        memcpy(&e, file + sizeof(weights_header) + (size_t)i * sizeof e, sizeof e);
        ck_assert_uint_eq(e.offset % WEIGHTS_ALIGNMENT, 0);
        ck_assert_mem_eq(file + e.offset, next, e.floats * sizeof(float));
        next += e.floats;
    }
    ck_assert_ptr_eq(next, params + RESNET18_FLOATS);
    free(params);
    free(image);
    free(file);
}
END_TEST

START_TEST(test_save_says_why_not)
{
    float *params = params_of(4);
    ck_assert_int_eq(resnet18_save("/no/such/folder/weights", params), -1);
    ck_assert_int_eq(resnet18_save("/dev/full", params), -1);
    free(params);
}
END_TEST

Suite *suite_resnet18(void)
{
    Suite *suite = suite_create("resnet18");
    TCase *tests = tcase_create("resnet18");
    tcase_add_test(tests, test_table_has_no_gaps);
    tcase_add_test(tests, test_blocks_fit_together);
    tcase_add_test(tests, test_shapes_of_stages);
    tcase_add_test(tests, test_sizes_that_convolutions_read);
    tcase_add_test(tests, test_multiply_adds);
    tcase_add_test(tests, test_checksum_is_that_of_zlib);
    tcase_add_test(tests, test_image_of_two_arrays);
    tcase_add_test(tests, test_long_names_are_refused);
    tcase_add_test(tests, test_params_depend_on_the_seed);
    tcase_add_test(tests, test_params_are_those_of_a_network);
    tcase_add_test(tests, test_images_have_mean_0_and_deviation_1);
    tcase_add_test(tests, test_arrays_cover_params);
    tcase_add_test(tests, test_file_holds_params);
    tcase_add_test(tests, test_save_says_why_not);
    suite_add_tcase(suite, tests);
    return suite;
}
