/*
 * program.h: the parts of the program `gpt`, which trains a network of exercises 508 and 509 on a
 * text and lets it write. A token is a byte, so that any file is a text.
 */
#ifndef GPT_PROGRAM_H
#define GPT_PROGRAM_H

#include "network.h"

#include <stdbool.h>
#include <stddef.h>

#define BYTES 256 /* different tokens */

/** options.c: what was asked for; numbers that nobody gave are those of the device. */
typedef struct options {
    bool train;             /**< else: sample */
    bool resume;            /**< go on from the checkpoint */
    bool small;             /**< a small network, and a tenth of the text: for softgpu */
    const char *text;       /**< the file to learn */
    const char *checkpoint; /**< where the network is kept */
    const char *curve;      /**< where the losses are kept, or NULL */
    const char *prompt;
    int count; /**< of bytes to write */
    float temperature;
    int every; /**< steps between two looks at it */
    unsigned long long seed;
    gpt_config config;
    gpt_training training;
} options;

/** @return 0, or the status to end with; what is wrong was said */
int parse_options(options *o, int argc, char **argv, bool small);

/* files.c: each says what went wrong, and returns NULL or false. */

/** The bytes of a file, as tokens. */
int *read_text(const char *path, size_t *count);
/** A network, made as its file says. */
gpt *read_checkpoint(const char *path);
/** The old file stays until the new one is whole. */
bool write_checkpoint(const char *path, gpt *net);
/** A line for these steps; the first of a run begins the file. */
bool write_curve(const char *path, const float *losses, int first, int steps, float validation,
                 bool begin);

/* train.c, sample.c: an exit status. */
int train(const options *o);
int sample(const options *o);
/** Print `count` bytes that follow the prompt. */
cudaError_t print_sample(gpt *net, const char *prompt, int count, float temperature,
                         unsigned long long seed);

#endif
