/*
 * sweep_plan.h: the forward pass that exercise 506 is to time. It computes nothing: it keeps the
 * stream busy for a time that it notes, so that the cases know what should have been measured.
 */
#ifndef GRADER_SWEEP_PLAN_H
#define GRADER_SWEEP_PLAN_H

#define SWEEP_CALLS 128

/** All times are of the stream's work, in microseconds. */
typedef struct sweep_plan {
    int fixed, per_image;   /**< what a call takes */
    int cold_calls, cold;   /**< so many first calls of each batch take `cold` times as long */
    int every, outlier;     /**< of the others, every so-many-th does `outlier` times; 0: none */
    int mib_per_image;      /**< of device memory, held from the first call of a batch on */
    int fails_at;           /**< a batch that it has not memory enough for; 0: none */
    int calls;              /**< filled in: calls so far; those beyond SWEEP_CALLS are not noted */
    int batch[SWEEP_CALLS]; /**< filled in: of each call */
    int took[SWEEP_CALLS];  /**< filled in: what the stream's work really took */
} sweep_plan;

#endif
