/*
 * sweep_plan.h: the forward pass that exercise 506 is to time. It computes nothing: it keeps the
 * stream busy for a time that it notes, so that the cases know what should have been measured. Plan
 * and notes are hidden from the sweep, whose context is a token (worker/context.c).
 */
#ifndef SWEEP_PLAN_H
#define SWEEP_PLAN_H

#define SWEEP_CALLS 128

/** All times are of the stream's work, in microseconds. */
typedef struct sweep_plan {
    int fixed, per_image;   /**< what a call takes */
    int cold_calls, cold;   /**< so many first calls of each batch take `cold` times as long */
    int every, outlier;     /**< of the others, every so-many-th does `outlier` times; 0: none */
    int mib_per_image;      /**< of device memory, held from the first call of a batch on */
    int fails_at;           /**< a batch whose first call has not memory enough; 0: none */
    int calls;              /**< filled in: calls so far; those beyond SWEEP_CALLS are not noted */
    int batch[SWEEP_CALLS]; /**< filled in: of each call */
    int took[SWEEP_CALLS];  /**< filled in: what the stream's work really took */
} sweep_plan;

/** How many calls in a row before this one had the same batch. */
static inline int sweep_calls_before(const sweep_plan *plan, int call)
{
    int count = 0;
    for (int i = call - 1; i >= 0 && plan->batch[i] == plan->batch[call]; i--) count++;
    return count;
}

/** Only the first: a sweep that calls on is told that all is well. */
static inline int sweep_fails(const sweep_plan *plan, int call)
{
    return plan->batch[call] == plan->fails_at && sweep_calls_before(plan, call) == 0;
}

/** What a call takes at least; 0 for one that fails. */
static inline int sweep_length(const sweep_plan *plan, int call)
{
    const int batch = plan->batch[call], before = sweep_calls_before(plan, call);
    const int usual = plan->fixed + plan->per_image * batch, warm = before - plan->cold_calls;
    if (sweep_fails(plan, call)) return 0;
    if (warm < 0) return plan->cold * usual;
    return plan->every && warm % plan->every == plan->every - 1 ? plan->outlier * usual : usual;
}

#endif
