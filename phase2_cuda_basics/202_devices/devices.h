/*
 * devices.h: the contract of exercise 202. The conventions are in basics.h.
 *
 * What cannot be done is an answer, not an end: the function returns the error, notes words of it,
 * and leaves nothing for cudaGetLastError; the next call works. Each function sets the device that
 * it works on, and has waited for it when it returns, but for launch_threads.
 */
#ifndef COURSE_DEVICES_H
#define COURSE_DEVICES_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_info {
    int number;
    int multiprocessors;
    int most_threads;         /**< of a block */
    size_t bytes, free_bytes; /**< of its memory */
} device_info;

/** Numbers that are in one of two places. What lies in the other one is of no use: who has the
 *  pointer may have written since, and nobody would know. */
typedef enum tensor_place { TENSOR_ON_CPU, TENSOR_ON_GPU } tensor_place;

typedef struct tensor {
    float *h_data; /**< [n], pinned */
    float *d_data; /**< [n] */
    size_t n;
    tensor_place place; /**< where the numbers are */
} tensor;

/** How many there are. None is an answer: 0. */
cudaError_t device_count(int *h_count);
/** @return cudaErrorInvalidDevice where there is no such number; words: the number, and how many
 *          there are */
cudaError_t device_new(device_info *h_info, int number);
/** The number of the device with most multiprocessors, of equals the first; -1 if there is none. */
cudaError_t default_device(int *h_number);
/** Waits for all that was given to it. @return as device_new */
cudaError_t synchronize(int device);

/**
 * n zeros on a device: a tensor on the GPU, without memory of the host: h_data is NULL.
 * @param t receives it, or NULL on an error
 * @return cudaErrorMemoryAllocation where nobody has so much, however large n is; words: n.
 *         As device_new
 */
cudaError_t zeros(tensor **t, int device, size_t n);
/** The same of ones. */
cudaError_t ones(tensor **t, int device, size_t n);
/** The same of rows x cols numbers. @param h_values [count]
 *  @return cudaErrorInvalidValue unless rows * cols is count; words: all three */
cudaError_t from_slice(tensor **t, int device, const float *h_values, size_t count, size_t rows,
                       size_t cols);
/** @param h_y [count], receives the numbers
 *  @return cudaErrorInvalidValue unless the tensor has count; words: count, and how many it has */
cudaError_t to_vec(float *h_y, size_t count, const tensor *t);
/** Frees it. NULL is allowed. */
cudaError_t tensor_release(tensor *t);

/** One block, whose thread i writes out[i] = i; nothing for 0 threads. Does not wait.
 *  @return cudaErrorInvalidConfiguration where a block cannot be so large, whatever the launch
 *          itself returned; words: threads, and how many there may be */
cudaError_t launch_threads(int *out, int threads, cudaStream_t stream);

/** Of the last of these functions that failed, the words, which end with '\0'; at first "". */
void device_words(char *h_words, size_t size);

#ifdef __cplusplus
}
#endif

#endif
