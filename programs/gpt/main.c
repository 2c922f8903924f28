/*
 * main.c: `make gpt` and `make sample`, a program that trains your GPT on a text and lets it write.
 *
 *   gpt train [--text FILE] [--steps N] ...    gpt sample [--prompt TEXT] ...    gpt --help
 *
 * The device is the best GPU, the CPU where there is none, or that of --device. On softgpu and on
 * the CPU, which compute in minutes what a GPU does in a second, the text is the first tenth of it,
 * and the network a small one unless its size is given.
 */
#include "not_implemented.h"
#include "program.h"

#include <stdio.h>
#include <string.h>

/* What networks do there; NULL: it has been said why. */
static const gpt_functions *functions_on(const device *d, const options *o)
{
    static const gpt_functions on_gpu = {.create = gpt_create,
                                         .train = gpt_train,
                                         .validate = gpt_validate,
                                         .generate = gpt_generate,
                                         .save = gpt_save,
                                         .load = gpt_load,
                                         .release = gpt_free,
                                         .bytes = bytes_on_gpu};
    if (o->fast && (functions_fast == NULL || d->number == DEVICE_CPU)) {
        fputs("gpt: --fast: needs a program made with FAST=1, and a GPU\n", stderr);
        return NULL;
    }
    if (functions_llama && d->number == DEVICE_CPU) {
        fputs("gpt: --device: Llama blocks need a GPU\n", stderr);
        return NULL;
    }
    if (o->dropout > 0 && d->number == DEVICE_CPU) {
        fputs("gpt: --dropout: needs a GPU\n", stderr);
        return NULL;
    }
    if (o->gpus > 0 && (functions_of_team == NULL || d->number == DEVICE_CPU)) {
        fputs("gpt: --gpus: needs a program made with GPUS=N, and GPUs\n", stderr);
        return NULL;
    }
    if (o->gpus > 0) return functions_of_team(o);
    if (functions_llama) return functions_llama();
    if (d->number != DEVICE_CPU) return o->fast ? functions_fast() : &on_gpu;
#ifdef WITHOUT_CPU_NETWORK
    fputs("gpt: --device: the CPU's network is not in this copy of the course\n", stderr);
    return NULL;
#else
    return functions_on_cpu();
#endif
}

static const char *word_of(int argc, char **argv)
{
    const char *word = NULL;
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], "--device") == 0) word = argv[i + 1];
    return word;
}

int main(int argc, char **argv)
{
    options o;
    device d;
    if (!open_device(&d, word_of(argc, argv))) return 2;
    int status = parse_options(&o, argc, argv, d.emulated || d.number == DEVICE_CPU);
    if (status == 0) {
        o.on = &d;
        o.of = functions_on(&d, &o);
        if (o.of == NULL) status = 2;
    }
    if (status == 0) status = o.train ? train(&o) : sample(&o);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return stub != NULL ? 1 : status;
}
