#include "weights_cases.h"

#include "504_resnet18_cpu/resnet18_cpu.h"
#include "resnet18_weights.h"
#include <stdlib.h>
#include <string.h>

/* ---- files ----------------------------------------------------------------------------------- */

/** A file of weights, to be damaged. */
typedef struct file {
    size_t bytes;
    weights_header *header;
    weights_entry *entries;
    unsigned char *data; /* [bytes]: all of it */
} file;

static file file_of(const void *data, size_t bytes)
{
    unsigned char *copy = (unsigned char *)f32_array((bytes + 3) / 4);
    memcpy(copy, data, bytes);
    return (file){bytes, (weights_header *)copy, (weights_entry *)(copy + sizeof(weights_header)),
                  copy};
}

static float *random_params(void)
{
    float *params = f32_array(RESNET18_FLOATS);
    resnet18_random_params(params, random_u64(case_random()));
    return params;
}

/* @param arrays the first `count` of which are taken */
static file file_of_arrays(const weights_array *arrays, uint32_t count)
{
    size_t bytes;
    void *data = weights_image(&bytes, arrays, count);
    expect(data, "the grader has no memory for a file of weights");
    const file f = file_of(data, bytes);
    free(data);
    return f;
}

static file good_file(const float *params)
{
    static resnet18_name names[RESNET18_ARRAYS];
    weights_array arrays[RESNET18_ARRAYS];
    resnet18_arrays(arrays, names, params);
    return file_of_arrays(arrays, RESNET18_ARRAYS);
}

/* Whoever lies does so with the right checksum. */
static void sign_table(const file *f, uint32_t arrays)
{
    f->header->checksum = weights_checksum(f->entries, arrays * sizeof *f->entries);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const char *const status_names[] = {"WEIGHTS_OK", "WEIGHTS_FOREIGN", "WEIGHTS_TRUNCATED",
                                           "WEIGHTS_MISMATCH", "WEIGHTS_CORRUPT"};

static const char *status_name(int status)
{
    return status >= 0 && status <= WEIGHTS_CORRUPT ? status_names[status] : "no weights_status";
}

static int load(float *params, argument data, size_t bytes)
{
    return call_returning_i32("resnet18_load",
                              ARGS(out_f32("params", params, RESNET18_FLOATS), data, u64(bytes)));
}

/* @param bytes of the file that are there; @param what it is, for the message */
static void expect_status(const file *f, size_t bytes, weights_status want, const char *what)
{
    static float params[RESNET18_FLOATS];
    const int got = load(params, in_bytes("file", f->data, bytes), bytes);
    expect(got == (int)want, "%s: resnet18_load returned %s, should be %s", what, status_name(got),
           status_name(want));
}

/* Which array an offset of params belongs to, and what it is called in a file. */
static const char *array_at(size_t at, size_t *first)
{
    static resnet18_name names[RESNET18_ARRAYS];
    static const float params[1];
    weights_array arrays[RESNET18_ARRAYS];
    int i = 0;
    resnet18_arrays(arrays, names, params);
    while (i + 1 < RESNET18_ARRAYS && (size_t)(arrays[i + 1].data - params) <= at) i++;
    *first = (size_t)(arrays[i].data - params);
    return names[i];
}

static void expect_loaded(const file *f, const float *want, unsigned shift)
{
    float *got = f32_array(RESNET18_FLOATS);
    const int status = load(got, shifted(in_bytes("file", f->data, f->bytes), shift), f->bytes);
    expect(status == WEIGHTS_OK, "resnet18_load returned %s for a good file", status_name(status));
    for (size_t i = 0, first; i < RESNET18_FLOATS; i++) {
        if (memcmp(&got[i], &want[i], sizeof *got) == 0) continue;
        const char *name = array_at(i, &first);
        fail("params[%zu], number %zu of %s, is %.9g, should be %.9g", i, i - first, name, got[i],
             want[i]);
    }
}

/* ---- good files ------------------------------------------------------------------------------ */

void load_good(const long *shape)
{
    const float *params = random_params();
    const file f = good_file(params);
    (void)shape;
    expect_loaded(&f, params, 0);
}

void load_unaligned(const long *shape)
{
    const float *params = random_params();
    const file f = good_file(params);
    (void)shape;
    expect_loaded(&f, params, 1);
}

/* Names that begin as others do, or go on; the last is as long as a name can be. The first is the
 * first in the file: who takes it for conv1.weight never comes to that. */
static const char *const others[] = {
    "conv1.weight_",
    "bn1.num_batches_tracked",
    "conv1",
    "layer4.1.bn2.running",
    "",
    "a name of 87 letters, so that there is just room for the 0 that ends it but for no more"};
enum { OTHERS = sizeof others / sizeof *others, ALL = OTHERS + RESNET18_ARRAYS };

void load_shuffled(const long *shape)
{
    static resnet18_name names[RESNET18_ARRAYS];
    weights_array arrays[ALL], mixed[ALL];
    int order[ALL];
    const float *params = random_params();
    (void)shape;
    for (int i = 0; i < OTHERS; i++) {
        arrays[i] =
            (weights_array){others[i], {1, (uint32_t)i, 3, 1}, random_f32((size_t)i * 3 + 1)};
    }
    resnet18_arrays(arrays + OTHERS, names, params);
    for (int i = 0; i < ALL; i++) order[i] = i;
    random_shuffle(case_random(), order + 1, ALL - 1);
    for (int i = 0; i < ALL; i++) mixed[i] = arrays[order[i]];
    const file f = file_of_arrays(mixed, ALL);
    expect_loaded(&f, params, 0);
}

/* ---- no such file ---------------------------------------------------------------------------- */

/* A whole file of one array: what is wrong with it shows in its first 64 bytes. */
static file small_file(void)
{
    const weights_array array = {"conv1.weight", {64, 3, 7, 7}, random_f32(64 * 3 * 7 * 7)};
    return file_of_arrays(&array, 1);
}

void load_foreign(const long *shape)
{
    static const uint32_t versions[] = {0, 2, 0x01000000, UINT32_MAX};
    (void)shape;
    for (size_t bytes = 0; bytes < 64; bytes += 7) {
        const file f = small_file();
        expect_status(&f, bytes, WEIGHTS_FOREIGN, "less than a header");
    }
    for (int i = 0; i < 8; i += 7) {
        const file f = small_file();
        f.header->magic[i] ^= 0x20;
        expect_status(&f, f.bytes, WEIGHTS_FOREIGN, "another magic");
    }
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const file f = small_file();
        f.header->version = versions[i];
        expect_status(&f, f.bytes, WEIGHTS_FOREIGN, "another version");
    }
}

void load_truncated(const long *shape)
{
    const file f = good_file(random_params());
    const size_t table = sizeof *f.header + RESNET18_ARRAYS * sizeof *f.entries;
    const size_t lengths[] = {64,    65,        64 + 127, 64 + 128,    table - 1,
                              table, table + 1, 1000003,  f.bytes / 2, f.bytes - 1};
    (void)shape;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        expect_status(&f, lengths[i], WEIGHTS_TRUNCATED, "a file that is cut off");
    }
}

void load_cut_to_size(const long *shape)
{
    const file f = good_file(random_params());
    const size_t table = sizeof *f.header + RESNET18_ARRAYS * sizeof *f.entries;
    const size_t last = f.entries[RESNET18_ARRAYS - 1].offset + 4 * RESNET18_CLASSES;
    const size_t lengths[] = {64, 64 + 128, table - 1, table, last - 1};
    (void)shape;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        f.header->bytes = lengths[i];
        expect_status(&f, lengths[i], WEIGHTS_TRUNCATED,
                      "a file that is cut off, whose header knows");
    }
}

/* One entry of a small file lies. Nothing of it may be believed before it is compared. */
static void expect_overflow(uint64_t offset, uint64_t floats, uint32_t arrays, const char *what)
{
    const file f = small_file();
    f.entries[0].offset = offset;
    f.entries[0].floats = floats;
    sign_table(&f, 1);
    f.header->arrays = arrays;
    expect_status(&f, f.bytes, WEIGHTS_TRUNCATED, what);
}

void load_overflowing(const long *shape)
{
    const uint64_t floats = 64 * 3 * 7 * 7, top = (uint64_t)1 << 63;
    (void)shape;
    expect_overflow(192, floats, UINT32_MAX, "4,294,967,295 arrays");
    expect_overflow(192, floats, 1u << 25, "as many arrays as overflow 32 bits");
    expect_overflow(UINT64_MAX, floats, 1, "an offset of 2^64 - 1");
    expect_overflow(-(4 * floats), floats, 1, "offset + 4 * floats is 2^64");
    expect_overflow(192 - 4 * floats, floats, 1, "offset + 4 * floats is a small number");
    expect_overflow(top, floats, 1, "an offset of 2^63");
    expect_overflow(192, (uint64_t)1 << 62, 1, "2^62 floats: 4 * floats is 0");
    expect_overflow(192, UINT64_MAX, 1, "2^64 - 1 floats");
    expect_overflow(192, floats + 33, 1, "an array that ends one float behind the file");
}

/* ---- other arrays ---------------------------------------------------------------------------- */

static int random_entry(void)
{
    return (int)random_below(case_random(), RESNET18_ARRAYS);
}

void load_missing(const long *shape)
{
    const file f = good_file(random_params());
    weights_entry *e = &f.entries[random_entry()];
    const weights_entry was = *e;
    (void)shape;

    e->name[strlen(e->name) - 1] ^= 1;
    sign_table(&f, RESNET18_ARRAYS);
    expect_status(&f, f.bytes, WEIGHTS_MISMATCH, "a letter of a name is another");

    *e = was;
    memset(e->name + strlen(was.name), '_', WEIGHTS_NAME_MAX - strlen(was.name));
    sign_table(&f, RESNET18_ARRAYS);
    expect_status(&f, f.bytes, WEIGHTS_MISMATCH, "a name goes on to its field's end");

    const file small = small_file();
    expect_status(&small, small.bytes, WEIGHTS_MISMATCH, "a file of conv1.weight alone");
    small.header->arrays = 0;
    sign_table(&small, 0);
    expect_status(&small, small.bytes, WEIGHTS_MISMATCH, "a file without arrays");
}

static void expect_shape_refused(const file *f, int i, const uint32_t dims[4], uint64_t floats,
                                 const char *what)
{
    const weights_entry was = f->entries[i];
    memcpy(f->entries[i].dims, dims, sizeof was.dims);
    f->entries[i].floats = floats;
    f->entries[i].checksum = weights_checksum(f->data + was.offset, floats * sizeof(float));
    sign_table(f, RESNET18_ARRAYS);
    expect_status(f, f->bytes, WEIGHTS_MISMATCH, what);
    f->entries[i] = was;
}

void load_other_shape(const long *shape)
{
    const file f = good_file(random_params());
    const int last = RESNET18_ARRAYS - 2; /* fc.weight [1000 x 512] */
    (void)shape;
    expect_shape_refused(&f, 0, (uint32_t[]){3, 64, 7, 7}, 9408, "conv1.weight of 3x64x7x7");
    expect_shape_refused(&f, 1, (uint32_t[]){63, 1, 1, 1}, 63, "bn1.weight of 63");
    expect_shape_refused(&f, 1, (uint32_t[]){64, 1, 1, 1}, 63, "bn1.weight of 64, in 63 floats");
    expect_shape_refused(&f, last, (uint32_t[]){512, 1000, 1, 1}, 512000, "fc.weight of 512x1000");
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void expect_corrupt(const file *f, void *at, const char *what)
{
    unsigned char *byte = at;
    const unsigned char was = *byte;
    *byte ^= (unsigned char)(1u << random_below(case_random(), 8));
    expect_status(f, f->bytes, WEIGHTS_CORRUPT, what);
    *byte = was;
}

void load_corrupt_table(const long *shape)
{
    const file f = good_file(random_params());
    const int i = random_entry();
    (void)shape;
    expect_corrupt(&f, &f.header->checksum, "a bit of the table's checksum is another");
    expect_corrupt(&f, &f.entries[i].checksum, "a bit of an array's checksum is another");
    expect_corrupt(&f, &f.entries[i].zero, "a bit behind an array's checksum is another");
}

void load_corrupt_array(const long *shape)
{
    const file f = good_file(random_params());
    const weights_entry *first = &f.entries[0], *last = &f.entries[RESNET18_ARRAYS - 1];
    const weights_entry *any = &f.entries[random_entry()];
    const size_t inside = random_below(case_random(), any->floats * sizeof(float));
    (void)shape;
    expect_corrupt(&f, f.data + first->offset, "a bit of the first array is another");
    expect_corrupt(&f, f.data + any->offset + inside, "a bit of an array is another");
    expect_corrupt(&f, f.data + last->offset + last->floats * sizeof(float) - 1,
                   "a bit of the last array is another");
}

void load_first_mistake(const long *shape)
{
    const file f = good_file(random_params());
    weights_entry *e = &f.entries[random_entry()];
    (void)shape;
    e->name[0] ^= 1;
    expect_status(&f, f.bytes, WEIGHTS_MISMATCH, "an array is missing, and a checksum is wrong");
    e->offset += f.bytes;
    expect_status(&f, f.bytes, WEIGHTS_TRUNCATED,
                  "an array ends behind the file, another is missing, and a checksum is wrong");
    f.header->version++;
    expect_status(&f, f.bytes, WEIGHTS_FOREIGN, "another version, and everything else is wrong");
}
