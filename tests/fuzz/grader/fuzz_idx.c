/* fuzz_idx.c: any bytes as an IDX file, packed or not: what is read has as many bytes as it says.
 */
#include "fuzz.h"
#include "idx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    idx_array array;
    char error[256];
    volatile unsigned sum = 0;
    const char *path = file_of(data, bytes);
    for (int rank = 1; rank <= IDX_MAX_RANK; rank++) {
        memset(error, 0, sizeof error);
        const int status = idx_read(&array, path, rank, error, sizeof error);
        if (status != 0 && (array.data || !*error)) abort();
        for (size_t i = 0; status == 0 && i < idx_size(&array); i++) sum += array.data[i];
        idx_free(&array);
    }
    return 0;
}
