/* symptoms.c: the likely mistake behind what softgpu, a canary or a guard page has found. */
#include "mistakes.h"

#include "call/call.h"

static const char *const words[ALL_CAUSES] = {
    [CAUSE_NONE] = "",
    [CAUSE_NO_EVENT] = "; an event is missing, a launch lacks its stream, or the two operations "
                       "use data that only one of them may use, as when parts overlap",
    [CAUSE_ONE_PLACE] =
        "; several threads write to one place: let one of them do it, give each its "
        "own place, or add with atomics",
    [CAUSE_NO_ATOMIC] =
        "; several threads read, change and write one number: give each its own, or "
        "use atomicAdd; a barrier does not help",
    [CAUSE_NO_BARRIER_TO_WRITE] = "; a barrier is missing after reading, before others "
                                  "write there again",
    [CAUSE_NO_BARRIER_TO_READ] = "; a barrier is missing after writing, before others read, or two "
                                 "threads do the work of one",
    [CAUSE_UNWRITTEN_SHARED] =
        "; read before it was written: a barrier is missing, elements outside were not set to 0, "
        "or the index is not the one that was written",
    [CAUSE_UNWRITTEN] = "; nothing was written there: a += without setting it to 0 first, or the "
                        "code that fills it left this part out",
    [CAUSE_PAST_END] =
        "; a guard such as if (i < n) is missing, or does not cover the tail, or the "
        "index or its stride is wrong",
    [CAUSE_READ_OUTSIDE] =
        "; a guard is missing, or checks the thread's place instead of the row and "
        "column of the element that it reads, or the stride is wrong",
    [CAUSE_RETURNED] =
        "; read before it was written: threads returned early and filled nothing; let "
        "them skip the work instead",
    [CAUSE_WROTE_PAST_END] = "; a guard is missing: if (i < n)",
    [CAUSE_CRASHED_PAST_END] = "; a loop goes too far, or a stride is wrong",
};

const char *symptom_name(unsigned cause)
{
    return cause < ALL_CAUSES ? words[cause] : "";
}
