/*
 * main.c: `make gpt` and `make sample`, a program that trains your GPT on a text and lets it write.
 *
 *   gpt train [--text FILE] [--steps N] ...    gpt sample [--prompt TEXT] ...    gpt --help
 *
 * The device is the best GPU, the CPU where there is none, or that of --device. On softgpu and on
 * the CPU, which compute in minutes what a GPU does in a second, the text is the first tenth of it,
 * and the network a small one unless its size is given.
 */
#include "../backend/backend.h"
#include "not_implemented.h"
#include "program.h"

#include <stdio.h>
#include <string.h>

static const gpt_functions *functions_on(device *d)
{
    static const gpt_functions on_gpu = {gpt_create, gpt_train, gpt_validate, gpt_generate,
                                         gpt_save,   gpt_load,  gpt_free};
    if (d->number != DEVICE_CPU) return &on_gpu;
#ifdef WITHOUT_CPU_NETWORK
    return NULL;
#else
    return functions_on_cpu(d);
#endif
}

/* @param of receives what does the work there */
static failure open_device(device *d, const gpt_functions **of, int argc, char **argv)
{
    const char *word = NULL;
    int number;
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], "--device") == 0) word = argv[i + 1];
    if (!device_number(&number, word)) return "cpu, gpu, or the number of a GPU?";
    failure failed = device_open(d, number);
    if (failed) return failed;
    *of = functions_on(d);
    return *of ? NULL : "the CPU's network is not in this copy of the course";
}

int main(int argc, char **argv)
{
    options o;
    device d;
    const gpt_functions *of;
    failure failed = open_device(&d, &of, argc, argv);
    if (failed) {
        fprintf(stderr, "gpt: --device: %s\n", failed);
        return 2;
    }
    int status = parse_options(&o, argc, argv, d.emulated || d.number == DEVICE_CPU);
    o.on = &d;
    o.of = of;
    if (status == 0 && o.fast) {
        if (functions_fast == NULL || d.number == DEVICE_CPU) {
            fputs("gpt: --fast: needs a program made with FAST=1, and a GPU\n", stderr);
            status = 2;
        } else {
            o.of = functions_fast();
        }
    }
    if (status == 0) status = o.train ? train(&o) : sample(&o);
    device_close(&d);
    const char *stub = not_implemented_take();
    if (stub != NULL) fprintf(stderr, "%s is not written yet\n", stub);
    return stub != NULL ? 1 : status;
}
