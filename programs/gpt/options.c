/* options.c: the command line, and the defaults of a run. */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Six layers of 384 are what a text of a megabyte can use; without a GPU it is two of 32. */
static options defaults(bool small)
{
    options o = {
        .text = "data/tinyshakespeare/input.txt",
        .checkpoint = functions_llama ? "results/llama.checkpoint" : "results/gpt.checkpoint",
        .prompt = "\n",
        .comm = "ring",
        .count = small ? 200 : 1000,
        .temperature = 0.8f,
        .every = small ? 50 : 250,
        .seed = 1,
        .config = {BYTES, 256, 6, 6, 384},
        .training = {.batch = 64,
                     .steps = 1000, /* more, and it knows the text by heart */
                     .warmup = 100,
                     .lr = 1e-3f,
                     .last_lr = 1e-4f,
                     .weight_decay = 0.1f,
                     .max_norm = 1.0f},
    };
    o.small = small;
    if (!small) return o;
    o.config = (gpt_config){BYTES, 32, 2, 2, 32};
    o.training.batch = 8;
    o.training.steps = 200;
    o.training.warmup = 10;
    o.training.lr = 1e-2f;
    o.training.last_lr = 1e-3f;
    return o;
}

static void print_help(void)
{
    printf("usage: gpt train [OPTION ...]   learn a text (exercises 508 and 509)\n"
           "       gpt sample [OPTION ...]  write on from a prompt\n\n"
           "  --device cpu|gpu|N   where (the best GPU, or the CPU where there is none)\n"
           "  --text FILE          what is learned, byte by byte (data/tinyshakespeare/input.txt)\n"
           "  --checkpoint FILE    where the network is kept (results/gpt.checkpoint; of Llama\n"
           "                       blocks, make gpt ARCH=llama: results/llama.checkpoint)\n"
           "  --resume             go on from there, with the same text and options\n"
           "  --fast               train by exercise 510 (make gpt FAST=1)\n"
           "  --gpus N             train by exercise 513 on GPUs 0 to N-1 (make gpt GPUS=N)\n"
           "  --comm ring|nccl     who reduces their gradients: 415, or NCCL, which also joins\n"
           "                       processes: srun --ntasks=N gpt train --gpus 1 --comm nccl\n"
           "  --steps N, --every N steps of the run; steps between two looks at it\n"
           "  --layers N, --heads N, --channels N, --context N, --batch N\n"
           "  --lr X               the largest learning rate; it ends at a tenth of it\n"
           "  --dropout X          share of what attention leaves that is dropped (0)\n"
           "  --curve FILE         losses of every step, as TSV\n"
           "  --prompt TEXT, --count N, --temperature X   of what is written\n"
           "  --seed N             of the first parameters, the windows and the draws\n");
}

/* One option that takes a value; exactly one of these is where it goes. */
typedef struct option {
    const char *name;
    const char **text;
    int *number;
    float *real;
    unsigned long long *seed;
} option;

static bool take_value(const option *o, const char *value)
{
    char *end;
    errno = 0;
    if (o->text) {
        *o->text = value;
        return *value != '\0';
    }
    if (o->real) {
        *o->real = strtof(value, &end);
        return end != value && *end == '\0' && *o->real >= 0.0f && *o->real < 1e30f;
    }
    const long long n = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || n < 0) return false;
    if (o->seed) {
        *o->seed = (unsigned long long)n;
        return true;
    }
    *o->number = n <= INT_MAX ? (int)n : 0;
    return n >= 1 && n <= INT_MAX;
}

static int refuse(const char *what, const char *why)
{
    fprintf(stderr, "gpt: %s: %s\n", what, why);
    return 2;
}

int parse_options(options *o, int argc, char **argv, bool small)
{
    *o = defaults(small);
    const char *device; /* main has read it */
    gpt_training *t = &o->training;
    gpt_config *c = &o->config;
    const option known[] = {
        {"--device", .text = &device},
        {"--text", .text = &o->text},
        {"--checkpoint", .text = &o->checkpoint},
        {"--curve", .text = &o->curve},
        {"--comm", .text = &o->comm},
        {"--prompt", .text = &o->prompt},
        {"--steps", .number = &t->steps},
        {"--every", .number = &o->every},
        {"--layers", .number = &c->layers},
        {"--heads", .number = &c->heads},
        {"--channels", .number = &c->channels},
        {"--context", .number = &c->context},
        {"--batch", .number = &t->batch},
        {"--count", .number = &o->count},
        {"--gpus", .number = &o->gpus},
        {"--lr", .real = &t->lr},
        {"--dropout", .real = &o->dropout},
        {"--temperature", .real = &o->temperature},
        {"--seed", .seed = &o->seed},
    };
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        print_help();
        exit(argc < 2 ? 2 : 0);
    }
    o->train = strcmp(argv[1], "train") == 0;
    if (!o->train && strcmp(argv[1], "sample") != 0) return refuse(argv[1], "train or sample?");
    for (int i = 2; i < argc; i++) {
        size_t k = 0;
        if (strcmp(argv[i], "--resume") == 0) {
            o->resume = true;
            continue;
        }
        if (strcmp(argv[i], "--fast") == 0) {
            o->fast = true;
            continue;
        }
        while (k < sizeof known / sizeof *known && strcmp(argv[i], known[k].name) != 0) k++;
        if (k == sizeof known / sizeof *known) return refuse(argv[i], "no such option; gpt --help");
        if (i + 1 == argc || !take_value(&known[k], argv[i + 1]))
            return refuse(argv[i], "a value is missing, or it cannot be this one");
        i++;
    }
    if (!gpt_config_is_valid(c)) return refuse("--heads", "they must divide the channels");
    if (functions_llama && c->channels / c->heads % 2 != 0)
        return refuse("--heads", "in a Llama block a head has an even number of channels");
    if (o->fast && c->channels / c->heads != 64 && c->channels / c->heads != 128)
        return refuse("--fast", "heads have 64 or 128 channels there");
    if (o->gpus > GPT_TEAM_MAX || (o->gpus > 0 && o->fast))
        return refuse("--gpus", "at most 8, and not with --fast");
    if (strcmp(o->comm, "ring") != 0 && strcmp(o->comm, "nccl") != 0)
        return refuse("--comm", "ring or nccl?");
    if (o->dropout >= 1 || (o->dropout > 0 && o->gpus > 0))
        return refuse("--dropout", "below 1, and not with --gpus");
    if (o->gpus > 0 && t->batch % o->gpus != 0)
        return refuse("--gpus", "they must divide the batch");
    t->last_lr = t->lr / 10;
    t->seq = c->context;
    t->seed = o->seed;
    return 0;
}
