/*
 * answers.c: what exercise 504 makes of a file of weights, to be held against torchvision.
 *
 *   answers generate WEIGHTS SEED               weights from a seed
 *   answers answer WEIGHTS ANSWERS BATCH SIZE   images and their logits, as a file of two arrays
 */
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "resnet18_weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int generate(const char *path, unsigned long long seed)
{
    float *params = malloc(RESNET18_FLOATS * sizeof *params);
    if (params == NULL) return -1;
    resnet18_random_params(params, seed);
    const int status = resnet18_save(path, params);
    free(params);
    return status;
}

/* @return params [RESNET18_FLOATS], or NULL */
static float *params_of(const char *path)
{
    FILE *from = fopen(path, "rb");
    if (from == NULL || fseek(from, 0, SEEK_END) != 0) return NULL;
    const size_t bytes = (size_t)ftell(from);
    unsigned char *file = malloc(bytes + 1);
    float *params = malloc(RESNET18_FLOATS * sizeof *params);
    rewind(from);
    if (file == NULL || params == NULL || fread(file, 1, bytes, from) != bytes) return NULL;
    fclose(from);
    const weights_status status = resnet18_load(params, file, bytes);
    if (status != WEIGHTS_OK) fprintf(stderr, "answers: %s: weights_status %d\n", path, status);
    free(file);
    return status == WEIGHTS_OK ? params : NULL;
}

static int write_answers(const char *path, const float *x, const float *logits, int batch, int size)
{
    const weights_array arrays[] = {
        {"images", {(uint32_t)batch, 3, (uint32_t)size, (uint32_t)size}, x},
        {"logits", {(uint32_t)batch, RESNET18_CLASSES, 1, 1}, logits},
    };
    size_t bytes;
    void *image = weights_image(&bytes, arrays, 2);
    FILE *to = fopen(path, "wb");
    if (image == NULL || to == NULL || fwrite(image, 1, bytes, to) != bytes) return -1;
    free(image);
    return fclose(to);
}

static int answer(const char *weights, const char *path, int batch, int size)
{
    float *params = params_of(weights);
    resnet18_cpu *net = params != NULL ? resnet18_create_cpu(params) : NULL;
    float *x = malloc((size_t)batch * 3 * size * size * sizeof *x);
    float *logits = malloc((size_t)batch * RESNET18_CLASSES * sizeof *logits);
    if (net == NULL || x == NULL || logits == NULL) return -1;
    resnet18_random_images(x, batch, size, 1);
    if (resnet18_forward_cpu(net, logits, NULL, x, batch, size) != 0) return -1;
    const int status = write_answers(path, x, logits, batch, size);
    resnet18_free_cpu(net);
    free(params);
    free(x);
    free(logits);
    return status;
}

int main(int argc, char **argv)
{
    int status = -1;
    if (argc == 4 && strcmp(argv[1], "generate") == 0) {
        status = generate(argv[2], strtoull(argv[3], NULL, 10));
    } else if (argc == 6 && strcmp(argv[1], "answer") == 0) {
        status = answer(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
    }
    if (status != 0) fprintf(stderr, "answers: it did not work\n");
    return status != 0;
}
