#define _POSIX_C_SOURCE 200809L
#include "mnist.h"

#include "digits.h"
#include "idx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PATH_SIZE 4096

/* What is drawn where there is no copy: half as many as MNIST has, always the same. */
#define DRAWN_TRAIN      30000
#define DRAWN_TEST       5000
#define DRAWN_TRAIN_SEED 1
#define DRAWN_TEST_SEED  2

/* CRC-32 of the images of MNIST. */
#define TRAIN_CRC 0xf3639b56
#define TEST_CRC  0xe4ca5f57

/* A set as it is in its two files. */
typedef struct {
    idx_array images; /* [count x 28 x 28] */
    idx_array labels; /* [count] */
} raw_set;

/* path = folder/name, or folder/name.gz where only that exists. @return whether one of them does */
static int find_file(char path[PATH_SIZE], const char *folder, const char *name)
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    if (access(path, F_OK) == 0) return 1;
    snprintf(path, PATH_SIZE, "%s/%s.gz", folder, name);
    return access(path, F_OK) == 0;
}

/* folder = the first place that has a copy, as said in mnist.h. @return whether there is one */
static int find_folder(char folder[PATH_SIZE])
{
    const char *data = getenv("COURSE_DATA"), *root = getenv("COURSE_ROOT");
    if (root == NULL || root[0] == '\0') root = ".";
    const struct {
        const char *base, *below;
    } places[] = {
        {data, "/mnist"}, {data, ""}, {root, "/data/mnist"}, {root, "/../shared/data/mnist"}};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[PATH_SIZE];
        if (places[i].base == NULL || places[i].base[0] == '\0') continue;
        snprintf(folder, PATH_SIZE, "%s%s", places[i].base, places[i].below);
        if (find_file(path, folder, "train-images-idx3-ubyte")) return 1;
    }
    return 0;
}

/* Read folder/name-{images,labels}. On an error *raw is still to be freed. */
static int read_raw(raw_set *raw, const char *folder, const char *name, char *error,
                    size_t error_size)
{
    char file[64], path[PATH_SIZE];
    snprintf(file, sizeof file, "%s-images-idx3-ubyte", name);
    find_file(path, folder, file);
    if (idx_read(&raw->images, path, 3, error, error_size) != 0) return -1;
    const size_t *shape = raw->images.shape;
    if (shape[0] == 0 || shape[1] != DIGIT_SIDE || shape[2] != DIGIT_SIDE) {
        snprintf(error, error_size, "%s: %zu images of %zu x %zu, expected some of 28 x 28", path,
                 shape[0], shape[1], shape[2]);
        return -1;
    }

    snprintf(file, sizeof file, "%s-labels-idx1-ubyte", name);
    find_file(path, folder, file);
    if (idx_read(&raw->labels, path, 1, error, error_size) != 0) return -1;
    if (raw->labels.shape[0] != shape[0]) {
        snprintf(error, error_size, "%s: %zu labels for %zu images", path, raw->labels.shape[0],
                 shape[0]);
        return -1;
    }
    for (size_t i = 0; i < shape[0]; i++) {
        if (raw->labels.data[i] <= 9) continue;
        snprintf(error, error_size, "%s: label %zu is %d, expected 0 to 9", path, i,
                 raw->labels.data[i]);
        return -1;
    }
    return 0;
}

/* Draw a set. On an error *raw is still to be freed. */
static int draw_raw(raw_set *raw, size_t count, uint64_t seed, char *error, size_t error_size)
{
    raw->images = (idx_array){malloc(count * DIGIT_PIXELS), {count, DIGIT_SIDE, DIGIT_SIDE, 1}, 3};
    raw->labels = (idx_array){malloc(count), {count, 1, 1, 1}, 1};
    if (raw->images.data == NULL || raw->labels.data == NULL) {
        snprintf(error, error_size, "out of memory for %zu drawn digits", count);
        return -1;
    }
    digits_generate(raw->images.data, raw->labels.data, count, seed);
    return 0;
}

/* Bytes to floats and ints. */
static int convert(mnist_set *set, const raw_set *raw, char *error, size_t error_size)
{
    size_t count = raw->labels.shape[0], pixels = count * MNIST_PIXELS;
    set->count = (int)count;
    set->images = malloc(pixels * sizeof *set->images);
    set->labels = malloc(count * sizeof *set->labels);
    if (set->images == NULL || set->labels == NULL) {
        snprintf(error, error_size, "out of memory for %zu images", count);
        return -1;
    }
    for (size_t i = 0; i < pixels; i++) set->images[i] = (float)raw->images.data[i] / 255.0f;
    for (size_t i = 0; i < count; i++) set->labels[i] = raw->labels.data[i];
    return 0;
}

static int has_crc(const idx_array *array, unsigned long crc)
{
    return crc32_z(0, array->data, idx_size(array)) == crc;
}

int mnist_load(mnist *data, char *error, size_t error_size)
{
    memset(data, 0, sizeof *data);
    raw_set train = {0}, test = {0};
    char folder[PATH_SIZE];
    int status;
    if (find_folder(folder)) {
        status = read_raw(&train, folder, "train", error, error_size);
        if (status == 0) status = read_raw(&test, folder, "t10k", error, error_size);
        data->is_mnist =
            status == 0 && has_crc(&train.images, TRAIN_CRC) && has_crc(&test.images, TEST_CRC);
        if (data->is_mnist)
            snprintf(data->source, sizeof data->source, "MNIST");
        else
            snprintf(data->source, sizeof data->source, "the digits of %.200s", folder);
    } else {
        status = draw_raw(&train, DRAWN_TRAIN, DRAWN_TRAIN_SEED, error, error_size);
        if (status == 0) status = draw_raw(&test, DRAWN_TEST, DRAWN_TEST_SEED, error, error_size);
        snprintf(data->source, sizeof data->source, "drawn digits");
    }
    if (status == 0) status = convert(&data->train, &train, error, error_size);
    if (status == 0) status = convert(&data->test, &test, error, error_size);

    idx_free(&train.images);
    idx_free(&train.labels);
    idx_free(&test.images);
    idx_free(&test.labels);
    if (status != 0) mnist_free(data);
    return status;
}

void mnist_free(mnist *data)
{
    free(data->train.images);
    free(data->train.labels);
    free(data->test.images);
    free(data->test.labels);
    memset(data, 0, sizeof *data);
}
