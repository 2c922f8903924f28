/*
 * imports.c: the functions that a submission's object imports. Most of the C library is allowed.
 * Functions that load libraries, look up functions or speak for softgpu are not: with them other
 * code could do the exercise. The object is checked, not the library: a compiler's own parts,
 * linked in, call what they need.
 */
#include "compiling.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECT_LIMIT (16 << 20)

static const struct {
    const char *pattern, *why;
} refused[] = {
    {"dl[a-z]*", "no exercise loads libraries or looks into them"},
    {"_dl_*", "no exercise loads libraries or looks into them"},
    {"__libc_dl*", "no exercise loads libraries or looks into them"},
    {"_rtld_*", "no exercise loads libraries or looks into them"},
    {"_r_debug", "no exercise loads libraries or looks into them"},
    {"syscall", "no exercise calls the kernel past the C library"},
    {"softgpu_*", "the grader and softgpu communicate by it"},
    {"cuModule*", "no exercise loads kernels from anywhere but its source"},
    {"cuLibrary*", "no exercise loads kernels from anywhere but its source"},
    {"cudaLibrary*", "no exercise loads kernels from anywhere but its source"},
    {"cublas*", "only exercises about cuBLAS may call it"},
};

/* An object as a file in memory; a student's compiler made it, so nothing in it is believed. */
typedef struct image {
    char *bytes;
    size_t size;
} image;

static const void *part(const image *i, uint64_t offset, uint64_t size)
{
    return offset <= i->size && size <= i->size - offset ? i->bytes + offset : NULL;
}

static const Elf64_Shdr *section(const image *i, uint32_t number)
{
    const Elf64_Ehdr *head = part(i, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || number >= head->e_shnum)
        return NULL;
    return part(i, head->e_shoff + (uint64_t)number * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

static const Elf64_Shdr *symbols_of(const image *i)
{
    const Elf64_Shdr *s;
    uint32_t number = 0;
    while ((s = section(i, number)) && s->sh_type != SHT_SYMTAB) number++;
    return s;
}

/* @return the name of the symbol where another has it, or NULL */
static const char *import(const image *i, const Elf64_Shdr *table, uint64_t number)
{
    const Elf64_Sym *symbol = part(i, table->sh_offset + number * sizeof *symbol, sizeof *symbol);
    const Elf64_Shdr *names = section(i, table->sh_link);
    if (!symbol || !names || symbol->st_shndx != SHN_UNDEF) return NULL;
    const char *name = part(i, names->sh_offset + symbol->st_name, 1);
    return name && memchr(name, '\0', (size_t)(i->bytes + i->size - name)) ? name : NULL;
}

/* @return why nobody may ask for that name, or NULL */
static const char *refusal(const build *b, const char *name)
{
    const bool cublas = b->exercise->cublas && !b->baseline;
    if (cublas && strcmp(name, "__cudaRegisterFunction") == 0)
        return "cuBLAS does the work, and no other kernel is launched";
    char bare[64]; /* without the version that .symver gives */
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, "@"), name);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (b->exercise->cublas && strncmp(bare, "cublas", 6) == 0) continue;
        if (fnmatch(refused[i].pattern, bare, 0) == 0) return refused[i].why;
    }
    return NULL;
}

static image read_image(const char *path)
{
    struct stat facts;
    image i = {0};
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return i;
    const bool fits = fstat(file, &facts) == 0 && facts.st_size <= OBJECT_LIMIT;
    if (fits) i.bytes = malloc((size_t)facts.st_size + 1);
    const ssize_t got = i.bytes ? read(file, i.bytes, (size_t)facts.st_size) : 0;
    i.size = got > 0 ? (size_t)got : 0;
    close(file);
    return i;
}

void imports_hash(hash *h)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) hash_text(h, refused[i].pattern);
}

char *imports_refused(const build *b, const char *object)
{
    image i = read_image(object);
    const Elf64_Shdr *table = symbols_of(&i);
    char *message = NULL;
    for (uint64_t n = 0; table && !message && n < table->sh_size / sizeof(Elf64_Sym); n++) {
        const char *name = import(&i, table, n), *why = name ? refusal(b, name) : NULL;
        if (why && asprintf(&message, "%s calls %s: %s\n", b->file, name, why) < 0) abort();
    }
    if (!table &&
        asprintf(&message, "the object of %s is larger than 16 MiB, or has no table of symbols\n",
                 b->file) < 0)
        abort();
    free(i.bytes);
    return message;
}
