/*
 * replay.c: a fuzzer's function over the files that are named, without a fuzzer: so the corpus is a
 * test that every compiler can build.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int replay(const char *name)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return 0;
    }
    size_t bytes = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, bytes);
    return 1;
}

int main(int argc, char **argv)
{
    int passed = 0;
    for (int i = 1; i < argc; i++) passed += replay(argv[i]);
    printf("%d passed, %d failed\n", passed, argc - 1 - passed);
    return passed != argc - 1 || argc < 2;
}
