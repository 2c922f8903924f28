#!/bin/sh
# profile.sh [FLAG OF grader ...]: a profile of the kernels of an exercise (EX). On a GPU by Nsight
# Compute: time, distance to the limits, occupancy, loads; else softgpu's counters.
set -u
case ${EX:-} in
'' | *' '*)
    echo "profile: which exercise? e.g. make profile EX=211" >&2
    exit 2
    ;;
esac
[ "${BACKEND:-cpu}" = cuda ] || exec "$COURSE_BUILD/grader" profile "$@"

command -v ncu >/dev/null || PATH=$PATH:/usr/local/cuda/bin
if ! command -v ncu >/dev/null; then
    echo "profile: needs ncu (Nsight Compute); with softgpu's counters: make profile EX=$EX BACKEND=cpu" >&2
    exit 2
fi
log=$COURSE_BUILD/profile.log
loads=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
ncu --target-processes all --log-file "$log" --launch-count "${LAUNCHES:-8}" \
    --section SpeedOfLight --section MemoryWorkloadAnalysis --section Occupancy --section LaunchStats \
    --metrics "$loads,smsp__inst_executed_op_shared_ld.sum" \
    "$COURSE_BUILD/grader" grade "$@" --fresh --slow 20 --results "$COURSE_BUILD/profile_results.json" ||
    { cat "$log"; exit 2; }
cat "$log"
echo
echo "Compute and Memory Throughput say which limit is near; a kernel far from both waits: look at"
echo "Achieved Occupancy, and at how many blocks there are for how many SMs (Waves Per SM)."
