/* file.c: bytes as a file, for readers that want a path. It never reaches a disk. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *file_of(const uint8_t *data, size_t bytes)
{
    static char path[64];
    static int file = -1;
    if (file >= 0) close(file);
    file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}
