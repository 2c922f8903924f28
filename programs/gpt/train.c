/*
 * train.c: a run of training, with a look at it every so many steps. The checkpoint is that of the
 * look with the best validation loss; when PATIENCE looks in a row were no better, the run stops.
 */
#include "cuda_check.h"
#include "dropout.h"
#include "program.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PATIENCE 2 /* looks */

/* The best look so far. */
typedef struct best {
    float validation;
    int step;
    int since; /* looks that were no better */
} best;

/* A network that goes on from its file, or a new one. NULL: it has been said why. */
static gpt *network(const options *o)
{
    gpt *net = NULL;
    if (o->resume) return read_checkpoint(o->of, o->checkpoint);
    float *params = malloc(gpt_params(&o->config) * sizeof *params);
    if (params == NULL) return NULL;
    (o->of->init ? o->of->init : gpt_init)(params, &o->config, o->seed);
    if (o->of->create(&net, &o->config, params) != cudaSuccess) net = NULL;
    free(params);
    return net;
}

static float mean(const float *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i];
    return (float)(sum / n);
}

/* Only a better network replaces the checkpoint, which is rank 0's; NaN is never better. */
static bool keep_best(best *b, const options *o, gpt *net, float validation)
{
    b->since++;
    if (!(validation < b->validation)) return true;
    *b = (best){validation, net->step, 0};
    return o->of->rank > 0 || write_checkpoint(o->of, o->checkpoint, net);
}

/* Some steps, and what came of them. */
static cudaError_t stretch(gpt *net, best *b, const options *o, const gpt_training *t,
                           const int *text, size_t count, float *losses, int steps, bool begin)
{
    const int first = net->step;
    float validation;
    const double began = seconds_now();
    dropout_begin(o->dropout, t->seed, first);
    CUDA_CHECK(o->of->train ? o->of->train(net, losses, text, count, t, steps, 0)
                            : train_by_steps(o->of->step, net, losses, text, count, t, steps));
    if (!dropout_end()) return cudaErrorNotSupported;
    const double rate = (double)steps * t->batch * t->seq / (seconds_now() - began);
    CUDA_CHECK(o->of->validate(net, &validation, text, count, t->batch, t->seq, 0));
    printf("step %d of %d  loss %.4f  validation %.4f  %.0f tokens/s  %.2f s per epoch  %.1f MiB\n",
           net->step, t->steps, mean(losses, steps), validation, rate,
           (double)(count - count / 10) / rate, (double)o->of->bytes() / (1 << 20));
    if (!keep_best(b, o, net, validation)) return cudaErrorUnknown;
    if (o->of->rank > 0) return cudaSuccess;
    if (o->curve && !write_curve(o->curve, losses, first, steps, validation, begin))
        return cudaErrorUnknown;
    CUDA_CHECK(print_sample(o->of, net, o->prompt, o->count / 4 + 1, o->temperature, o->seed));
    return cudaSuccess;
}

/* What a run that goes on has to be better than. */
static cudaError_t begin_best(best *b, gpt *net, const options *o, const gpt_training *t,
                              const int *text, size_t count)
{
    *b = (best){INFINITY, net->step, 0};
    if (!o->resume) return cudaSuccess;
    return o->of->validate(net, &b->validation, text, count, t->batch, t->seq, 0);
}

static void print_run(const gpt *net, const options *o, size_t count)
{
    const size_t of_gpt = gpt_params(&net->config);
    const size_t own = o->of->params ? o->of->params(&net->config) : of_gpt;
    printf("on %s: %zu parameters ", o->on->name, own);
    if (o->of->params) printf("of Llama blocks (a GPT has %zu) ", of_gpt);
    printf("learn %zu bytes of %s, from step %d on\n", count, o->text, net->step);
}

static cudaError_t run(gpt *net, const options *o, const int *text, size_t count)
{
    gpt_training t = o->training;
    t.seq = net->config.context; /* that of a checkpoint may be another one */
    float *losses = malloc((size_t)o->every * sizeof *losses);
    cudaError_t error = losses ? cudaSuccess : cudaErrorMemoryAllocation;
    best b;
    if (!error) error = begin_best(&b, net, o, &t, text, count);
    if (o->gpus > 0)
        printf("%d GPUs, each with %d windows of a batch; ", o->gpus * o->of->ranks,
               t.batch / (o->gpus * o->of->ranks));
    print_run(net, o, count);
    while (error == cudaSuccess && net->step < t.steps && b.since < PATIENCE) {
        const int before = net->step, left = t.steps - before;
        const int steps = left < o->every ? left : o->every;
        error = stretch(net, &b, o, &t, text, count, losses, steps, before == 0);
        fflush(stdout);
        if (error == cudaSuccess && net->step == before) {
            fputs("gpt: gpt_train made no step\n", stderr);
            error = cudaErrorUnknown;
        }
    }
    if (error == cudaSuccess && b.since > 0 && isinf(b.validation)) {
        fputs("gpt: no validation loss was a finite number; no checkpoint was written\n", stderr);
        error = cudaErrorUnknown;
    }
    if (error == cudaSuccess)
        printf("%sthe best validation loss, %.4f, was at step %d; %s is of this step\n",
               net->step < t.steps ? "stopped early: " : "", b.validation, b.step, o->checkpoint);
    free(losses);
    return error;
}

int train(const options *o)
{
    size_t count;
    int *text = read_text(o->text, &count);
    if (text == NULL) return 2;
    if (o->small) count /= 10;
    gpt *net = network(o);
    int status = net ? 0 : 1;
    if (net && count / 10 <= (size_t)net->config.context) {
        fprintf(stderr,
                "gpt: %s: %zu bytes are too few: a tenth of them is for validation, and has "
                "to be longer than the context of %d\n",
                o->text, count, net->config.context);
        status = 2;
    }
    if (status == 0) status = run(net, o, text, count) == cudaSuccess ? 0 : 1;
    if (status == 0 && o->of->finish && !o->of->finish()) status = 1;
    o->of->release(net);
    free(text);
    return status;
}
