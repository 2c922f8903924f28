/*
 * fuzz_fatbin.c: any bytes as a fat binary. What is found must lie inside of them.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned char *copy = malloc(bytes ? bytes : 1); /* exactly as long: a read beyond is seen */
    size_t length = 0;
    if (bytes) memcpy(copy, data, bytes);
    const char *text = fatbin_find(copy, bytes, &length);
    if (text && (length > bytes || memchr(text, 0, length))) abort();
    free(copy);
    return 0;
}
