/*
 * kernels.cu: launches whose cost is known: counted by softgpu, and measured on a GPU by ncu.sh.
 * First what one meets in courses, then probes of single accesses, then what students predict.
 */
#include "copies.cuh"
#include "matrices.cuh"
#include "reductions.cuh"
#include "layers.cuh"
#include "memories.cuh"
#include "probes.cuh"
#include "predicted.cuh"

int main(int argc, char **argv)
{
    return run_launches(argc, argv);
}
