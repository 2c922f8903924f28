/*
 * digits.h: synthetic digits, for machines without MNIST.
 *
 * Each image is 28 x 28 grey bytes; 0 is the background. The strokes of a digit are bent, slanted,
 * rotated, stretched and shifted at random and drawn with a pen of random width. Noise is added to
 * the whole image. The same seed gives the same digits on every machine.
 */
#ifndef COURSE_DIGITS_H
#define COURSE_DIGITS_H

#include "random.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DIGIT_SIDE   28
#define DIGIT_PIXELS (DIGIT_SIDE * DIGIT_SIDE)

/** Draw one `digit`, 0 .. 9. @param image [DIGIT_PIXELS] is overwritten */
void digits_draw(unsigned char *image, int digit, random_state *rng);

/** Draw digits in random order: images[count x DIGIT_PIXELS] and their labels[count]. */
void digits_generate(unsigned char *images, unsigned char *labels, size_t count, uint64_t seed);

/**
 * Draw a training and a test set and write them as the four files of MNIST, gzipped, into `folder`.
 * @param error receives the message, at most error_size bytes
 * @return 0, or -1 on an error
 */
int digits_write_idx(const char *folder, size_t train_count, size_t test_count, uint64_t seed,
                     char *error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
