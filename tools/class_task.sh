#!/bin/sh
# class_task.sh FIRST PROGRAM ARGUMENT...: what Slurm runs for each task of `make class
# SCHEDULER=slurm`: the program grades line FIRST + the task's number of its list, and no other.
first=$1 program=$2
shift 2
exec "$program" --task $((first + SLURM_ARRAY_TASK_ID)) "$@"
