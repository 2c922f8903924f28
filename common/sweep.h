/*
 * sweep.h: one measurement of a sweep over batch sizes (exercise 506), as plain data.
 */
#ifndef COURSE_SWEEP_H
#define COURSE_SWEEP_H

#include <stddef.h>

/** One batch size. Times are milliseconds of one forward pass of the whole batch. */
typedef struct sweep_row {
    size_t device_bytes; /**< that the calls so far took of the device's memory and still hold */
    int batch;
    int measured_at;         /**< the batch that was timed: a smaller one where this is scaled */
    int error;               /**< cudaError_t of the forward pass; then all numbers are 0 */
    float ms;                /**< median of the timed calls */
    float fastest, slowest;  /**< of the timed calls */
    float images_per_second; /**< batch / median */
} sweep_row;

#endif
