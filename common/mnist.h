/*
 * mnist.h: handwritten digits to train on: MNIST if there is a copy of it, else synthetic digits.
 *
 * The copy is the four IDX files under their usual names, gzipped or not. It is looked for in
 *   $COURSE_DATA/mnist, $COURSE_DATA, data/mnist (made by `make data`), ../shared/data/mnist
 * where relative paths start at $COURSE_ROOT, or at the current directory where that is not set.
 * A damaged copy is an error: synthetic digits never replace it.
 */
#ifndef COURSE_MNIST_H
#define COURSE_MNIST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNIST_PIXELS 784

/** Images and their labels. */
typedef struct {
    float *images; /* [count x MNIST_PIXELS], 0 is background, 1 is ink */
    int *labels;   /* [count], 0 .. 9 */
    int count;
} mnist_set;

typedef struct {
    mnist_set train;
    mnist_set test;
    char source[256]; /* the name to report accuracies with: "MNIST", "drawn digits", ... */
    int is_mnist;     /* 1: the images are bit for bit those of MNIST */
} mnist;

/**
 * Load MNIST. Without a copy of it, draw 30,000 digits for training and 5,000 for the test.
 * @param data  on success to be freed with mnist_free; empty on an error
 * @param error receives the message, at most error_size bytes
 * @return 0, or -1 on an error
 */
int mnist_load(mnist *data, char *error, size_t error_size);
/** An empty `data` is allowed. */
void mnist_free(mnist *data);

#ifdef __cplusplus
}
#endif

#endif
