/* options.c: the command line. */
#include "program.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN  32
#define SIZE_MAX_ 1024
#define BATCH_MAX 1024

const char *const precision_names[3] = {"fp32", "tf32", "fp16"};

enum { ANSWERS = 256, BUDGET, CSV, GENERATE, HELP, IMAGES, REPEATS, SEED, SIZE, WARMUP, WEIGHTS };

static const struct option long_options[] = {
    {"impl", required_argument, NULL, 'i'},
    {"precision", required_argument, NULL, 'p'},
    {"batch", required_argument, NULL, 'b'},
    {"batches", required_argument, NULL, 'b'},
    {"size", required_argument, NULL, SIZE},
    {"weights", required_argument, NULL, WEIGHTS},
    {"seed", required_argument, NULL, SEED},
    {"repeats", required_argument, NULL, REPEATS},
    {"warmup", required_argument, NULL, WARMUP},
    {"budget", required_argument, NULL, BUDGET},
    {"images", required_argument, NULL, IMAGES},
    {"answers", required_argument, NULL, ANSWERS},
    {"csv", no_argument, NULL, CSV},
    {"verify", no_argument, NULL, 'v'},
    {"profile", no_argument, NULL, 'P'},
    {"generate", required_argument, NULL, GENERATE},
    {"help", no_argument, NULL, HELP},
    {0},
};

static void print_help(void)
{
    printf("usage: resnet18 [OPTION ...]\n"
           "Runs ResNet-18: how fast at each batch size, with what memory, and is it right?\n\n"
           "  --impl NAME,...        which (default: resident), or all:\n");
    for (const implementation *i = implementations; i->name; i++) {
        printf("      %-12s %s\n", i->name, i->what);
    }
    printf("  --precision P,...      of optimized: fp32 (default), tf32, fp16\n"
           "  --batches N,...        images in a batch (default: 1); --batch N is the same\n"
           "  --size N               pixels a side (default: 224)\n"
           "  --weights FILE         parameters (phase5_full_network/504_resnet18_cpu/README.md "
           "has the format)\n"
           "  --seed S               without a file: parameters from a seed (default: 1)\n"
           "  --generate FILE        write the parameters to a file, and nothing else\n"
           "  --repeats R            timed calls of a batch (default: 15), --warmup W (3) before\n"
           "  --budget SECONDS       what a row may take before it is scaled from a smaller batch\n"
           "                         (default: 10; 0: no limit)\n"
           "  --verify               compare with the CPU, layer by layer; exit status 1 where it\n"
           "                         differs; --images N (default: 8) of them\n"
           "  --answers FILE         with --verify: write these images and the CPU's logits\n"
           "  --profile              time of each kind of layer\n"
           "  --csv                  rows for a program to read: docs/resnet18.md\n");
}

static int refuse(const char *what, const char *text, const char *why)
{
    fprintf(stderr, "resnet18: %s '%s': %s\n", what, text, why);
    return 2;
}

/* A whole number from low to high, up to `end`. */
static bool number_of(long *n, const char *text, const char *end, long low, long high)
{
    char *stop;
    errno = 0;
    *n = strtol(text, &stop, 10);
    return errno == 0 && stop == end && stop != text && *n >= low && *n <= high;
}

static int take_number(int *n, const char *what, const char *text, int low, int high)
{
    char why[80];
    long value;
    snprintf(why, sizeof why, "must be a whole number from %d to %d", low, high);
    if (!number_of(&value, text, text + strlen(text), low, high)) return refuse(what, text, why);
    *n = (int)value;
    return 0;
}

/* Each part of a list that commas separate. */
static int each_part(options *o, const char *text, int (*take)(options *, const char *, size_t))
{
    for (;;) {
        const size_t length = strcspn(text, ",");
        const int status = take(o, text, length);
        if (status || !text[length]) return status;
        text += length + 1;
    }
}

static int take_batch(options *o, const char *text, size_t length)
{
    long n;
    if (o->count == BATCHES_MAX) return refuse("--batches", text, "too many of them");
    if (!number_of(&n, text, text + length, 1, BATCH_MAX))
        return refuse("--batches", text, "must be whole numbers from 1 to 1024");
    for (int i = 0; i < o->count; i++) {
        if (o->batches[i] == n) return refuse("--batches", text, "the same twice");
    }
    o->batches[o->count++] = (int)n;
    return 0;
}

static int take_impl(options *o, const char *text, size_t length)
{
    int n = 0;
    while (o->impls[n]) n++;
    if (length == 3 && strncmp(text, "all", 3) == 0) {
        for (n = 0; implementations[n].name; n++) o->impls[n] = &implementations[n];
        return 0;
    }
    const implementation *impl = implementation_find(text, length);
    if (!impl) return refuse("--impl", text, "cpu, transfer, conv_bn, resident, optimized or all");
    if (n == 7) return refuse("--impl", text, "too many of them");
    o->impls[n] = impl;
    return 0;
}

static int take_precision(options *o, const char *text, size_t length)
{
    for (int i = 0; i < 3 && o->precision_count < 3; i++) {
        if (strlen(precision_names[i]) != length || strncmp(precision_names[i], text, length))
            continue;
        o->precisions[o->precision_count++] = (resnet18_precision)i;
        return 0;
    }
    return refuse("--precision", text, "fp32, tf32 or fp16, each at most once");
}

static int take_seconds(double *seconds, const char *text)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds >= 0.0 && *seconds <= 1e6))
        return refuse("--budget", text, "must be seconds, 0 for no limit");
    return 0;
}

static int take_seed(unsigned long long *seed, const char *text)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-')
        return refuse("--seed", text, "must be a whole number, not negative");
    return 0;
}

static int take(options *o, int option, const char *text)
{
    switch (option) {
    case 'i': return each_part(o, text, take_impl);
    case 'p': return each_part(o, text, take_precision);
    case 'b': return each_part(o, text, take_batch);
    case SIZE: return take_number(&o->size, "--size", text, SIZE_MIN, SIZE_MAX_);
    case WEIGHTS: o->weights = text; return 0;
    case SEED: return take_seed(&o->seed, text);
    case REPEATS: return take_number(&o->repeats, "--repeats", text, 1, 10000);
    case WARMUP: return take_number(&o->warmup, "--warmup", text, 0, 10000);
    case BUDGET: return take_seconds(&o->budget, text);
    case IMAGES: return take_number(&o->images, "--images", text, 1, 256);
    case ANSWERS: o->answers = text; return 0;
    case CSV: o->csv = true; return 0;
    case 'v': o->verify = true; return 0;
    case 'P': o->profile = true; return 0;
    case GENERATE: o->generate = text; return 0;
    default: return 2; /* getopt has said it */
    }
}

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int options_parse(options *o, int argc, char **argv, bool *done)
{
    *o = (options){.size = 224, .repeats = 15, .warmup = 3, .images = 8, .budget = 10, .seed = 1};
    *done = false;
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (option == HELP) {
            print_help();
            *done = true;
            return 0;
        }
        const int status = take(o, option, optarg);
        if (status) return status;
    }
    if (optind < argc) return refuse("argument", argv[optind], "no option; --help lists them");
    if (o->answers && !o->verify) return refuse("--answers", o->answers, "needs --verify");
    if (!o->impls[0]) o->impls[0] = implementation_find("resident", strlen("resident"));
    if (o->count == 0) o->batches[o->count++] = 1;
    if (o->precision_count == 0) o->precisions[o->precision_count++] = RESNET18_FP32;
    qsort(o->batches, (size_t)o->count, sizeof *o->batches, by_size);
    return 0;
}
