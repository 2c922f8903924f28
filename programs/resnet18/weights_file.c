/* weights_file.c: parameters from a file or from a seed, and what is wrong with a file. */
#include "program.h"

#include "resnet18_weights.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole file, or NULL: it has been said why. */
static unsigned char *contents_of(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)length + 1);
    *bytes = data ? fread(data, 1, (size_t)length, file) : 0;
    if (!data || ferror(file)) {
        fprintf(stderr, "resnet18: %s: %s\n", path, strerror(errno));
        free(data);
        data = NULL;
    }
    if (file) fclose(file);
    return data;
}

/* The first array whose checksum is wrong. The rest of the file is known to be in order. */
static const char *damaged_array(const unsigned char *file, weights_entry *e)
{
    weights_header header;
    memcpy(&header, file, sizeof header);
    if (weights_checksum(file + sizeof header, header.arrays * sizeof *e) != header.checksum)
        return "the table of its arrays";
    for (uint32_t i = 0; i < header.arrays; i++) {
        memcpy(e, file + sizeof header + i * sizeof *e, sizeof *e);
        if (weights_checksum(file + e->offset, e->floats * sizeof(float)) != e->checksum)
            return e->name;
    }
    return "no array that is looked at again";
}

static void say_what_is_wrong(const char *path, weights_status status, const unsigned char *file)
{
    static const char *const texts[] = {
        [WEIGHTS_FOREIGN] = "no file of weights: it does not begin with CWEIGHTS and version 1",
        [WEIGHTS_TRUNCATED] = "cut short: it is not as long as it says itself",
        [WEIGHTS_MISMATCH] = "an array of ResNet-18 is missing or has another shape",
        [WEIGHTS_CORRUPT] = "damaged: a checksum is wrong, that of",
    };
    weights_entry entry;
    fprintf(stderr, "resnet18: %s: %s%s%s\n", path, texts[status],
            status == WEIGHTS_CORRUPT ? " " : "",
            status == WEIGHTS_CORRUPT ? damaged_array(file, &entry) : "");
}

static bool load(float *params, const char *path)
{
    size_t bytes;
    unsigned char *file = contents_of(path, &bytes);
    if (!file) return false;
    const weights_status status = resnet18_load(params, file, bytes);
    if (status != WEIGHTS_OK) say_what_is_wrong(path, status, file);
    free(file);
    return status == WEIGHTS_OK;
}

float *weights_of(const options *o)
{
    float *params = malloc(RESNET18_FLOATS * sizeof *params);
    if (!params) {
        fprintf(stderr, "resnet18: no memory for the parameters\n");
        return NULL;
    }
    if (!o->weights) {
        resnet18_random_params(params, o->seed);
        return params;
    }
    if (load(params, o->weights)) return params;
    free(params);
    return NULL;
}

int weights_write(const char *path, const float *params)
{
    if (resnet18_save(path, params) == 0) return 0;
    fprintf(stderr, "resnet18: %s: %s\n", path, strerror(errno));
    return -1;
}
