/*
 * program.h: the parts of the program `gpt`, which trains a network of exercises 508 and 509 on a
 * text and lets it write. A token is a byte, so that any file is a text.
 */
#ifndef GPT_PROGRAM_H
#define GPT_PROGRAM_H

#include "network.h"
#include "weights.h"

#include <stdbool.h>
#include <stddef.h>

#define BYTES       256 /* different tokens */

#define LLAMA_MAGIC "CUDALLAM" /* of checkpoints of Llama blocks, instead of GPT_MAGIC */

#define DEVICE_CPU  (-1) /* its number; GPUs are 0, 1, ... */

typedef struct device {
    int number;
    char name[64];
    bool emulated; /**< by softgpu */
} device;

/** device.c: @param word cpu, gpu (the best), a number, or NULL: the best of all
 *  @return false: it has been said why */
bool open_device(device *, const char *word);
size_t bytes_on_gpu(void); /**< that are taken, by whomever */

/** A step of training, whose batch are the windows that begin at begins[t->batch]. It counts in
 *  net->step. @param h_loss [1] receives the loss before the update */
typedef cudaError_t training_step(gpt *net, float *h_loss, const int *text, const size_t *begins,
                                  const gpt_training *t);

/** @param h_logits [vocab] receives those behind the last token
 *  @param text     [seen], at most as many as the context */
typedef cudaError_t next_logits(gpt *net, float *h_logits, const int *text, int seen);

/** What is asked of a network: 508 and 509 do it on a GPU, cpu_network.c on the CPU, and of Llama
 *  blocks the files of llama/. */
typedef struct gpt_functions {
    const char *magic;              /**< [8] of its checkpoints; NULL: GPT_MAGIC */
    __typeof__(gpt_init) *init;     /**< NULL: gpt_init */
    __typeof__(gpt_params) *params; /**< those that it trains; NULL: gpt_params */
    __typeof__(gpt_create) *create;
    __typeof__(gpt_train) *train; /**< NULL: by step */
    training_step *step;
    __typeof__(gpt_validate) *validate;
    __typeof__(gpt_generate) *generate; /**< NULL: by next */
    next_logits *next;
    __typeof__(gpt_save) *save;
    __typeof__(gpt_load) *load;
    __typeof__(gpt_free) *release;
    size_t (*bytes)(void); /**< of memory that is taken there */
    int rank, ranks;       /**< of several processes that train it; 0 writes all files */
    bool (*finish)(void);  /**< the training has gone well; NULL: that is all */
} gpt_functions;

/** steps.c: as gpt_train, by this step. */
cudaError_t train_by_steps(training_step *, gpt *net, float *h_losses, const int *text,
                           size_t count, const gpt_training *, int steps);

/** Not every copy of the course has cpu_network.c. */
const gpt_functions *functions_on_cpu(void);
/** Training by 510, where the program was made with FAST=1. */
const gpt_functions *functions_fast(void) __attribute__((weak));
/** A network of Llama blocks, where the program was made with ARCH=llama. */
const gpt_functions *functions_llama(void) __attribute__((weak));

/** options.c: what was asked for; numbers that nobody gave are those of the device. */
typedef struct options {
    bool train;             /**< else: sample */
    bool resume;            /**< go on from the checkpoint */
    bool fast;              /**< train by 510, on tensor cores */
    int gpus;               /**< train by 513 on so many; 0: by one, without it */
    const char *comm;       /**< "ring" or "nccl": what reduces their gradients */
    float dropout;          /**< share of what attention leaves that is dropped in training */
    bool small;             /**< a small network, and a tenth of the text: without a GPU */
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
    device *on;
    const gpt_functions *of; /**< what networks do there */
} options;

/** Training by 513 on o->gpus, where the program was made with GPUS=N; of many processes, under
 *  srun. @return NULL: it has been said why */
const gpt_functions *functions_of_team(const options *) __attribute__((weak));

/** @return 0, or the status to end with; what is wrong was said */
int parse_options(options *o, int argc, char **argv, bool small);

/* files.c: each says what went wrong, and returns NULL or false. */

/** The bytes of a file, as tokens. */
int *read_text(const char *path, size_t *count);
/** A network, made as its file says. */
gpt *read_checkpoint(const gpt_functions *of, const char *path);
/** The old file stays until the new one is whole. */
bool write_checkpoint(const gpt_functions *of, const char *path, gpt *net);
/** A line for these steps; the first of a run begins the file. */
bool write_curve(const char *path, const float *losses, int first, int steps, float validation,
                 bool begin);

/* train.c, sample.c: an exit status. */
int train(const options *o);
int sample(const options *o);
/** Print `count` bytes that follow the prompt. */
cudaError_t print_sample(const gpt_functions *of, gpt *net, const char *prompt, int count,
                         float temperature, unsigned long long seed);

#endif
