/* fuzz_weights.c: any bytes as a file of weights, and a good one with other bytes in its header and
 * its table, for the solution of 504: it answers, and reads nothing outside. */
#include "fuzz.h"
#include "504_resnet18_cpu/resnet18_cpu.h"
#include "resnet18_weights.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE = RESNET18_ARRAYS * sizeof(weights_entry), HEAD = sizeof(weights_header) + TABLE };

static float *params;
static unsigned char *good, head[HEAD];
static size_t good_bytes;

static void set_up(void)
{
    if (params) return;
    params = malloc(RESNET18_FLOATS * sizeof *params);
    if (!params) abort();
    resnet18_random_params(params, 1);
    good = resnet18_weights_image(&good_bytes, params);
    if (!good) abort();
    memcpy(head, good, HEAD);
}

static void load(const void *file, size_t bytes)
{
    const weights_status status = resnet18_load(params, file, bytes);
    if (status < WEIGHTS_OK || status > WEIGHTS_CORRUPT) abort();
}

/* Three bytes an edit: where, and what then stands there. */
static void edit(const uint8_t *data, size_t bytes, int sign)
{
    weights_header header;
    for (; bytes >= 3; data += 3, bytes -= 3) good[(data[0] << 8 | data[1]) % HEAD] = data[2];
    if (!sign) return;
    memcpy(&header, good, sizeof header);
    header.checksum = weights_checksum(good + sizeof header, TABLE);
    memcpy(good, &header, sizeof header);
}

/* The first byte says which: the bytes themselves; edits; edits of whoever knows the checksum. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    set_up();
    if (bytes == 0 || data[0] % 4 >= 2) {
        load(data, bytes);
        return 0;
    }
    edit(data + 1, bytes - 1, data[0] % 4);
    load(good, good_bytes);
    memcpy(good, head, HEAD);
    return 0;
}
