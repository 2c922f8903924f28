/* 414_loader: scripts of calls that the worker carries out (worker.c) on a file that the grader
 * wrote: every batch in any order, with reads that return early, buffers that are copied from for
 * long, files that are cut off; what is left behind; time against reading and copying in turn. */
#include "correctness/case.h"

#include "loader_script.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* cudaError_t */
enum {
    SUCCESS,
    INVALID_VALUE,
    INVALID_SOURCE = 300,
    FILE_NOT_FOUND = 301,
    OPERATING_SYSTEM = 304,
    NOT_READY = 600
};
enum { LOADER, OTHER }; /* handles */

#define DRIVE     "loader_drive" /* of worker.c: calls the loader as a script says */
#define UNWRITTEN 0xa5           /* what outputs hold before the call */
#define MIB       (1ull << 20)
#define BLOCK     4096 /* a read may begin and end at multiples, outside of its batch */

/* ---- the file -------------------------------------------------------------------------------- */

typedef struct records {
    const unsigned char *data; /* [bytes] */
    size_t count, record_bytes, batch, bytes, batch_bytes, batches;
} records;

static unsigned char *random_bytes(size_t bytes)
{
    uint64_t *words = array_of(ELEMENT_BYTE, (bytes / 8 + 1) * 8);
    for (size_t i = 0; i <= bytes / 8; i++) words[i] = random_u64(case_random());
    return (unsigned char *)words;
}

static records new_records(long count, long record_bytes, long batch)
{
    records f = {.count = (size_t)count, .record_bytes = (size_t)record_bytes};
    f.batch = (size_t)batch;
    f.bytes = f.count * f.record_bytes;
    f.batch_bytes = f.batch * f.record_bytes;
    f.batches = (f.count + f.batch - 1) / f.batch;
    f.data = random_bytes(f.bytes);
    return f;
}

static size_t bytes_of_batch(const records *f, size_t i)
{
    const size_t left = f->bytes - i * f->batch_bytes;
    return left < f->batch_bytes ? left : f->batch_bytes;
}

static argument file_of(const records *f, bool early)
{
    const argument file = path_of(f->bytes, 0, f->data, f->bytes);
    return early ? interrupted(file, random_u64(case_random())) : file;
}

/* ---- scripts --------------------------------------------------------------------------------- */

typedef struct script {
    const records *f;
    loader_step *steps;  /* [room] */
    loader_outcome *log; /* [room] */
    int count, room;
    unsigned char *got, *want; /* [bytes] of the device: d_batches */
    size_t bytes;
} script;

static script new_script(const records *f, size_t room, size_t bytes)
{
    script s = {.f = f, .room = (int)room, .bytes = bytes};
    s.steps = array_of(ELEMENT_BYTE, room * sizeof *s.steps);
    s.log = array_of(ELEMENT_BYTE, room * sizeof *s.log);
    s.got = array_of(ELEMENT_BYTE, bytes);
    s.want = array_of(ELEMENT_BYTE, bytes);
    return s;
}

static void add(script *s, loader_step step)
{
    if (s->count == s->room) abort(); /* the case's own mistake */
    s->steps[s->count++] = step;
}

static void load(script *s, size_t batch_idx, size_t at)
{
    const size_t bytes = batch_idx < s->f->batches ? bytes_of_batch(s->f, batch_idx) : 0;
    add(s, (loader_step){LOADER_LOAD, 0, batch_idx, at, bytes});
}

/* To where it lies in the file. */
static void load_in_place(script *s, size_t batch_idx)
{
    load(s, batch_idx, batch_idx * s->f->batch_bytes);
}

static void prefetch(script *s, size_t batch_idx)
{
    add(s, (loader_step){.verb = LOADER_PREFETCH, .batch_idx = batch_idx});
}

static void look_at_pinned(script *s)
{
    add(s, (loader_step){.verb = LOADER_PINNED});
}

/* Some milliseconds of a GPU; on softgpu it is the order that counts. */
static void stall(script *s)
{
    const bool on_gpu = case_place() == ON_GPU;
    add(s, (loader_step){
               .verb = LOADER_STALL, .times = on_gpu ? 20 : 1, .bytes = on_gpu ? 1u << 30 : 4096});
}

static void host_is_busy(script *s)
{
    add(s, (loader_step){.verb = LOADER_SLEEP, .times = 1000});
}

/* ---- what should come of them ---------------------------------------------------------------- */

static const char *verb_of(const loader_step *step)
{
    static const char *const names[] = {"load_batch_to_gpu", "prefetch_next_batch",
                                        "get_pinned_buffer", "loader_close"};
    return step->verb <= LOADER_CLOSE ? names[step->verb] : "the device";
}

static void expect_errors(const script *s, const int *errors)
{
    for (int i = 0; i < s->count; i++) {
        const int wanted = errors ? errors[i] : SUCCESS;
        expect(s->log[i].error == wanted,
               "step %d: %s of batch %llu (of %zu) returned %d, should be %d", i,
               verb_of(&s->steps[i]), s->steps[i].batch_idx, s->f->batches, s->log[i].error,
               wanted);
        expect(!s->log[i].waited,
               "step %d: prefetch_next_batch waits until batch %llu is read: it should only begin",
               i, s->steps[i].batch_idx);
    }
}

static void expect_pinned_buffers(const script *s)
{
    const loader_step *last = NULL;
    for (int i = 0; i < s->count; i++) {
        const loader_outcome *o = &s->log[i];
        if (s->steps[i].verb == LOADER_LOAD && o->error == SUCCESS) last = &s->steps[i];
        if (s->steps[i].verb != LOADER_PINNED) continue;
        const size_t bytes = last ? (size_t)last->bytes : 0;
        expect(o->bytes == bytes, "step %d: the buffer has %llu bytes, should be %zu", i, o->bytes,
               bytes);
        if (!last) continue;
        expect(o->is_pinned, "step %d: the buffer is not page-locked", i);
        expect(o->sum == loader_sum(s->f->data + last->batch_idx * s->f->batch_bytes, bytes),
               "step %d: the buffer does not hold batch %llu, which was loaded last", i,
               last->batch_idx);
    }
}

/* What the stream leaves in d_batches: later batches overwrite earlier ones. */
static void make_want(const script *s)
{
    memset(s->want, UNWRITTEN, s->bytes);
    for (int i = 0; i < s->count; i++) {
        const loader_step *step = &s->steps[i];
        if (step->verb == LOADER_LOAD && s->log[i].error == SUCCESS)
            memcpy(s->want + step->at, s->f->data + step->batch_idx * s->f->batch_bytes,
                   step->bytes);
    }
}

static const loader_step *writer_of(const script *s, size_t place)
{
    for (int i = s->count - 1; i >= 0; i--) {
        const loader_step *step = &s->steps[i];
        if (step->verb == LOADER_LOAD && place - step->at < step->bytes) return step;
    }
    return NULL;
}

/* The record of the file that lies there instead. */
static const char *found_instead(const script *s, size_t place)
{
    static char words[80];
    const size_t bytes = s->f->record_bytes;
    if (s->got[place] == UNWRITTEN && s->got[place + bytes - 1] == UNWRITTEN)
        return "nothing was written there";
    for (size_t r = 0; r < s->f->count && bytes >= 4; r++) {
        if (memcmp(s->got + place, s->f->data + r * bytes, bytes) != 0) continue;
        snprintf(words, sizeof words, "record %zu is there instead", r);
        return words;
    }
    return "it is no record of the file";
}

static void expect_batches(const script *s)
{
    make_want(s);
    if (memcmp(s->got, s->want, s->bytes) == 0) return;
    size_t i = 0;
    while (s->got[i] == s->want[i]) i++;
    const loader_step *step = writer_of(s, i);
    if (!step) fail("d_batches[%zu] was written, and belongs to no batch", i);
    const size_t inside = (i - (size_t)step->at) / s->f->record_bytes * s->f->record_bytes;
    fail("record %zu of batch %llu arrives wrong: %s", inside / s->f->record_bytes, step->batch_idx,
         found_instead(s, (size_t)step->at + inside));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void open_loader(int number, argument file, const records *f, long depth)
{
    call_cuda("loader_open", ARGS(handle_out(number), file, u64(f->record_bytes),
                                  i32((int)f->batch), i32((int)depth)));
}

static void close_loader(int number)
{
    call_cuda("loader_close", ARGS(handle(number)));
}

/* The baseline has no loader. */
static void drive(const char *function, int number, argument file, script *s)
{
    const argument loader = strcmp(function, DRIVE) == 0 ? handle(number) : null_pointer();
    const size_t steps = (size_t)s->count * sizeof *s->steps / sizeof(double);
    const size_t outcomes = (size_t)s->count * sizeof *s->log / sizeof(double);
    call_cuda(function,
              ARGS(loader, file, out_of(ELEMENT_BYTE, "d_batches", s->got, s->bytes),
                   host(in_of(ELEMENT_F64, "script", s->steps, steps)),
                   host(out_of(ELEMENT_F64, "log", s->log, outcomes)), i32(s->count), stream()));
}

static void expect_pinned_copies(void)
{
    const wire_copies c = call_copies();
    expect(c.pinned == c.count, "%u of %u copies are not from page-locked memory",
           c.count - c.pinned, c.count);
}

static void check(const script *s, const int *errors)
{
    expect_errors(s, errors);
    expect_batches(s);
    expect_pinned_buffers(s);
    expect_pinned_copies();
}

static void run_script(script *s, bool early, long depth, const int *errors)
{
    open_loader(LOADER, file_of(s->f, early), s->f, depth);
    drive(DRIVE, LOADER, null_pointer(), s);
    check(s, errors);
    close_loader(LOADER);
}

/* ---- epochs ---------------------------------------------------------------------------------- */

enum { EARLY = 1, BUSY_DEVICE = 2, BUSY_HOST = 4, NO_PREFETCH = 8 };

static size_t *shuffled(size_t count)
{
    size_t *order = array_of(ELEMENT_BYTE, (count + 1) * sizeof *order);
    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t i = count; i > 1; i--) {
        const size_t j = (size_t)random_below(case_random(), i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
    return order;
}

/* Every batch once, in an order that is drawn; `depth` are asked for ahead. */
static script epoch(const records *f, size_t depth, long flags)
{
    script s = new_script(f, 4 * f->batches + depth + 1, f->bytes);
    const size_t *order = shuffled(f->batches);
    const size_t ahead = flags & NO_PREFETCH ? f->batches : depth;
    if (flags & BUSY_DEVICE) stall(&s);
    for (size_t i = 0; i < f->batches; i++) {
        for (size_t p = i == 0 ? 0 : i + ahead - 1; p < i + ahead && p < f->batches; p++)
            if (!(flags & NO_PREFETCH)) prefetch(&s, order[p]);
        load_in_place(&s, order[i]);
        if (flags & BUSY_DEVICE) stall(&s);
        if (flags & BUSY_HOST) host_is_busy(&s);
    }
    return s;
}

/* shape: records, bytes of a record, records of a batch, depth, flags */
static void run_epoch(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script s = epoch(&f, (size_t)shape[3], shape[4]);
    run_script(&s, shape[4] & EARLY, shape[3], NULL);
    const unsigned long long read = s.log[s.count - 1].read;
    expect(read <= f.bytes + 2 * BLOCK * f.batches,
           "%llu bytes were read, of a file of %zu: a prefetched batch must not be read again",
           read, f.bytes);
}

/* Any batch, again and again; what is prefetched need not be loaded. */
static void run_random(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script s = new_script(&f, (size_t)shape[5], f.bytes);
    int *errors = i32_array((size_t)shape[5]);
    while (s.count < s.room) {
        const size_t batch_idx = (size_t)random_below(case_random(), f.batches);
        const bool loads = random_below(case_random(), 3) > 0;
        if (loads)
            load_in_place(&s, batch_idx);
        else
            prefetch(&s, batch_idx);
    }
    open_loader(LOADER, file_of(&f, shape[4] & EARLY), &f, shape[3]);
    drive(DRIVE, LOADER, null_pointer(), &s);
    long taken = 0; /* buffers, at most: after a load one is free */
    for (int i = 0; i < s.count; i++) {
        const bool loads = s.steps[i].verb == LOADER_LOAD;
        if (taken == shape[3] && !loads && s.log[i].error == NOT_READY) errors[i] = NOT_READY;
        taken = loads && taken == shape[3] ? taken - 1 : taken + (!loads && taken < shape[3]);
    }
    check(&s, errors);
    close_loader(LOADER);
}

/* ---- single calls ---------------------------------------------------------------------------- */

/* All buffers are taken by batches that nobody loads. */
static void run_full(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    const size_t depth = (size_t)shape[3];
    script s = new_script(&f, 2 * depth + 8, f.bytes);
    int errors[40] = {0};
    for (size_t i = 0; i < depth; i++) prefetch(&s, i);
    errors[s.count] = NOT_READY;
    prefetch(&s, depth);
    for (size_t i = 0; i < depth; i++) prefetch(&s, i); /* they are still there */
    load_in_place(&s, depth + 1);                       /* one gives way */
    prefetch(&s, depth);
    load_in_place(&s, depth);
    for (size_t i = depth; i-- > depth - 1;) load_in_place(&s, i);
    load_in_place(&s, 0);
    run_script(&s, true, shape[3], errors);
}

static void run_beyond(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script s = new_script(&f, 20, f.bytes + f.batch_bytes);
    int errors[20] = {0};
    const size_t beyond[] = {f.batches, f.batches + 1, SIZE_MAX, (size_t)1 << 63, (size_t)1 << 32};
    load_in_place(&s, 0);
    for (int i = 0; i < 5; i++) {
        errors[s.count] = INVALID_VALUE;
        load(&s, beyond[i], f.bytes);
        errors[s.count] = INVALID_VALUE;
        prefetch(&s, beyond[i]);
    }
    look_at_pinned(&s); /* still the one that was loaded */
    for (size_t i = f.batches; i-- > 0 && i + 4 > f.batches;) load_in_place(&s, i);
    run_script(&s, false, shape[3], errors);
}

/* Called by the grader, so that the runtime's calls in it may fail. */
static void run_one_call(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    unsigned char *got = array_of(ELEMENT_BYTE, f.batch_bytes);
    open_loader(LOADER, file_of(&f, false), &f, shape[3]);
    call_cuda("load_batch_to_gpu",
              ARGS(handle(LOADER), out_of(ELEMENT_BYTE, "d_batch", got, f.batch_bytes), u64(0),
                   stream()));
    expect(memcmp(got, f.data, f.batch_bytes) == 0, "the batch arrives wrong");
    close_loader(LOADER);
}

static void run_pinned(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script s = new_script(&f, 4 * f.batches + 2, f.bytes);
    look_at_pinned(&s);
    for (size_t i = 0; i < f.batches; i++) {
        load_in_place(&s, i);
        look_at_pinned(&s);
        if (i + 1 < f.batches) prefetch(&s, i + 1);
    }
    run_script(&s, true, shape[3], NULL);
}

/* ---- files that are not what they should be -------------------------------------------------- */

static void expect_refused(int error, argument file, size_t record_bytes, int batch, int depth)
{
    call_refused(error, "loader_open",
                 ARGS(handle_out(OTHER), file, u64(record_bytes), i32(batch), i32(depth)));
    call_cuda("loader_close", ARGS(handle(OTHER))); /* it is NULL now */
}

static argument name(const char *path)
{
    return host(in_bytes("path", path, strlen(path) + 1));
}

static void run_wrong_arguments(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    const argument file = file_of(&f, false);
    expect_refused(INVALID_VALUE, file, 0, 1, 1);
    expect_refused(INVALID_VALUE, file, f.record_bytes, 0, 1);
    expect_refused(INVALID_VALUE, file, f.record_bytes, -1, 1);
    expect_refused(INVALID_VALUE, file, f.record_bytes, 1, 0);
    expect_refused(INVALID_VALUE, file, f.record_bytes, 1, -1);
    expect_refused(INVALID_VALUE, file, f.record_bytes, 1, 9);
    run_epoch(shape);
}

static void run_no_file(const long *shape)
{
    expect_refused(FILE_NOT_FOUND, name("/there/is/no/such.file"), 16, 1, 1);
    expect_refused(FILE_NOT_FOUND, name("/"), 16, 1, 1);
    run_epoch(shape);
}

/* The last record is not whole. */
static void run_cut_off(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    expect_refused(INVALID_SOURCE, path_of(f.bytes - 1, 0, f.data, f.bytes - 1), f.record_bytes,
                   (int)f.batch, 2);
    expect_refused(INVALID_SOURCE, path_of(1, 0, f.data, 1), f.record_bytes, (int)f.batch, 2);
    run_epoch(shape);
}

/* A batch is what the file has when it is loaded: not what it had the time before, which may have
 * been the call before. */
static void run_changed(const long *shape)
{
    const records old = new_records(shape[0], shape[1], shape[2]);
    const records new = new_records(shape[0], shape[1], shape[2]);
    script before = epoch(&old, 1, NO_PREFETCH), after = epoch(&new, 1, NO_PREFETCH);
    script again = new_script(&new, 1, new.bytes);
    load_in_place(&again, before.steps[before.count - 1].batch_idx);
    open_loader(LOADER, file_of(&old, false), &old, shape[3]);
    drive(DRIVE, LOADER, null_pointer(), &before);
    check(&before, NULL);
    drive(DRIVE, LOADER, file_of(&new, false), &again);
    check(&again, NULL);
    drive(DRIVE, LOADER, file_of(&new, false), &after);
    check(&after, NULL);
    close_loader(LOADER);
}

/* Half of the batches are there when they are read. */
static void run_shorter(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script s = new_script(&f, 4 * f.batches, f.bytes);
    int *errors = i32_array(4 * f.batches);
    const size_t left = f.batches / 2, bytes = left * f.batch_bytes + f.record_bytes / 2;
    for (size_t i = 0; i < f.batches; i++) {
        const size_t batch_idx = i % 2 ? f.batches - 1 - i / 2 : i / 2;
        if (i % 3 == 0) prefetch(&s, batch_idx);
        errors[s.count] = batch_idx < left ? SUCCESS : OPERATING_SYSTEM;
        load_in_place(&s, batch_idx);
        look_at_pinned(&s); /* of the last one that could be read */
    }
    open_loader(LOADER, file_of(&f, false), &f, shape[3]);
    drive(DRIVE, LOADER, path_of(bytes, 0, f.data, bytes), &s);
    check(&s, errors);
    close_loader(LOADER);
}

/* Who reads on after any error never comes back. */
static void run_unreadable(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script s = new_script(&f, 3, f.bytes);
    const int errors[] = {SUCCESS, OPERATING_SYSTEM, OPERATING_SYSTEM};
    prefetch(&s, 1);
    load_in_place(&s, 0);
    load_in_place(&s, 1);
    open_loader(LOADER, with_read_errors(file_of(&f, false)), &f, shape[3]);
    drive(DRIVE, LOADER, null_pointer(), &s);
    check(&s, errors);
    close_loader(LOADER);
}

static void run_empty(const long *shape)
{
    const records f = new_records(0, shape[1], shape[2]);
    script s = new_script(&f, 4, 64);
    int errors[4] = {INVALID_VALUE, INVALID_VALUE};
    load(&s, 0, 0);
    prefetch(&s, 0);
    look_at_pinned(&s);
    run_script(&s, false, shape[3], errors);
    run_epoch(shape);
}

/* A file of 5,000 MiB, of which a batch beyond 4 GiB is not zero. */
static void run_large_file(const long *shape)
{
    records f = new_records(1, shape[1], 1);
    const size_t where = 4100;
    const unsigned char *one = f.data;
    script s = new_script(&f, 4, 2 * f.record_bytes);
    f.batches = 5000;
    add(&s, (loader_step){.verb = LOADER_PREFETCH, .batch_idx = where});
    add(&s, (loader_step){LOADER_LOAD, 0, where, 0, f.record_bytes});
    add(&s, (loader_step){LOADER_LOAD, 0, where - 4096, f.record_bytes, f.record_bytes});
    open_loader(LOADER, path_of(5000 * MIB, where * f.record_bytes, one, f.record_bytes), &f,
                shape[3]);
    drive(DRIVE, LOADER, null_pointer(), &s);
    expect_errors(&s, NULL);
    expect(memcmp(s.got, one, f.record_bytes) == 0, "the batch beyond 4 GiB arrives wrong");
    for (size_t i = 0; i < f.record_bytes; i++)
        expect(s.got[f.record_bytes + i] == 0, "the batch of zeros arrives wrong");
    close_loader(LOADER);
}

/* ---- what is left behind --------------------------------------------------------------------- */

/* Prefetches are under way when the loader is closed. */
static void run_unused(const records *f, long depth)
{
    script s = new_script(f, (size_t)depth + 1, f->bytes);
    load_in_place(&s, 0);
    for (size_t i = 1; i <= (size_t)depth; i++) prefetch(&s, i);
    run_script(&s, true, depth, NULL);
}

/* By the script, while batches are read and copied. */
static void run_closed(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    const size_t depth = (size_t)shape[3];
    script s = new_script(&f, 2 * depth + 4, f.bytes);
    stall(&s);
    for (size_t i = 0; i < depth; i++) load_in_place(&s, i);
    for (size_t i = depth; i < 2 * depth; i++) prefetch(&s, i);
    add(&s, (loader_step){.verb = LOADER_CLOSE});
    open_loader(LOADER, file_of(&f, true), &f, shape[3]);
    drive(DRIVE, LOADER, null_pointer(), &s);
    check(&s, NULL);
}

static void count_resources(int counts[2], int threads)
{
    call_void("loader_resources", ARGS(host(out_i32("counts", counts, 2)), i32(threads)));
}

typedef struct visit {
    records f;
    long depth;
} visit;

static void come_and_go(const void *context)
{
    const visit *v = context;
    run_unused(&v->f, v->depth);
}

static void run_come_and_go(const long *shape)
{
    const visit v = {new_records(shape[0], shape[1], shape[2]), shape[3]};
    const double batch = (double)v.f.batch_bytes;
    int before[2], after[2];
    come_and_go(&v); /* the runtime's own */
    count_resources(before, 0);
    const double each = kept_by(come_and_go, &v, 0, shape[4], batch);
    count_resources(after, before[0]);
    expect(after[0] <= before[0], "after %ld loaders there are %d more threads", shape[4],
           after[0] - before[0]);
    expect(after[1] <= before[1], "after %ld loaders there are %d more open descriptors", shape[4],
           after[1] - before[1]);
    expect(each <= batch, "a loader that is closed keeps %.0f bytes of memory", each);
    call_cuda("loader_close", ARGS(null_pointer()));
}

/* Two loaders of one file know nothing of each other. */
static void run_two(const long *shape)
{
    const records f = new_records(shape[0], shape[1], shape[2]);
    script a = epoch(&f, (size_t)shape[3], 0), b = epoch(&f, (size_t)shape[3] + 1, 0);
    open_loader(LOADER, file_of(&f, true), &f, shape[3]);
    open_loader(OTHER, file_of(&f, true), &f, shape[3] + 1);
    drive(DRIVE, LOADER, null_pointer(), &a);
    check(&a, NULL);
    close_loader(LOADER);
    drive(DRIVE, OTHER, null_pointer(), &b);
    check(&b, NULL);
    close_loader(OTHER);
}

static const grading_case cases[] = {
    {.name = "first batches", .run = run_epoch, .shape = {64, 16, 8, 2}},
    {.name = "one call", .run = run_one_call, .shape = {64, 16, 8, 2}},
    {.name = "one record", .run = run_epoch, .shape = {1, 16, 1, 1}},
    {.name = "last batch of 4", .run = run_epoch, .shape = {100, 24, 16, 3}},
    {.name = "last batch of one byte", .run = run_epoch, .shape = {4097, 1, 1024, 2}},
    {.name = "batch beyond the file", .run = run_epoch, .shape = {10, 100, 64, 2}},
    {.name = "blocks", .run = run_epoch, .shape = {24, 4096, 2, 3}},
    {.name = "records of 5000 bytes", .run = run_epoch, .shape = {50, 5000, 3, 4}},
    {.name = "depth 1", .run = run_epoch, .shape = {90, 31, 4, 1}},
    {.name = "depth 5", .run = run_epoch, .shape = {90, 31, 4, 5}},
    {.name = "depth 8", .run = run_epoch, .shape = {90, 31, 4, 8}},
    {.name = "any", .run = run_epoch, .shape = {10, 3, 1, 1, EARLY}, .most = {90, 600, 16, 8}},
    {.name = "without prefetch", .run = run_epoch, .shape = {90, 31, 4, 3, NO_PREFETCH}},
    {.name = "reads return early", .run = run_epoch, .shape = {90, 1000, 7, 3, EARLY}},
    {.name = "reads of blocks return early", .run = run_epoch, .shape = {24, 8192, 2, 2, EARLY}},
    {.name = "slow device", .run = run_epoch, .shape = {40, 50000, 4, 3, BUSY_DEVICE}},
    {.name = "slow device, depth 1", .run = run_epoch, .shape = {40, 50000, 4, 1, BUSY_DEVICE}},
    {.name = "slow host", .run = run_epoch, .shape = {40, 5000, 4, 4, BUSY_HOST | EARLY}},
    {.name = "all buffers taken", .run = run_full, .shape = {40, 500, 2, 3}},
    {.name = "the one buffer taken", .run = run_full, .shape = {40, 500, 2, 1}},
    {.name = "300 random steps", .run = run_random, .shape = {200, 333, 7, 4, EARLY, 300}},
    {.name = "beyond the end", .run = run_beyond, .shape = {50, 40, 8, 2}},
    {.name = "pinned buffer", .run = run_pinned, .shape = {50, 700, 8, 2}},
    {.name = "wrong arguments", .run = run_wrong_arguments, .shape = {50, 40, 8, 2}},
    {.name = "no file", .run = run_no_file, .shape = {50, 40, 8, 2}},
    {.name = "ends within a record", .run = run_cut_off, .shape = {50, 40, 8, 2}},
    {.name = "becomes shorter", .run = run_shorter, .shape = {48, 3000, 4, 3}},
    {.name = "cannot be read", .run = run_unreadable, .shape = {48, 3000, 4, 3}},
    {.name = "changes", .run = run_changed, .shape = {24, 300, 4, 8}},
    {.name = "empty file", .run = run_empty, .shape = {50, 40, 8, 2}},
    {.name = "beyond 4 GiB", .run = run_large_file, .shape = {1, MIB, 1, 2}, .once = true},
    {.name = "two loaders", .run = run_two, .shape = {50, 400, 8, 2}},
    {.name = "closed while it copies", .run = run_closed, .shape = {80, 5000, 4, 4}},
    {.name = "closed in between",
     .run = run_come_and_go,
     .shape = {40, 1 << 16, 4, 4, 6},
     .once = true},
    LONG_ROW("70001 records", run_epoch, 70001, 3, 66000, 2),
    LONG_ROW("records of 70001 bytes", run_epoch, 9, 70001, 2, 3),
    LONG_ROW("1500 batches", run_epoch, 1500, 5, 1, 8),
    {.name = "slow device, 16 MB batches",
     .run = run_epoch,
     .shape = {16, 1 << 22, 4, 2, BUSY_DEVICE},
     .where = ON_GPU},
    {0},
};

/* ---- time and copies ------------------------------------------------------------------------- */

/* One call after the other: batches go to four places in turn. shape: batches, bytes, depth */
static script stream_of_batches(const records *f, size_t depth)
{
    enum { PLACES = 4 };
    script s = new_script(f, 2 * f->batches + 1, PLACES * f->batch_bytes);
    for (size_t i = 0; i < depth && i < f->batches; i++) prefetch(&s, i);
    for (size_t i = 0; i < f->batches; i++) {
        load(&s, i, i % PLACES * f->batch_bytes);
        if (i + depth < f->batches) prefetch(&s, i + depth);
    }
    return s;
}

static void run_stream(const records *f, long depth)
{
    script s = stream_of_batches(f, (size_t)depth);
    const argument file = file_of(f, false);
    call_aside("loader_open", ARGS(handle_out(LOADER), file, u64(f->record_bytes),
                                   i32((int)f->batch), i32((int)depth)));
    drive(DRIVE, LOADER, file, &s);
    expect_errors(&s, NULL);
    expect_batches(&s);
    call_aside("loader_close", ARGS(handle(LOADER)));
}

static void run_timed(const char *function, const long *shape)
{
    const records f = new_records(shape[0], shape[1], 1);
    if (strncmp(function, "baseline_", 9) != 0) {
        run_stream(&f, shape[2]);
        return;
    }
    script s = stream_of_batches(&f, (size_t)shape[2]);
    drive(function, LOADER, file_of(&f, false), &s);
    expect_batches(&s);
}

static void run_counted(const char *function, const long *shape)
{
    const records f = new_records(16 * shape[0], shape[1], 16);
    (void)function; /* and the others */
    run_stream(&f, shape[2]);
}

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "reading, then copying",
                .shape = "64 batches of 4 MiB, depth 4"},
     .function = "load_batch_to_gpu",
     .baseline = "baseline_loader_drive",
     .run = run_timed,
     .shape = {64, 4 << 20, 4},
     .from_idle = true,
     .where = ON_GPU,
     .threshold = 1.5},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"copies to the device", .per = "batch", .shape = "20 batches of 16 records"},
     .function = "load_batch_to_gpu",
     .run = run_counted,
     .shape = {20, 300, 4},
     .count = host_copies,
     .ideal = 20,
     .bound = AT_MOST,
     .wanted = 1.0,
     .begin = 16,
     .no_kernels = true},
    {0},
};

EXERCISE(414) = {
    .id = 414,
    .name = "loader",
    .file = "phase4_optimization/414_loader/414_loader.cu",
    .functions = {"loader_open", "load_batch_to_gpu", "prefetch_next_batch", "get_pinned_buffer",
                  "loader_close"},
    .promises = {{"loader_open", WAITS_FOR_NOTHING},
                 {"load_batch_to_gpu", ALLOCATES_NOTHING | LEAVES_ITS_COPY},
                 {"get_pinned_buffer", WAITS_FOR_NOTHING | ALLOCATES_NOTHING}},
    .baseline_file = "grader/exercises/414_loader/baseline.cu",
    .host_copies = true,
    .points = 15,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
