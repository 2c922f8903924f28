/*
 * matmul.h: what the parts of the ladder's benchmark share. matmul.c has the table of the CPU's
 * rungs, the check and the report; matmul_gpu.cu, linked where there is a GPU, the GPU's rungs.
 */
#ifndef BENCH_MATMUL_H
#define BENCH_MATMUL_H

#ifdef __cplusplus
extern "C" {
#endif

/** What is multiplied: any floats, or those that bf16 and fp16 have exactly, too. */
typedef enum numbers { FULL, SHORT, NUMBERS } numbers;

/** One size, in memory that a child may map, in this order. */
typedef struct product {
    int n;
    float *c;                       /**< [n x n] receives the last output that was timed */
    float *a[NUMBERS], *b[NUMBERS]; /**< [n x n] */
} product;

typedef struct rung rung;
struct rung {
    const char *name, *on; /**< on: "1 core", "all cores" or "GPU" */
    const char *precision; /**< "fp32", "tf32", "bf16" or "fp16"; of TF32, too, inputs are FULL */
    const char *roof;      /**< the name of its peak; NULL: its precision's */
    int is_library;        /**< 100 % of what runs in the same place in the same precision */
    /** @return the median of its times in milliseconds; 0 where it is not here, below 0 where it
     *  failed */
    double (*time)(const rung *, const product *);
    void (*cpu)(float *c, const float *a, const float *b, int n); /**< of a rung of the CPU */
    int (*gpu)(int n); /**< of one of the GPU, on what gpu_begin brought; @return a cudaError_t */
};

/**
 * Call once(r, p), which returns milliseconds, up to 15 times and about 2 seconds, and once before
 * to warm up; a call that takes that long is not repeated.
 * @return the median; a time that is not above 0 ends it and is returned
 */
double median_of(double (*once)(const rung *, const product *), const rung *r, const product *p);

/** @param count receives how many there are */
const rung *gpu_rungs(int *count);
/** Bring the matrices of one size to the device. @return 0 where it has no room */
int gpu_begin(const product *p);
void gpu_end(void);

#ifdef __cplusplus
}
#endif

#endif
