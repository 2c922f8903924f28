/* symptoms.c: the likely mistake behind what softgpu, a canary or a guard page has found. */
#include "mistakes.h"

#include "call/call.h"

static const char *const words[ALL_CAUSES] = {
    [CAUSE_NONE] = "",
    [CAUSE_NO_EVENT] = "; an event is missing, or a launch lacks its stream, or both use data that "
                       "only one may use, as where parts overlap",
    [CAUSE_ONE_PLACE] = "; several threads write to one place: one must do it, or each has a place "
                        "of its own, or they add with atomics",
    [CAUSE_NO_ATOMIC] =
        "; several threads read, change and write one number: each needs numbers of "
        "its own, or atomicAdd; a barrier does not help",
    [CAUSE_NO_BARRIER_TO_WRITE] = "; a barrier is missing after reading, before others "
                                  "write there again",
    [CAUSE_NO_BARRIER_TO_READ] =
        "; a barrier is missing after writing, before others read, or both "
        "do one thread's work",
    [CAUSE_UNWRITTEN_SHARED] =
        "; read before it was written: a barrier is missing, elements outside were not set to 0, "
        "or the index is not the one that was written",
    [CAUSE_UNWRITTEN] = "; nothing has written there: a += without a 0 before it, or the code that "
                        "should have filled it left this part out",
    [CAUSE_PAST_END] = "; a guard is missing, or does not cover the tail: if (i < n); or the index "
                       "or its stride is wrong",
    [CAUSE_READ_OUTSIDE] = "; a guard is missing, or checks the thread's place and not that of the "
                           "element that is read: its own row and column; or the stride is wrong",
    [CAUSE_RETURNED] =
        "; read before it was written: threads have returned and filled nothing; let "
        "them skip the work instead",
    [CAUSE_WROTE_PAST_END] = "; a guard is missing: if (i < n)",
    [CAUSE_CRASHED_PAST_END] = "; a loop goes too far, or a wrong stride",
};

const char *symptom_name(unsigned cause)
{
    return cause < ALL_CAUSES ? words[cause] : "";
}
