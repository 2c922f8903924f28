/*
 * reads.c: read() and pread() as a library finds them (exports.list). Of the grader's file they may
 * return less than was asked for, or fail with EINTR, as POSIX allows: the first read does the one,
 * the second the other, all others one at random; or all fail with EIO. They can be held back, to
 * see who waits for them. Every other file is the kernel's.
 */
#include "worker.h"

#include "random.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define HELD_FOR 5000 /* milliseconds: then somebody waits for the read */

static struct {
    uint64_t seed;
    atomic_uint count; /* of reads since; a library may have threads */
    atomic_ullong bytes;
    atomic_bool held, waited_for;
    struct stat file;
} fate;

void reads_befall(uint64_t seed)
{
    atomic_store(&fate.count, 0);
    atomic_store(&fate.bytes, 0);
    atomic_store(&fate.waited_for, false);
    fate.seed = fstat(WIRE_FILE_FD, &fate.file) == 0 ? seed : 0;
}

static bool is_ours(int fd)
{
    struct stat facts;
    return fate.seed != 0 && fstat(fd, &facts) == 0 && facts.st_dev == fate.file.st_dev &&
           facts.st_ino == fate.file.st_ino;
}

bool reads_hold(bool held)
{
    atomic_store(&fate.held, held);
    return atomic_load(&fate.waited_for);
}

unsigned long long reads_brought(void)
{
    return atomic_load(&fate.bytes);
}

static void wait_while_held(void)
{
    if (atomic_load(&fate.waited_for)) return;
    for (int i = 0; i < HELD_FOR && atomic_load(&fate.held); i++) usleep(1000);
    if (atomic_load(&fate.held)) atomic_store(&fate.waited_for, true);
}

/* @return how many of the bytes are read; 0: none, and errno says why */
static size_t draw(int fd, size_t bytes)
{
    if (bytes == 0 || !is_ours(fd)) return bytes;
    wait_while_held();
    const unsigned number = atomic_fetch_add(&fate.count, 1);
    random_state rng = random_seed(fate.seed + number);
    const uint64_t lot = number < 2 ? number : random_below(&rng, 3);
    errno = fate.seed == WIRE_UNREADABLE ? EIO : EINTR;
    if (lot == 1 || errno == EIO) return 0;
    return lot == 2 ? bytes : bytes - (size_t)random_below(&rng, bytes);
}

static ssize_t count(int fd, ssize_t brought)
{
    if (brought > 0 && is_ours(fd)) atomic_fetch_add(&fate.bytes, (unsigned long long)brought);
    return brought;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    const size_t some = draw(fd, bytes);
    return some == 0 && bytes > 0 ? -1 : count(fd, syscall(SYS_read, fd, to, some));
}

ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    const size_t some = draw(fd, bytes);
    return some == 0 && bytes > 0 ? -1 : count(fd, syscall(SYS_pread64, fd, to, some, at));
}

/* The same by the names that compilers may give them. */
ssize_t pread64(int fd, void *to, size_t bytes, off64_t at)
{
    return pread(fd, to, bytes, at);
}

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room)
{
    if (bytes > room) __builtin_trap();
    return read(fd, to, bytes);
}

ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room)
{
    if (bytes > room) __builtin_trap();
    return pread(fd, to, bytes, at);
}

ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room)
{
    return __pread_chk(fd, to, bytes, at, room);
}
