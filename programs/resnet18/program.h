/*
 * program.h: the program `resnet18`, in one index. It runs five ResNet-18s, from a CPU's to one
 * captured graph, and says of each how fast it is at each batch size, what memory it needs, where
 * its time goes, and whether it computes what the CPU computes.
 *
 * main.c              the order of things
 * options.c           the command line
 * weights_file.c      parameters from a file or a seed, and what is wrong with a file
 * implementations.c   the five, behind one interface
 * layerwise.c         two of them: layer by layer, with copies between layers
 * host_layers.c       the layers of the CPU that no exercise has as a function
 * profile.h           where the time goes
 * measure.c           a row for each batch, by sweep (506)
 * verify.c            against the CPU, layer by layer
 * roofline.c          what bounds a forward pass
 * table.c             the rows as text and as CSV
 */
#ifndef RESNET18_PROGRAM_H
#define RESNET18_PROGRAM_H

#include "profile.h"

#define BATCHES_MAX 16

/* ---- implementations.c ----------------------------------------------------------------------- */

/** One way to compute ResNet-18. Functions return the first error. */
typedef struct implementation {
    const char *name;
    const char *what; /* for the table of options */
    bool precisions;  /* it has others than fp32 */
    cudaError_t (*create)(void **net, const float *h_params, resnet18_precision);
    /** What must be done once for a batch size, and is no part of a forward pass; NULL: nothing. */
    cudaError_t (*prepare)(void *net, int batch, int size);
    /** From host to host, and finished when it returns or when the stream is.
     *  @param h_logits [batch x RESNET18_CLASSES]. @param h_x [batch x 3 x size x size] */
    cudaError_t (*forward)(void *net, float *h_logits, const float *h_x, int batch, int size,
                           cudaStream_t);
    /** Images and logits on the device; NULL where it has no such thing. */
    cudaError_t (*forward_device)(void *net, float *d_logits, const float *d_x, int batch, int size,
                                  cudaStream_t);
    /** @param h_activations as in network.h; NULL where it keeps none for others to see */
    cudaError_t (*activations)(void *net, float *h_activations, const float *h_x, int batch,
                               int size, cudaStream_t);
    size_t (*bytes)(const void *net); /* of device memory that it says it holds */
    cudaError_t (*free)(void *net);
} implementation;

extern const implementation implementations[]; /* the first is the CPU; ends with a name NULL */
const implementation *implementation_find(const char *name, size_t length);

/* layerwise.c */
typedef struct layerwise layerwise;
/** @param on_device convolutions and batch normalizations: on the device; else nothing is, and each
 *  layer's result goes there and back */
cudaError_t layerwise_create(layerwise **net, const float *h_params, bool on_device);
/** @param h_activations NULL when not wanted */
cudaError_t layerwise_forward(layerwise *net, float *h_logits, float *h_activations,
                              const float *h_x, int batch, int size, cudaStream_t stream);
size_t layerwise_device_bytes(const layerwise *net);
cudaError_t layerwise_free(layerwise *net);

/* host_layers.c: as their namesakes of phase 3, on the host. */
void host_batchnorm(float *y, const float *x, const float *mean, const float *var,
                    const float *gamma, const float *beta, int batch, int channels, int pixels,
                    float eps);
void host_relu(float *y, const float *x, size_t n);
void host_add_relu(float *y, const float *x, const float *shortcut, size_t n);
void host_maxpool(float *y, const float *x, int planes, int side, int kernel, int stride, int pad);
void host_avgpool(float *y, const float *x, int planes, int pixels);
void host_linear(float *y, const float *x, const float *w, const float *bias, int batch,
                 int in_features, int out_features);

/* ---- options.c, weights_file.c --------------------------------------------------------------- */

typedef struct options {
    const implementation *impls[8]; /* NULL ends the list */
    resnet18_precision precisions[3];
    int precision_count;
    int batches[BATCHES_MAX], count;
    int size, repeats, warmup, images;
    double budget; /* seconds for a row */
    const char *weights, *generate, *answers;
    unsigned long long seed;
    bool csv, verify, profile;
} options;

extern const char *const precision_names[3];

/** @return 0, or the exit status of the program: it has been said why */
int options_parse(options *, int argc, char **argv, bool *done);
/** @return parameters, which the caller frees, or NULL: it has been said why */
float *weights_of(const options *);
/** Write the parameters. @return 0, or -1: it has been said why */
int weights_write(const char *path, const float *params);

/* ---- measure.c, verify.c, roofline.c, table.c ------------------------------------------------ */

/** How an implementation differs from the CPU's, on `images` fixed images. */
typedef struct agreement {
    int images; /* 0: not looked at */
    int same_top1;
    double layers;    /* the worst of the stages, ||got - want|| / ||want||; NaN: none to be seen */
    double logits;    /* likewise */
    bool independent; /* a row does not depend on the other images of the batch */
    bool holds;       /* all of it within the bounds of the precision */
} agreement;

/** All that is known of one implementation at one batch size. */
typedef struct measurement {
    sweep_row host;   /* from host to host */
    sweep_row device; /* images and logits on the device; batch 0: not measured */
    float queued_ms;  /* of each of many batches, copied while others are computed; 0: no */
    sweep_row cpu;    /* the CPU's, for the same batch */
    int copies;
    size_t holds, peak; /* bytes of device memory: as it says, and as counted */
    float kinds[KINDS]; /* ms of each kind of layer, NaN: not seen apart; OTHER 0: not looked at */
} measurement;

typedef struct subject {
    const implementation *impl;
    resnet18_precision precision;
    const float *h_params;
} subject;

/** @param rows [o->count]. @param cpu [o->count] of the CPU, or NULL where this is the CPU */
cudaError_t measure(measurement *rows, const sweep_row *cpu, const subject *, const options *);
/** @param reference the CPU's answers, made by the first call; free(*reference) in the end */
cudaError_t verify(agreement *, float **reference, const subject *, const options *);
/** Write the fixed images and the CPU's logits as a file of weights, for other programs.
 *  @return 0, or -1: it has been said why */
int verify_write(const char *path, float *reference, const options *);

/** The two ceilings of a device: fp32 without tensor cores by its data sheet, a copy as measured.
 */
typedef struct roofline {
    double flop_per_second, bytes_per_second;
} roofline;

cudaError_t roofline_of(roofline *);
double flop_of_image(int size);
double bytes_of_image(int size);

void table_machine(const options *);
void table_rows(const subject *, const measurement *rows, const agreement *, const options *);

#endif
