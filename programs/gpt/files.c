/* files.c: texts, checkpoints and curves. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *path, const char *what)
{
    fprintf(stderr, "gpt: %s: %s\n", path, what);
}

/* The whole file, or NULL: it has been said why. */
static unsigned char *contents_of(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)length + 1);
    *bytes = data ? fread(data, 1, (size_t)length, file) : 0;
    if (!data || ferror(file)) {
        say(path, strerror(errno));
        free(data);
        data = NULL;
    }
    if (file) fclose(file);
    return data;
}

int *read_text(const char *path, size_t *count)
{
    unsigned char *bytes = contents_of(path, count);
    if (!bytes) {
        fprintf(stderr, "gpt: make data fetches Tiny Shakespeare; make gpt TEXT=FILE takes any\n");
        return NULL;
    }
    int *tokens = malloc(*count * sizeof *tokens + 1);
    for (size_t i = 0; tokens && i < *count; i++) tokens[i] = bytes[i];
    if (!tokens) say(path, "not enough memory for this text");
    free(bytes);
    return tokens;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static const char *const what_is_wrong[] = {
    [WEIGHTS_FOREIGN] = "no checkpoint of this program",
    [WEIGHTS_MISMATCH] = "a checkpoint of a network that cannot be",
    [WEIGHTS_TRUNCATED] = "cut short: not as long as its network needs",
    [WEIGHTS_CORRUPT] = "damaged: the checksum is wrong",
};

static const char *magic_of(const gpt_functions *of)
{
    return of->magic ? of->magic : GPT_MAGIC;
}

/* Is it of a network that this program was not made for? Then it has been said. */
static bool is_of_other(const gpt_functions *of, const char *path, const unsigned char *file,
                        size_t bytes)
{
    const char *other = of->magic ? GPT_MAGIC : LLAMA_MAGIC;
    if (bytes < strlen(other) || memcmp(file, other, strlen(other)) != 0) return false;
    say(path, of->magic ? "the checkpoint of a GPT: it is read without ARCH=llama"
                        : "a checkpoint of Llama blocks: it is read with ARCH=llama");
    return true;
}

/* A network of the shape that the header speaks of, if there could be one in so many bytes. */
static gpt *network_for(const gpt_functions *of, const unsigned char *file, size_t bytes,
                        weights_status *status)
{
    gpt_checkpoint header;
    gpt *net = NULL;
    *status = WEIGHTS_FOREIGN;
    if (bytes < sizeof header) return NULL;
    memcpy(&header, file, sizeof header);
    if (memcmp(header.magic, magic_of(of), sizeof header.magic) != 0) return NULL;
    const gpt_config *c = &header.config;
    *status = WEIGHTS_MISMATCH;
    if (!gpt_config_is_valid(c) || c->vocab != BYTES) return NULL;
    *status = WEIGHTS_TRUNCATED;
    if ((size_t)c->channels > bytes || (size_t)c->layers > bytes) return NULL;
    if (gpt_checkpoint_bytes(c) != bytes) return NULL;
    float *params = calloc(gpt_params(c), sizeof *params);
    *status = WEIGHTS_OK;
    if (params && of->create(&net, c, params) != cudaSuccess) net = NULL;
    free(params);
    return net;
}

gpt *read_checkpoint(const gpt_functions *of, const char *path)
{
    size_t bytes;
    weights_status status;
    unsigned char *file = contents_of(path, &bytes);
    if (!file) return NULL;
    if (is_of_other(of, path, file, bytes)) {
        free(file);
        return NULL;
    }
    gpt *net = network_for(of, file, bytes, &status);
    if (net) memcpy(file, GPT_MAGIC, strlen(GPT_MAGIC)); /* 509 knows no other */
    if (net && of->load(net, &status, file, bytes) != cudaSuccess) {
        of->release(net);
        net = NULL;
    }
    free(file);
    if (status != WEIGHTS_OK) say(path, what_is_wrong[status]);
    return net;
}

/* All of it, and on the disk. */
static bool write_whole(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool written = fwrite(data, 1, bytes, file) == bytes && fflush(file) == 0;
    written = written && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && written;
}

bool write_checkpoint(const gpt_functions *of, const char *path, gpt *net)
{
    const size_t bytes = gpt_checkpoint_bytes(&net->config);
    char *new_path = malloc(strlen(path) + 5);
    void *file = malloc(bytes);
    bool written = new_path && file && of->save(file, net) == cudaSuccess;
    if (new_path) sprintf(new_path, "%s.new", path);
    if (written) memcpy(file, magic_of(of), strlen(GPT_MAGIC));
    written = written && write_whole(new_path, file, bytes) && rename(new_path, path) == 0;
    if (!written) say(path, "this checkpoint cannot be written; an older one is still there");
    free(new_path);
    free(file);
    return written;
}

bool write_curve(const char *path, const float *losses, int first, int steps, float validation,
                 bool begin)
{
    FILE *file = fopen(path, begin ? "w" : "a");
    if (!file) {
        say(path, strerror(errno));
        return false;
    }
    if (begin) fprintf(file, "step\tloss\tvalidation\n");
    for (int i = 0; i + 1 < steps; i++) fprintf(file, "%d\t%.6f\t\n", first + i + 1, losses[i]);
    fprintf(file, "%d\t%.6f\t%.6f\n", first + steps, losses[steps - 1], validation);
    return fclose(file) == 0;
}
