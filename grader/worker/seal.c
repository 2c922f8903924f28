/*
 * seal.c: what is read-only in the worker and in the libraries that it has by now stays so: their
 * code, and the tables of the functions that they call. Else a student's library could put a
 * function of its own into such a table, and do the work while buffers are filled, before the clock
 * starts.
 */
#include "worker.h"

#include <link.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mseal
#define SYS_mseal 462 /* of Linux 6.10; an older kernel has no such call, and nothing is sealed */
#endif

/* Of tables that the linker fills, whole pages are read-only. */
static int seal(struct dl_phdr_info *image, size_t bytes, void *unused)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)bytes, (void)unused;
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[i];
        const bool is_table = part->p_type == PT_GNU_RELRO;
        if (!is_table && (part->p_type != PT_LOAD || part->p_flags & PF_W)) continue;
        const uintptr_t begin = image->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        const uintptr_t first = begin / page * page, last = (end + !is_table * (page - 1)) / page;
        if (last * page > first) syscall(SYS_mseal, first, last * page - first, 0);
    }
    return 0;
}

void seal_images(void)
{
    dl_iterate_phdr(seal, NULL);
}
