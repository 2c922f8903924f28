/*
 * stages.h: what the parts of the stages' benchmark share. stages.c has the task, the CPU's stages,
 * the check and the table; stages_gpu.cu the GPU's stages; stages.py those that are in Python.
 */
#ifndef BENCH_STAGES_H
#define BENCH_STAGES_H

#ifdef __cplusplus
extern "C" {
#endif

#define BATCH         128
#define LEARNING_RATE 1e-3f

/** An epoch, image after image in batches of BATCH, and a product. It lies in memory that a child
 *  maps, in this order. */
typedef struct task {
    int images, n, cores;
    float *start;  /**< [MLP_PARAMS] with which each training begins */
    float *params; /**< [MLP_PARAMS] receives those after it */
    float *x;      /**< [images x MLP_INPUTS] */
    int *labels;   /**< [images] */
    float *c;      /**< [n x n] receives a b */
    float *a, *b;  /**< [n x n] */
} task;

typedef struct stage stage;
struct stage {
    const char *name;
    const char *by[2]; /**< the exercises whose functions multiply calls, and train */
    const char *child; /**< its name in stages.py, or NULL */
    double (*train)(const task *, int steps); /**< the first steps of an epoch */
    double (*multiply)(const task *);
    int on_gpu;
    /* Both return the milliseconds of one run, without what is made before the first step or the
     * product; below 0 where it failed. */
};

/** @return images of step i, counted from 0 */
static inline int rows_of(const task *t, int i)
{
    const int left = t->images - i * BATCH;
    return left < BATCH ? left : BATCH;
}

/** @param count receives how many there are */
const stage *gpu_stages(int *count);
/** Bring images and matrices to the device. @return 0 where there is none, or no room */
int gpu_begin(const task *t);
void gpu_end(void);
/** @return the device's name, "softgpu" or "no GPU" */
const char *gpu_name(void);

#ifdef __cplusplus
}
#endif

#endif
