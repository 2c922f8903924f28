/*
 * finding.h: the words for a finding. They are made here and nowhere else: by the runtime for
 * stderr, by the grader for its reports. It asks neither device nor runtime.
 */
#ifndef SOFTGPU_FINDING_H
#define SOFTGPU_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "device/finding.h"

/** "out of bounds" */
const char *finding_name(const device_finding *);
/** What the runtime knows of one of the device's, to be added once. @param is_host the address is
 *  one of host memory @param words for the allocation, or "" */
void finding_annotate(device_finding *, bool is_host, const char *words);
/** For a tool, which need not know in which folders it was compiled. */
void finding_strip_folders(device_finding *);
/** All of it in one line. */
void finding_line(const device_finding *, char *line, size_t size);
/** The file as the reader would name it: from the working directory, if it lies below. */
const char *shorten(const char *file);

#endif
