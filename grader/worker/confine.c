/*
 * confine.c: the rights that a worker gives up before it loads a student's library: unlimited
 * memory, files and processes, and every system call that no exercise needs. The filter is a few
 * instructions of BPF that the kernel runs for each call; it needs no library.
 */
#include "worker.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_LIMIT   (64u << 20)        /* bytes of a file that the library may write */
#define MEMORY_LIMIT ((size_t)16 << 30) /* addresses beyond those that a worker starts with */
#define PROCESSES    1024               /* threads too */

/* ---- system calls ---------------------------------------------------------------------------- */

/* They fail with EPERM. Processes are made by clone, which threads need as well: see below. */
static const int forbidden[] = {
    SYS_execve,
    SYS_execveat,
    SYS_setsid,
    SYS_setpgid,
    SYS_unshare,
    SYS_setns,
    /* other processes */
    SYS_ptrace,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    /* mounts */
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_quotactl,
    SYS_swapon,
    SYS_swapoff,
    SYS_fanotify_init,
    /* the machine */
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_acct,
    SYS_syslog,
    SYS_personality,
    SYS_vhangup,
    /* what has been the way into kernels */
    SYS_bpf,
    SYS_perf_event_open,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
#endif
#ifdef SYS_open_tree
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
#endif
    /* the rights and times of files, which Landlock leaves alone */
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    /* when others run */
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_migrate_pages,
    SYS_move_pages,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_iopl,
    SYS_ioperm,
#endif
};

/* The driver of a real GPU may want these. What is allocated by the last five is in no process's
 * limit. */
static const int forbidden_without_gpu[] = {SYS_process_vm_readv,
                                            SYS_process_vm_writev,
                                            SYS_socket,
                                            SYS_userfaultfd,
                                            SYS_kcmp,
                                            SYS_memfd_create,
                                            SYS_shmget,
                                            SYS_semget,
                                            SYS_msgget,
                                            SYS_mq_open,
#ifdef SYS_pidfd_open
                                            SYS_pidfd_open,
                                            SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_getfd
                                            SYS_pidfd_getfd
#endif
};

/* From here on calls, the same on all processors, that no library of today needs; behind them those
 * of another interface, x32. They are answered as by a kernel that is older than they are. */
#define NUMBERS_END 442

/* Of fcntl and ioctl: whom a file sends a signal to, and which. */
static const uint32_t own_file[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX},
                      own_device[] = {FIOSETOWN, SIOCSPGRP};

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

typedef struct filter {
    struct sock_filter at[512];
    unsigned short count;
} filter;

static void add(filter *f, struct sock_filter instruction)
{
    f->at[f->count++] = instruction;
}

static void load(filter *f, size_t offset)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* If the loaded value compares so with `value`, end with `result`. */
static void end_if(filter *f, unsigned compare, uint32_t value, uint32_t result)
{
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | compare | BPF_K, value, 0, 1));
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result));
}

/* One call that is allowed if its argument compares so, and fails otherwise. */
static void allow_only(filter *f, int number, unsigned argument, unsigned compare, uint32_t value)
{
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4));
    load(f, offsetof(struct seccomp_data, args) + 8 * argument);
    end_if(f, compare, value, SECCOMP_RET_ALLOW);
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
}

/* One call that fails if its second argument is one of these. */
static void forbid_with(filter *f, int number, const uint32_t *values, unsigned char count)
{
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0,
                                        (unsigned char)(2 * count + 2)));
    load(f, offsetof(struct seccomp_data, args) + 8);
    for (int i = 0; i < count; i++) end_if(f, BPF_JEQ, values[i], SECCOMP_RET_ERRNO | EPERM);
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static void forbid(filter *f, const int *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        end_if(f, BPF_JEQ, (uint32_t)numbers[i], SECCOMP_RET_ERRNO | EPERM);
    }
}

static void write_filter(filter *f, bool gpu)
{
    static const int own[] = {SYS_prlimit64, SYS_sched_setscheduler, SYS_sched_setparam,
                              SYS_sched_setattr, SYS_sched_setaffinity};
    load(f, offsetof(struct seccomp_data, arch));
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    load(f, offsetof(struct seccomp_data, nr));
    end_if(f, BPF_JGE, NUMBERS_END, SECCOMP_RET_ERRNO | ENOSYS);
    forbid(f, forbidden, sizeof forbidden / sizeof *forbidden);
    if (!gpu) forbid(f, forbidden_without_gpu, sizeof forbidden_without_gpu / sizeof(int));
    /* The arguments of clone3 lie in memory, where no filter looks: glibc then takes clone. */
    end_if(f, BPF_JEQ, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    forbid_with(f, SYS_fcntl, own_file, sizeof own_file / sizeof *own_file);
    forbid_with(f, SYS_ioctl, own_device, sizeof own_device / sizeof *own_device);
    allow_only(f, SYS_clone, 0, BPF_JSET, CLONE_THREAD);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) allow_only(f, own[i], 0, BPF_JEQ, 0);
    allow_only(f, SYS_kill, 0, BPF_JEQ, (uint32_t)getpid());
    allow_only(f, SYS_tgkill, 0, BPF_JEQ, (uint32_t)getpid());
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static bool install(const filter *f, unsigned long flags)
{
    const struct sock_fprog program = {f->count, (struct sock_filter *)f->at};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

/* For all threads that there are, since a driver's may call the student's functions. Without
 * SPEC_ALLOW, which not every kernel knows, some would slow the code down. */
static bool filter_calls(bool gpu)
{
    static filter f;
    const unsigned long all = SECCOMP_FILTER_FLAG_TSYNC;
    f.count = 0;
    write_filter(&f, gpu);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return install(&f, all | SECCOMP_FILTER_FLAG_SPEC_ALLOW) || install(&f, all);
}

#else

static bool filter_calls(bool gpu)
{
    (void)gpu;
    return false;
}

#endif

/* ---- limits ---------------------------------------------------------------------------------- */

static void set_soft(int resource, rlim_t value)
{
    struct rlimit limit;
    getrlimit(resource, &limit);
    if (value > limit.rlim_max) value = limit.rlim_max;
    setrlimit(resource, &(struct rlimit){value, limit.rlim_max});
}

static bool can_fork(void)
{
    int status = 1;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Where processes are counted by user, and the user has many elsewhere, there can be no limit. */
void confine_processes(void)
{
    set_soft(RLIMIT_NPROC, PROCESSES);
    const rlim_t value = can_fork() ? PROCESSES : RLIM_INFINITY;
    set_soft(RLIMIT_NPROC, value);
    if (value == PROCESSES) setrlimit(RLIMIT_NPROC, &(struct rlimit){value, value});
}

static size_t addresses_in_use(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* softgpu reserves addresses that it never uses, so the limit counts from what is taken already; a
 * real GPU's driver goes on to reserve. */
static bool limit_memory(void)
{
    const size_t used = addresses_in_use(), all = used + MEMORY_LIMIT;
    return used > 0 && setrlimit(RLIMIT_AS, &(struct rlimit){all, all}) == 0;
}

confined confine(bool gpu)
{
    confined done = {.limits = true};
    if (!gpu) done.limits = limit_memory();
    done.limits &= setrlimit(RLIMIT_FSIZE, &(struct rlimit){FILE_LIMIT, FILE_LIMIT}) == 0;
    done.seccomp = filter_calls(gpu);
    return done;
}

/* What the device needs afterwards still works: a real one is tried, softgpu is not started. */
int confine_probe(const char *secret, bool gpu)
{
    confine_processes();
    if (gpu && device_start() != 0) return 1;
    const int file = open(secret, O_RDONLY | O_CLOEXEC), hidden = file < 0;
    const confined done = confine(gpu);
    printf("user=%u hidden=%d limits=%d seccomp=%d\n", (unsigned)getuid(), hidden, done.limits,
           done.seccomp);
    if (gpu && device_try() != 0) return 1;
    return fflush(stdout) == 0 ? 0 : 1;
}
