/*
 * mnist.h: handwritten digits to train on: MNIST where there is a copy, else digits drawn here.
 *
 * The copy is the four IDX files under their usual names, gzipped or not. It is looked for in
 *   $COURSE_DATA/mnist, $COURSE_DATA, data/mnist (made by `make data`), ../shared/data/mnist
 * where relative paths start at $COURSE_ROOT, or at the current directory where that is not set.
 * A copy that is there but damaged is an error, never a reason to go on with something else.
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
    char source[256]; /* what accuracies on it are to be called: "MNIST", "drawn digits", ... */
    int is_mnist;     /* the images are bit for bit those of MNIST */
} mnist;

/**
 * Load MNIST, or draw 30,000 + 5,000 digits where there is no copy.
 * @param data  on success to be freed with mnist_free; on an error empty
 * @param error receives the message, at most error_size bytes
 * @return 0, or -1 on an error
 */
int mnist_load(mnist *data, char *error, size_t error_size);
/** An empty one is allowed. */
void mnist_free(mnist *data);

#ifdef __cplusplus
}
#endif

#endif
