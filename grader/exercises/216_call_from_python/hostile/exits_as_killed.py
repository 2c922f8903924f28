# HOSTILE: 1x1x1 | signal 9 / status 137
# Ends as a process ends on a machine without memory.
import os


def matmul(a, b):
    os._exit(137)
