/*
 * main.c: `make resnet18`, the program that times ResNet-18 in five implementations and
 * holds each against the CPU. resnet18/program.h is its index; `build/resnet18 --help`.
 */
#include "program.h"

#include "cuda_check.h"
#include "not_implemented.h"
#include <stdio.h>
#include <stdlib.h>

/* Exit status: 1, it ran and something is wrong; 2, it could not run. */
enum { FINE, WRONG, REFUSED };

static int find_device(void)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return FINE;
    fprintf(stderr, "resnet18: no CUDA device: %s\n",
            error ? cudaGetErrorString(error) : "there is none");
    return REFUSED;
}

/* One implementation at one precision: rows, and whether it is right. */
static cudaError_t run(const subject *s, sweep_row *cpu, float **reference, const options *o,
                       bool *right)
{
    measurement rows[BATCHES_MAX];
    agreement agreed = {0};
    const bool is_cpu = s->impl == &implementations[0];
    if (o->verify && !is_cpu) CUDA_CHECK(verify(&agreed, reference, s, o));
    CUDA_CHECK(measure(rows, is_cpu ? NULL : cpu, s, o));
    for (int i = 0; is_cpu && i < o->count; i++) cpu[i] = rows[i].host;
    if (agreed.images > 0 && !agreed.holds) *right = false;
    for (const implementation *const *i = o->impls; *i; i++) {
        if (*i == s->impl) table_rows(s, rows, &agreed, o);
    }
    return cudaSuccess;
}

/* The CPU first: the others are held against it. */
static cudaError_t run_all(const float *h_params, const options *o, bool *right)
{
    sweep_row cpu[BATCHES_MAX];
    float *reference = NULL;
    const subject first = {&implementations[0], RESNET18_FP32, h_params};
    CUDA_CHECK(run(&first, cpu, &reference, o, right));
    for (const implementation *const *i = o->impls; *i; i++) {
        if (*i == &implementations[0]) continue;
        const int precisions = (*i)->precisions ? o->precision_count : 1;
        for (int p = 0; p < precisions; p++) {
            const subject s = {*i, (*i)->precisions ? o->precisions[p] : RESNET18_FP32, h_params};
            CUDA_CHECK(run(&s, cpu, &reference, o, right));
        }
    }
    if (o->answers && (!reference || verify_write(o->answers, reference, o))) *right = false;
    if (o->answers && !reference) fprintf(stderr, "resnet18: --answers: nothing was compared\n");
    free(reference);
    return cudaSuccess;
}

static int run_with(const float *h_params, const options *o)
{
    bool right = true;
    if (o->generate) return weights_write(o->generate, h_params) ? REFUSED : FINE;
    if (find_device() != FINE) return REFUSED;
    table_machine(o);
    const cudaError_t error = run_all(h_params, o, &right);
    const char *stub = not_implemented_take();
    if (stub) fprintf(stderr, "resnet18: %s is not written yet\n", stub);
    if (error) fprintf(stderr, "resnet18: %s\n", cudaGetErrorString(error));
    return stub || error || !right ? WRONG : FINE;
}

int main(int argc, char **argv)
{
    options o;
    bool done;
    const int status = options_parse(&o, argc, argv, &done);
    if (status || done) return status;
    float *h_params = weights_of(&o);
    if (!h_params) return REFUSED;
    const int result = run_with(h_params, &o);
    free(h_params);
    return result;
}
