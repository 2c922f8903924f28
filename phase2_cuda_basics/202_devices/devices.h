/*
 * devices.h: the contract of exercise 202. The conventions are in basics.h.
 *
 * A refused call is an answer, not the end: the function returns the error, keeps a message with
 * the numbers listed below, and leaves no error for cudaGetLastError. The next call works.
 * Each function but launch_threads sets the device that it works on, and its work is complete when
 * it returns.
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
    int most_threads;         /**< per block */
    size_t bytes, free_bytes; /**< of its memory */
} device_info;

/** A tensor's numbers are in one of two places. Memory in the other place is stale: the numbers may
 *  have been written to since, through a pointer, and the tensor cannot see that. */
typedef enum tensor_place { TENSOR_ON_CPU, TENSOR_ON_GPU } tensor_place;

typedef struct tensor {
    float *h_data; /**< [n], pinned */
    float *d_data; /**< [n] */
    size_t n;
    tensor_place place; /**< where the numbers are */
} tensor;

/** The number of devices. Without a device it is 0, which is no error. */
cudaError_t device_count(int *h_count);
/** @return cudaErrorInvalidDevice if there is no such device; message: the number, and how many
 *          devices there are */
cudaError_t device_new(device_info *h_info, int number);
/** The number of the device with the most multiprocessors, the first of equals; -1 without any. */
cudaError_t default_device(int *h_number);
/** Waits for all work on the device. @return as device_new */
cudaError_t synchronize(int device);

/**
 * n zeros on a device: a tensor on the GPU, without host memory: h_data is NULL.
 * @param t receives the tensor, or NULL on an error
 * @return as device_new; cudaErrorMemoryAllocation if there is not so much memory, however large
 *         n is; message: n
 */
cudaError_t zeros(tensor **t, int device, size_t n);
/** The same with ones. */
cudaError_t ones(tensor **t, int device, size_t n);
/** The same with rows x cols given numbers. @param h_values [count]
 *  @return as zeros; cudaErrorInvalidValue unless rows * cols is count; message: all three */
cudaError_t from_slice(tensor **t, int device, const float *h_values, size_t count, size_t rows,
                       size_t cols);
/** @param h_y [count], receives the numbers
 *  @return cudaErrorInvalidValue unless the tensor has count numbers; message: both counts */
cudaError_t to_vec(float *h_y, size_t count, const tensor *t);
/** Frees the tensor. NULL is allowed. */
cudaError_t tensor_release(tensor *t);

/** Launches one block, whose thread i writes out[i] = i; nothing for 0 threads. Does not wait.
 *  @return cudaErrorInvalidConfiguration if a block cannot be so large, whatever error the launch
 *          itself gave; message: threads, and the most that a block may have */
cudaError_t launch_threads(int *out, int threads, cudaStream_t stream);

/** The message of the last of these functions that failed, which ends with '\0'; at first "". */
void device_words(char *h_words, size_t size);

#ifdef __cplusplus
}
#endif

#endif
