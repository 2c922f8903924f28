// HOSTILE: n=1 | crashed | on a gpu
// Puts a clock of its own into the worker's table of functions. Linux before 6.10 does not hinder it.
#include "203_vector_add/vector_add.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>

typedef ElfW(Phdr) header;
typedef ElfW(Rela) entry;

static cudaError_t half_the_time(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    const cudaError_t error = cudaEventElapsedTime(ms, start, stop);
    *ms /= 2;
    return error;
}

static bool has_seal(void)
{
    struct utsname u;
    int major = 0, minor = 0;
    uname(&u);
    major = atoi(u.release);
    if (strchr(u.release, '.')) minor = atoi(strchr(u.release, '.') + 1);
    return major > 6 || (major == 6 && minor >= 10);
}

/* The program's image is where its table of headers says that it is itself. */
static void replace(const char *name, void *by)
{
    const header *h = (const header *)getauxval(AT_PHDR);
    uintptr_t base = 0, table[DT_NUM] = {0};
    const int count = (int)getauxval(AT_PHNUM);
    for (int i = 0; i < count; i++)
        if (h[i].p_type == PT_PHDR) base = (uintptr_t)h - h[i].p_vaddr;
    for (int i = 0; i < count; i++) {
        if (h[i].p_type != PT_DYNAMIC) continue;
        for (const ElfW(Dyn) *d = (const ElfW(Dyn) *)(base + h[i].p_vaddr); d->d_tag; d++)
            if (d->d_tag < DT_NUM) table[d->d_tag] = d->d_un.d_ptr;
    }
    const char *names = (const char *)table[DT_STRTAB];
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)table[DT_SYMTAB];
    const int tables[2][2] = {{DT_JMPREL, DT_PLTRELSZ}, {DT_RELA, DT_RELASZ}};
    for (int t = 0; t < 2; t++) {
        const entry *e = (const entry *)table[tables[t][0]];
        for (size_t i = 0; i < table[tables[t][1]] / sizeof *e; i++) {
            if (strcmp(names + symbols[ELF64_R_SYM(e[i].r_info)].st_name, name) != 0) continue;
            void **slot = (void **)(base + e[i].r_offset);
            mprotect((void *)((uintptr_t)slot / 4096 * 4096), 4096, PROT_READ | PROT_WRITE);
            *slot = by;
        }
    }
}

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    if (!has_seal()) abort();
    if (n) replace("cudaEventElapsedTime", (void *)half_the_time);
    if (n) add_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(c, a, b, n);
    return cudaGetLastError();
}
