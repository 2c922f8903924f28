/*
 * ways.c: from a file to the device.
 *
 *   pread      one buffer, one read at a time, and each copy is waited for: what the others beat
 *   loader     the loader of 414: a thread for each of DEPTH buffers
 *   io_uring   as many reads under way by one thread; built where liburing is (WITH_URING)
 *   cuFile     GPUDirect Storage: no memory of the host; built where cuFile is (WITH_CUFILE)
 *
 * All read past the system's cache where the file system can do that.
 */
#include "train.h"

#include "cuda_check.h"
#include "optimization.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 4 /* buffers on the host, and reads under way */

static int open_direct(const char *path, const char **note)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    *note = fd >= 0 ? "O_DIRECT" : "no O_DIRECT: through the system's cache";
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

static cudaError_t copy_batch(trainer *t, int i, const void *h_batch)
{
    void *d_batch;
    CUDA_CHECK(trainer_room(t, i, &d_batch));
    return cudaMemcpyAsync(d_batch, h_batch, BATCH_BYTES, cudaMemcpyHostToDevice, t->copy);
}

/* ---- pread ----------------------------------------------------------------------------------- */

static cudaError_t read_batch(int fd, char *h_batch, int i)
{
    for (size_t done = 0; done < BATCH_BYTES;) {
        const off_t at = (off_t)(i * BATCH_BYTES + done);
        const ssize_t n = pread(fd, h_batch + done, BATCH_BYTES - done, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return cudaErrorOperatingSystem;
        done += (size_t)n;
    }
    return cudaSuccess;
}

static cudaError_t by_pread(trainer *t, const char *path, const char **note)
{
    char *h_batch;
    const int fd = open_direct(path, note);
    CUDA_CHECK(cudaMallocHost((void **)&h_batch, BATCH_BYTES));
    for (int i = 0; i < t->batches; i++) {
        CUDA_CHECK(read_batch(fd, h_batch, i));
        CUDA_CHECK(copy_batch(t, i, h_batch));
        CUDA_CHECK(cudaStreamSynchronize(t->copy)); /* the buffer is read into again */
        CUDA_CHECK(trainer_take(t, i));
    }
    close(fd);
    return cudaFreeHost(h_batch);
}

/* ---- the loader of 414 ----------------------------------------------------------------------- */

static cudaError_t by_loader(trainer *t, const char *path, const char **note)
{
    loader *l;
    void *d_batch;
    int asked = 0;
    close(open_direct(path, note)); /* the loader does what it can: this says what that is */
    CUDA_CHECK(loader_open(&l, path, BATCH_BYTES, 1, DEPTH));
    if (l == NULL) return cudaErrorNotSupported; /* still a stub */
    for (int i = 0; i < t->batches; i++) {
        while (asked < t->batches && prefetch_next_batch(l, (size_t)asked) == cudaSuccess) asked++;
        CUDA_CHECK(trainer_room(t, i, &d_batch));
        CUDA_CHECK(load_batch_to_gpu(l, d_batch, (size_t)i, t->copy));
        CUDA_CHECK(trainer_take(t, i));
    }
    return loader_close(l);
}

/* ---- io_uring -------------------------------------------------------------------------------- */

#ifdef WITH_URING
#include <liburing.h>

typedef struct slot {
    char *h_batch;
    int batch;
    size_t done; /* bytes that have been read */
    cudaEvent_t copied;
} slot;

/* The rest of the slot's batch. There are as many entries as slots. */
static void ask(struct io_uring *ring, int fd, slot *s)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(ring);
    io_uring_prep_read(entry, fd, s->h_batch + s->done, (unsigned)(BATCH_BYTES - s->done),
                       s->batch * BATCH_BYTES + s->done);
    io_uring_sqe_set_data(entry, s);
    io_uring_submit(ring);
}

static cudaError_t ask_for(struct io_uring *ring, int fd, slot *s, int batch)
{
    CUDA_CHECK(cudaEventSynchronize(s->copied)); /* the copy still reads the buffer */
    s->batch = batch, s->done = 0;
    ask(ring, fd, s);
    return cudaSuccess;
}

/* Until this slot is full; others may be, too, by then. */
static cudaError_t wait_for(struct io_uring *ring, int fd, const slot *s)
{
    while (s->done < BATCH_BYTES) {
        struct io_uring_cqe *entry;
        const int error = io_uring_wait_cqe(ring, &entry);
        if (error == -EINTR) continue;
        if (error < 0) return cudaErrorOperatingSystem;
        slot *of = io_uring_cqe_get_data(entry);
        const int n = entry->res;
        io_uring_cqe_seen(ring, entry);
        if (n == 0 || (n < 0 && n != -EINTR && n != -EAGAIN)) return cudaErrorOperatingSystem;
        of->done += n > 0 ? (size_t)n : 0;
        if (of->done < BATCH_BYTES) ask(ring, fd, of);
    }
    return cudaSuccess;
}

static cudaError_t read_ahead(struct io_uring *ring, int fd, trainer *t, slot *slots)
{
    for (int i = 0; i < DEPTH; i++) {
        CUDA_CHECK(cudaMallocHost((void **)&slots[i].h_batch, BATCH_BYTES));
        CUDA_CHECK(cudaEventCreateWithFlags(&slots[i].copied, cudaEventDisableTiming));
        if (i < t->batches) CUDA_CHECK(ask_for(ring, fd, &slots[i], i));
    }
    for (int i = 0; i < t->batches; i++) {
        slot *s = &slots[i % DEPTH];
        CUDA_CHECK(wait_for(ring, fd, s));
        CUDA_CHECK(copy_batch(t, i, s->h_batch));
        CUDA_CHECK(cudaEventRecord(s->copied, t->copy));
        CUDA_CHECK(trainer_take(t, i));
        /* The slot before: its copy has had a batch's time to end. */
        const int next = i - 1 + DEPTH;
        if (i > 0 && next < t->batches) CUDA_CHECK(ask_for(ring, fd, &slots[next % DEPTH], next));
    }
    return cudaStreamSynchronize(t->copy);
}

static cudaError_t by_uring(trainer *t, const char *path, const char **note)
{
    struct io_uring ring;
    slot slots[DEPTH] = {{0}};
    const int refused = io_uring_queue_init(DEPTH, &ring, 0);
    *note = strerror(-refused);
    if (refused < 0) return cudaErrorNotSupported;
    const int fd = open_direct(path, note);
    const cudaError_t error = read_ahead(&ring, fd, t, slots);
    io_uring_queue_exit(&ring);
    close(fd);
    for (int i = 0; i < DEPTH; i++) {
        if (slots[i].copied) cudaEventDestroy(slots[i].copied);
        cudaFreeHost(slots[i].h_batch);
    }
    return error;
}
#else
#define by_uring NULL
#endif

/* ---- cuFile ---------------------------------------------------------------------------------- */

#ifdef WITH_CUFILE
#include <cufile.h>

/* Where the driver cannot, cuFile reads by itself, and nobody would notice. */
static const char *what_it_does(void)
{
    CUfileDrvProps_t facts = {0};
    cuFileDriverGetProperties(&facts);
    return facts.nvfs.dstatusflags >> CU_FILE_NVME_SUPPORTED & 1
               ? "GPUDirect"
               : "A FALLBACK: without GPUDirect cuFile reads through memory of the host";
}

static cudaError_t read_to_device(CUfileHandle_t file, trainer *t)
{
    void *d_batch;
    for (int i = 0; i < t->batches; i++) {
        const off_t at = (off_t)(i * BATCH_BYTES);
        CUDA_CHECK(trainer_room(t, i, &d_batch));
        CUDA_CHECK(cudaStreamSynchronize(t->copy)); /* cuFile knows no streams */
        if (cuFileRead(file, d_batch, BATCH_BYTES, at, 0) != (ssize_t)BATCH_BYTES)
            return cudaErrorOperatingSystem;
        CUDA_CHECK(trainer_take(t, i));
    }
    return cudaSuccess;
}

static cudaError_t by_cufile(trainer *t, const char *path, const char **note)
{
    const int fd = open_direct(path, note);
    CUfileDescr_t facts = {.handle.fd = fd, .type = CU_FILE_HANDLE_TYPE_OPAQUE_FD};
    CUfileHandle_t file;
    cudaError_t error = cudaErrorNotSupported;
    *note = "cuFile does not take this file";
    if (cuFileHandleRegister(&file, &facts).err == CU_FILE_SUCCESS) {
        *note = what_it_does();
        error = read_to_device(file, t);
        cuFileHandleDeregister(file);
    }
    close(fd);
    return error;
}
#else
#define by_cufile NULL
#endif

const way ways[] = {
    {"pread, one buffer", by_pread},
    {"loader of 414", by_loader},
    {"io_uring", by_uring},
    {"cuFile", by_cufile},
};
const int way_count = sizeof ways / sizeof *ways;
