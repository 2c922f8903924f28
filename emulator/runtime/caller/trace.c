/*
 * trace.c: where in the program something was called: an allocation, a free, a launch. To remember
 * it costs a microsecond; to name the line, which only a finding wants, asks addr2line, which reads
 * the debug information that cucc has the host compiler leave. Without that the function is named.
 *
 * The place that counts is the first one in a source file of the program itself; a header only when
 * there is no other, as a wrapper of cudaMalloc in a header is not where the program wanted memory.
 * Everything here may run in a signal handler.
 */
#define _GNU_SOURCE
#include "caller.h"

#include "runtime/finding/finding.h"

#include <dlfcn.h>
#include <link.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWN_FRAMES = 10, OUTPUT = 8192 };

/** The object (program or library) that holds an address, and the address as addr2line wants it. */
struct spot {
    const char *object;
    uintptr_t base, address;
};

static bool find_spot(const void *pc, struct spot *spot)
{
    Dl_info info;

    if (!pc || !dladdr(pc, &info) || !info.dli_fbase) return false;
    const ElfW(Ehdr) *header = info.dli_fbase;
    spot->object = info.dli_fname;
    spot->base = (uintptr_t)info.dli_fbase;
    spot->address = (uintptr_t)pc - 1 - (header->e_type == ET_DYN ? spot->base : 0);
    return true;
}

static uintptr_t own_base(void)
{
    Dl_info info;

    return dladdr((const void *)&own_base, &info) ? (uintptr_t)info.dli_fbase : 0;
}

/** Is it the program itself? Its name may be relative to a folder that it has left since. */
static const char *object_file(const struct spot *spot, char *room, size_t size)
{
    ssize_t length;

    if (access(spot->object, R_OK) == 0 && strchr(spot->object, '/')) return spot->object;
    length = readlink("/proc/self/exe", room, size - 1);
    if (length < 0) return spot->object;
    room[length] = '\0';
    return room;
}

struct trace trace_here(void)
{
    static uintptr_t own;
    void *frames[OWN_FRAMES + TRACE_FRAMES];
    int count = backtrace(frames, OWN_FRAMES + TRACE_FRAMES), kept = 0;
    struct trace trace = {{0}};
    Dl_info info;
    bool seen = false; /* our own frames; a sanitizer's may come before them */

    if (!own) own = own_base();
    for (int i = 0; i < count && kept < TRACE_FRAMES; i++) {
        bool ours = !kept && dladdr(frames[i], &info) && (uintptr_t)info.dli_fbase == own;
        seen |= ours;
        if (seen && !ours) trace.frame[kept++] = frames[i];
    }
    return trace;
}

/* ---- addr2line ------------------------------------------------------------------------------- */

static void become_addr2line(int output, char **arguments)
{
    putenv((char *)"DEBUGINFOD_URLS=");
    dup2(output, STDOUT_FILENO);
    close(STDERR_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

/** Run it and keep what it writes. */
static void run(char **arguments, char *output, size_t size)
{
    int ends[2];
    size_t used = 0;
    ssize_t got;

    output[0] = '\0';
    if (pipe(ends)) return;
    pid_t child = fork();
    if (child == 0) become_addr2line(ends[1], arguments);
    close(ends[1]);
    while (child > 0 && used + 1 < size &&
           (got = read(ends[0], output + used, size - 1 - used)) > 0)
        used += (size_t)got;
    close(ends[0]);
    output[used] = '\0';
    if (child > 0) waitpid(child, NULL, 0);
}

/** In the system's libraries nobody looks for a mistake. */
static bool is_of_interest(const struct spot *spot)
{
    return strncmp(spot->object, "/lib", 4) != 0 && strncmp(spot->object, "/usr/lib", 8) != 0;
}

static bool find_first(const struct trace *trace, struct spot *spot)
{
    for (int i = 0; i < TRACE_FRAMES; i++)
        if (find_spot(trace->frame[i], spot) && is_of_interest(spot)) return true;
    return false;
}

/** All frames that lie in the object of the first one: "function\nfile:line\n" for each, and for
 *  each function that was inlined there. */
static void ask(const struct trace *trace, char *output, size_t size)
{
    char hex[TRACE_FRAMES][24], path[4096];
    char *arguments[6 + TRACE_FRAMES] = {"addr2line", "-f", "-i", "-C", "-e"};
    int count = 6;
    struct spot first, spot;

    output[0] = '\0';
    if (!find_first(trace, &first)) return;
    arguments[5] = (char *)object_file(&first, path, sizeof path);
    for (int i = 0; i < TRACE_FRAMES; i++) {
        if (!find_spot(trace->frame[i], &spot) || spot.base != first.base) continue;
        snprintf(hex[i], sizeof hex[i], "0x%lx", (unsigned long)spot.address);
        arguments[count++] = hex[i];
    }
    run(arguments, output, size);
}

/* ---- the frame that counts ------------------------------------------------------------------- */

static bool is_system(const char *file)
{
    static const char *const signs[] = {"/cuda/", "/usr/include/", "/targets/", "/nvidia/",
                                        "/cuda-", ".stub.c",       ".cudafe1."};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(file, signs[i])) return true;
    return *file == '?';
}

static bool is_header(const char *file, size_t length)
{
    static const char *const endings[] = {".h", ".cuh", ".hpp", ".hh", ".inl"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && !strncmp(file + length - n, endings[i], n)) return true;
    }
    return false;
}

/** "k" of "void k<float>(float*)", as the stub of a kernel is called. */
static bool is_function(const char *full, const char *name)
{
    const char *at = name && *name ? strstr(full, name) : NULL;
    size_t length = at ? strlen(name) : 0;

    return at && (at == full || at[-1] == ' ' || at[-1] == ':' || at[-1] == '_') &&
           (at[length] == '(' || at[length] == '<' || at[length] == '\0');
}

static char *next_line(char **rest)
{
    char *line = strsep(rest, "\n");

    return line && *line ? line : NULL;
}

/** Choose among addr2line's answers. `place`: "x.cu:12", or "" ; `in`: a function, or "". */
static void choose(char *output, const char *stub, char *place, char *in, size_t size)
{
    char *rest = output, *function, *file;
    bool settled = false;

    if (stub && next_line(&rest))
        next_line(&rest); /* inlined it may have no name: the launch is in it */
    while (!settled && (function = next_line(&rest)) && (file = next_line(&rest))) {
        char *colon = strrchr(file, ':');
        if (strstr(function, "__device_stub__Z") && next_line(&rest))
            next_line(&rest); /* nvcc's stub: the kernel's own name calls it */
        if (strstr(function, "__device_stub_") || is_function(function, stub)) continue;
        if (!*in && *function != '?') snprintf(in, size, "%s", function);
        if (!colon || is_system(file) || colon[1] == '?' || colon[1] == '0') continue;
        bool header = is_header(file, (size_t)(colon - file));
        if (*place && header) continue;
        colon[1 + strspn(colon + 1, "0123456789")] = '\0'; /* " (discriminator 2)" */
        snprintf(place, size, "%s", shorten(file));
        settled = !header;
    }
}

void trace_place(const struct trace *trace, const char *stub, char *text, size_t size)
{
    char output[OUTPUT], place[512] = "", in[256] = "";

    text[0] = '\0';
    if (!trace->frame[0]) return;
    ask(trace, output, sizeof output);
    choose(output, stub, place, in, sizeof in);
    if (*place)
        snprintf(text, size, " at %s", place);
    else if (*in)
        snprintf(text, size, " in %s", in);
}
