/*
 * compiler.c: the command lines of the compilers, and the files that they see while they work on a
 * student's file: the contract headers, cucc and the libraries; and its own folder, which holds
 * nothing else.
 */
#include "compiling.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LIMIT        (64 << 10)
#define COMPILE_DEADLINE 120.0 /* seconds of a processor, of one compiler */
#define COMPILE_CLOCK    5.0   /* times that, by the clock: a busy machine fails nobody */
#define COMPILE_MEMORY                                                                             \
    ((size_t)4 << 30) /* addresses of one compiler; the largest takes 250 MiB                      \
                       */
#define COMPILE_FILE ((size_t)256 << 20)
#define ARGUMENTS    64

/* ---- command lines --------------------------------------------------------------------------- */

typedef struct command {
    const char *argv[ARGUMENTS + 1];
    char *owned[ARGUMENTS];
    int count, owned_count;
} command;

static void add(command *c, const char *word)
{
    if (c->count < ARGUMENTS) c->argv[c->count++] = word;
}

static void add_format(command *c, const char *format, const char *a, const char *b)
{
    char *word = NULL;
    if (asprintf(&word, format, a, b) < 0) return;
    c->owned[c->owned_count++] = word;
    add(c, word);
}

static void command_free(command *c)
{
    for (int i = 0; i < c->owned_count; i++) free(c->owned[i]);
}

static const char *tool(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? value : otherwise;
}

/* What only GPUs of compute capability 9.0 have is no part of plain sm_90. */
static void add_gpu(command *c, const build *b, const char *arch)
{
    if (b->exercise->sm_90a && strcmp(arch, "90") == 0) arch = "90a";
    add_format(c, "-gencode=arch=compute_%s,code=sm_%s", arch, arch);
}

/* For the GPU of this machine, or for all of $GPU_ARCHS and, as PTX, for those to come. */
static void add_gpus(command *c, const build *b)
{
    char archs[256], *rest = archs, *arch, *first = NULL;
    if (!b->processor) {
        if (b->exercise->sm_90a)
            add_gpu(c, b, tool("GPU_ARCH", "80"));
        else
            add_format(c, "-arch=sm_%s%s", tool("GPU_ARCH", "80"), "");
        add(c, "-lineinfo");
        return;
    }
    snprintf(archs, sizeof archs, "%s", tool("GPU_ARCHS", tool("GPU_ARCH", "80")));
    while ((arch = strsep(&rest, " "))) {
        if (!first) first = arch;
        add_gpu(c, b, arch);
    }
    add_format(c, "-gencode=arch=compute_%s,code=compute_%s", first, first);
}

/* The folder of the exercise, of every phase, and common/: their headers, as their link has them.
 */
static void add_include_folders(command *c, const options *o, const build *b)
{
    char pattern[PATH_MAX];
    glob_t found;
    const char *file = b->exercise->file;
    snprintf(pattern, sizeof pattern, "%.*s", (int)(strrchr(file, '/') - file), file);
    add_format(c, "-Icontracts/%s%s", pattern, "");
    add(c, "-Icontracts/common");
    contracts_folder(o, pattern);
    strncat(pattern, "/phase?_*", sizeof pattern - strlen(pattern) - 1);
    if (glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        add_format(c, "-Icontracts%s%s", strrchr(found.gl_pathv[i], '/'), "");
    }
    globfree(&found);
}

static const char *const host_options[] = {
    "-std=gnu11",
    "-falign-loops=64", /* else the speed of a loop depends on where it happens to lie */
    "-fPIC",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Werror=aggressive-loop-optimizations", /* a loop leaves an array for certain */
};
#define HOST_OPTIONS (sizeof host_options / sizeof *host_options)

static command compile_command(const options *o, const build *b, const char *source)
{
    command c = {0};
    if (b->place == ON_HOST) {
        add(&c, tool("CC", "cc"));
        add_format(&c, "-march=%s%s", b->processor ? b->processor : "native", "");
        for (size_t i = 0; i < HOST_OPTIONS; i++) add(&c, host_options[i]);
    } else {
        if (b->place == ON_SOFTGPU) {
            add_format(&c, "%s/emulator/cucc%s", o->root, "");
            add_format(&c, "--precompiled=%s/precompiled%s", o->build, "");
            if (b->exercise->softgpu_90)
                add(&c, b->exercise->sm_90a ? "-arch=sm_90a" : "-arch=sm_90");
            if (b->processor) add(&c, "--no-lines");
        } else {
            add(&c, tool("NVCC", "nvcc"));
            add_gpus(&c, b);
        }
        add(&c, "-Xcompiler");
        add(&c, "-fPIC,-Wall,-Wextra");
    }
    if (b->processor) add(&c, "-DCUDA_CHECK_NAMES=0");
    add(&c, "-O3");
    add_include_folders(&c, o, b);
    add(&c, "-MD");
    add(&c, "-MF");
    add(&c, HEADERS_FILE);
    add(&c, "-c");
    add(&c, source);
    add(&c, "-o");
    add(&c, "exercise.o");
    return c;
}

/* By its path; or, to be handed out, by its name, to be found in the same folder. */
static void add_needed(command *c, const build *b, const char *library)
{
    char folder[PATH_MAX];
    const char *name = strrchr(library, '/') + 1;
    if (!b->processor) {
        add(c, library);
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(name - library), library);
    add_format(c, "-L%s%s", folder, "");
    add_format(c, "-l:%s%s", name, "");
    add(c, "-Wl,-rpath,$ORIGIN");
}

/* Unlike the runtime no worker has it already, so the library says where it lies. */
static void add_cublas(command *c, const options *o, const build *b)
{
    const char *folder =
        b->place == ON_SOFTGPU ? o->build : tool("CUDA_LIB", "/usr/local/cuda/lib64");
    if (b->place == ON_SOFTGPU) add_format(c, "%s/libsoftgpu_cublas.so%s", o->build, "");
    if (b->place == ON_GPU) add(c, "-lcublas");
    if (b->processor && b->place == ON_SOFTGPU) folder = "$ORIGIN/../../build"; /* handed out */
    add_format(c, "-Wl,-rpath,%s%s", folder, "");
}

static command link_command(const options *o, const build *b)
{
    command c = {0};
    add(&c, b->place == ON_HOST ? tool("CC", "cc") : tool("CXX", "c++"));
    add(&c, "-shared");
    add(&c, "-o");
    add(&c, "exercise.so");
    add(&c, "exercise.o");
    add(&c, "-Wl,-Bsymbolic");
    add(&c, "-Wl,-z,defs");
    add(&c, "-Wl,--version-script=exports.map");
    add(&c, "-Wl,--no-as-needed"); /* Python finds them through this one, called from here or not */
    for (int i = 0; b->needs[i]; i++) add_needed(&c, b, b->needs[i]->library);
    if (b->processor) add(&c, "-Wl,-s,--build-id=none");
    add_format(&c, "%s/libcourse.so%s", o->build, "");
    if (b->place == ON_SOFTGPU) add_format(&c, "%s/libsoftgpu.so%s", o->build, "");
    if (b->place == ON_GPU) {
        add_format(&c, "-L%s%s", tool("CUDA_LIB", "/usr/local/cuda/lib64"), "");
        add(&c, "-lcudart");
    }
    if (b->exercise->cublas) add_cublas(&c, o, b);
    add(&c, "-lm");
    add(&c, "-pthread");
    return c;
}

/* ---- what compilers say of themselves ---------------------------------------------------------
 */

const char *toolchain(const options *o)
{
    static char text[4096], cucc_path[PATH_MAX];
    if (text[0]) return text;
    snprintf(cucc_path, sizeof cucc_path, "%s/emulator/cucc", o->root);
    const char *const cc[] = {tool("CC", "cc"), "--version", NULL};
    const char *const nvcc[] = {tool("NVCC", "nvcc"), "--version", NULL};
    const char *const cucc[] = {cucc_path, "--version", NULL};
    process_result a = process_run(cc, NULL, 10.0, 512);
    process_result b = process_run(nvcc, NULL, 10.0, 512);
    process_result c = process_run(cucc, NULL, 10.0, 1024);
    snprintf(text, sizeof text, "%s\n%s\n%s\n%s", a.output, b.output, c.output,
             tool("GPU_ARCH", ""));
    free(a.output);
    free(b.output);
    free(c.output);
    return text;
}

/* A new compiler builds anew; so does another processor, which is what "native" means. */
static const char *native_processor(void)
{
    static char *text;
    const char *const cc[] = {
        tool("CC", "cc"), "-march=native", "-###", "-E", "-xc", "/dev/null", NULL};
    if (!text) text = process_run(cc, "/", 10.0, 1 << 14).output;
    return text ? text : "";
}

void compiler_hash(const options *o, hash *h)
{
    hash_text(h, toolchain(o));
    hash_text(h, native_processor());
    hash_text(h, tool("CUCC_FRONTEND", ""));
    hash_text(h, tool("GPU_ARCHS", ""));
    for (size_t i = 0; i < HOST_OPTIONS; i++) hash_text(h, host_options[i]);
}

/* ---- at work --------------------------------------------------------------------------------- */

static process_result run_command(const options *o, command c, const build *b, const char *folder,
                                  char *const needs[], int need_count)
{
    const double seconds = COMPILE_DEADLINE * (b->hurry > 0 ? b->hurry : 1.0);
    const char *file = b->exercise->file;
    const int above =
        (int)(strlen(folder) - (size_t)(strrchr(file, '/') - file)); /* of the folder */
    enum { PATHS = 12 };
    static const char *const cucc[] = {"cucc", "frontends", "include"};
    static const char *const built[] = {"libcourse.so", "libsoftgpu.so", "precompiled"};
    char paths[PATHS][PATH_MAX];
    const char *read[PATHS + LIBRARIES_MAX + 1] = {NULL};
    contracts_folder(o, paths[0]);
    int count = 1;
    for (size_t i = 0; i < sizeof cucc / sizeof *cucc; i++) {
        snprintf(paths[count++], PATH_MAX, "%s/emulator/%s", o->root, cucc[i]);
    }
    for (size_t i = 0; i < sizeof built / sizeof *built; i++) {
        snprintf(paths[count++], PATH_MAX, "%s/%s", o->build, built[i]);
    }
    if (b->exercise->cublas)
        snprintf(paths[count++], PATH_MAX, "%s/libsoftgpu_cublas.so", o->build);
    for (int i = 0; !b->baseline && b->exercise->includes[i]; i++) {
        snprintf(paths[count++], PATH_MAX, "%.*s%s", above, folder, b->exercise->includes[i]);
    }
    for (int i = 0; i < count; i++) read[i] = paths[i];
    for (int i = 0; i < need_count; i++) read[count + i] = needs[i];
    const plan plan = {.read = read,
                       .write = folder,
                       .cpu_seconds = (unsigned)seconds,
                       .address_bytes = COMPILE_MEMORY,
                       .file_bytes = COMPILE_FILE};
    process_result r = jail_run(&plan, c.argv, COMPILE_CLOCK * seconds, LOG_LIMIT);
    command_free(&c);
    return r;
}

process_result compiler_compile(const options *o, const build *b, const char *source,
                                const char *folder)
{
    return run_command(o, compile_command(o, b, source), b, folder, NULL, 0);
}

process_result compiler_link(const options *o, const build *b, const char *folder)
{
    char *needs[LIBRARIES_MAX];
    const int count = build_needs(b->library, needs);
    process_result r = run_command(o, link_command(o, b), b, folder, needs, count);
    for (int i = 0; i < count; i++) free(needs[i]);
    return r;
}
