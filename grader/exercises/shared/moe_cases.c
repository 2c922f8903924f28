#include "moe_cases.h"

int *moe_choices(long tokens, long experts, long top_k, long spread)
{
    int *ids = i32_array((size_t)(tokens * top_k));
    const long favourite = (long)random_below(case_random(), (uint64_t)experts);
    for (long t = 0; t < tokens; t++) {
        long first = (long)random_below(case_random(), (uint64_t)experts), step = 1;
        if (spread == SKEWED) first = first * first / experts;
        if (spread == TO_ONE) first = favourite;
        if (spread == EVEN_ONLY) first -= first % 2, step = 2;
        if (spread == BALANCED) first = t * top_k;
        const long even = experts - (spread == EVEN_ONLY ? experts % 2 : 0);
        for (long j = 0; j < top_k; j++) ids[t * top_k + j] = (int)((first + j * step) % even);
    }
    return ids;
}

void moe_lists(int *permutation, int *offsets, const int *ids, long tokens, long experts,
               long top_k, long capacity)
{
    const long entries = tokens * top_k;
    int *next = i32_array((size_t)experts), *end = i32_array((size_t)experts);
    for (long i = 0; i < entries; i++) end[ids[i]]++;
    offsets[0] = 0;
    for (long e = 0; e < experts; e++) {
        const int kept = capacity && end[e] > capacity ? (int)capacity : end[e];
        next[e] = offsets[e];
        end[e] = offsets[e + 1] = offsets[e] + kept;
    }
    for (long i = 0; i < entries; i++) permutation[i] = -1;
    for (long i = 0; i < entries; i++) {
        const int e = ids[i];
        if (next[e] < end[e]) permutation[next[e]++] = (int)i;
    }
}
