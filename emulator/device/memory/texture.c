/*
 * texture.c: texture objects, and reads of kernels through them.
 *
 * Interface
 *   device_texture_add, device_texture_remove (device.h), textures_free, run_texture,
 * texture_touches
 *
 * A texel is read like any other memory, lane by lane, with the same findings. The number of an
 * object says which use of its slot it was made for, so that one that was destroyed is known.
 * Texels are not watched for races: a kernel may not write what it reads through a texture.
 */
#include <math.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/half.h"
#include "memory.h"

enum { MOST_TEXTURES = 1 << 20, SLOT_BITS = 20, TAG_SHIFT = 52, TAG = 0x7e7 };

struct texture_slot {
    device_texture texture;
    uint64_t number; /* of the object there, or of the last one */
    bool used;
};

/* ---- objects --------------------------------------------------------------------------------- */

static bool is_legal(const device_texture *t)
{
    bool channels = t->channels == 1 || t->channels == 2 || t->channels == 4;
    bool bytes = t->channel_bytes == 1 || t->channel_bytes == 2 || t->channel_bytes == 4;
    bool value = t->kind <= TEXEL_FLOAT && !(t->kind == TEXEL_FLOAT && t->channel_bytes == 1);
    return channels && bytes && value && t->width && t->height && t->width <= INT32_MAX &&
           t->height <= INT32_MAX && t->edge[0] <= EDGE_BORDER && t->edge[1] <= EDGE_BORDER;
}

static uint32_t free_slot(device *d)
{
    uint32_t i = 0;
    while (i < d->texture_count && d->textures[i].used) i++;
    if (i < d->texture_count) return i;
    d->textures = retake(d->textures, (i + 1) * sizeof *d->textures);
    d->textures[d->texture_count++] = (texture_slot){.number = (uint64_t)TAG << TAG_SHIFT | i};
    return i;
}

device_status device_texture_add(device *d, const device_texture *t, uint64_t *number)
{
    if (!is_legal(t)) return fail(d, DEVICE_BAD_ADDRESS, "no such texture");
    uint32_t i = free_slot(d);
    if (i >= MOST_TEXTURES) return fail(d, DEVICE_OUT_OF_MEMORY, "too many textures");
    texture_slot *s = &d->textures[i];
    s->texture = *t;
    s->number += 1 << SLOT_BITS;
    s->used = true;
    *number = s->number;
    return DEVICE_OK;
}

/* The slot that the object has or had; NULL: it never was one. */
static texture_slot *slot_of(const device *d, uint64_t number)
{
    uint64_t i = number & (MOST_TEXTURES - 1);
    bool made = number >> TAG_SHIFT == TAG && i < d->texture_count;
    return made && number <= d->textures[i].number ? &d->textures[i] : NULL;
}

device_status device_texture_remove(device *d, uint64_t number)
{
    texture_slot *s = slot_of(d, number);
    if (!s || !s->used || s->number != number)
        return fail(d, DEVICE_NOT_FOUND, "no such texture object");
    s->used = false;
    return DEVICE_OK;
}

void textures_free(device *d)
{
    free(d->textures);
}

/* ---- one texel ------------------------------------------------------------------------------- */

/* What a lane fetches. */
typedef struct fetch {
    warp *warp;
    op load; /* of a texel, as if it were a plain load */
    uint32_t lane;
    const device_texture *texture;
    texels *touched; /* is told where the texels lie, and nothing is read; or NULL */
    int corner;      /* which of the texels it is made of */
} fetch;

typedef union channel {
    float value;
    int32_t number;
    uint32_t bits;
} channel;

static float to_unit(const device_texture *t, int64_t number)
{
    float most = t->channel_bytes == 1 ? UINT8_MAX : UINT16_MAX;
    if (t->kind == TEXEL_UNSIGNED) return (float)number / most;
    return fmaxf((float)number / (float)((int)most >> 1), -1.0f);
}

static channel read_channel(const device_texture *t, const uint8_t *from)
{
    uint32_t bits = 0;
    memcpy(&bits, from, t->channel_bytes);
    uint32_t unused = 32 - 8 * t->channel_bytes;
    if (t->kind == TEXEL_FLOAT && t->channel_bytes == 2)
        return (channel){.value = half_value((uint16_t)bits)};
    if (t->kind == TEXEL_SIGNED) bits = (uint32_t)((int32_t)(bits << unused) >> unused);
    if (!t->gives_floats || t->kind == TEXEL_FLOAT) return (channel){.bits = bits};
    return (channel){.value = to_unit(t, t->kind == TEXEL_SIGNED ? (int32_t)bits : (int64_t)bits)};
}

static void read_border(const device_texture *t, channel texel[4])
{
    bool floats = t->kind == TEXEL_FLOAT || t->gives_floats;
    for (uint32_t k = 0; k < t->channels; k++)
        texel[k] =
            floats ? (channel){.value = t->border[k]} : (channel){.number = (int32_t)t->border[k]};
}

/* The texel that coordinate `i` of `n` means; -1: the border. */
static int64_t inside(int64_t i, int64_t n, uint32_t edge)
{
    if (i >= 0 && i < n) return i;
    if (edge == EDGE_BORDER) return -1;
    if (edge == EDGE_CLAMP) return i < 0 ? 0 : n - 1;
    int64_t period = edge == EDGE_MIRROR ? 2 * n : n, in = (i % period + period) % period;
    return in < n ? in : period - 1 - in;
}

static void note_touch(fetch *f, uint64_t address, uint32_t bytes)
{
    f->touched->address[f->corner][f->lane] = address;
    f->touched->mask[f->corner] |= 1u << f->lane;
    f->touched->bytes = bytes;
}

static void read_texel(fetch *f, int64_t x, int64_t y, channel texel[4])
{
    const device_texture *t = f->texture;
    uint32_t bytes = t->channels * t->channel_bytes;
    x = inside(x, t->width, t->edge[0]);
    y = inside(y, t->height, t->edge[1]);
    memset(texel, 0, 4 * sizeof *texel);
    if (x < 0 || y < 0) {
        read_border(t, texel);
        return;
    }
    uint64_t address = t->address + (uint64_t)y * t->pitch + (uint64_t)x * bytes;
    if (f->touched) {
        note_touch(f, address, bytes);
        return;
    }
    const uint8_t *from =
        reach_lane(f->warp, &f->load, SPACE_GLOBAL, address, bytes, f->lane, ACCESS_LOAD, NULL);
    for (uint32_t k = 0; from && k < t->channels; k++)
        texel[k] = read_channel(t, from + k * t->channel_bytes);
}

/* ---- where ----------------------------------------------------------------------------------- */

/* A coordinate in texels. Far outside one is as good as another. */
static float in_texels(const device_texture *t, float x, uint32_t size, uint32_t edge)
{
    if (t->is_normalized && edge == EDGE_WRAP) x -= floorf(x);
    if (t->is_normalized && edge == EDGE_MIRROR) x -= 2 * floorf(x / 2);
    if (t->is_normalized) x *= (float)size;
    return fminf(fmaxf(x, -0x1p30f), 0x1p30f);
}

enum { FRACTION = 256 }; /* of a texel: weights have 8 bits behind the point */

/* The texel below a coordinate and, behind the point, how much its neighbour counts. */
static int64_t fixed(float x)
{
    return (int64_t)floor(((double)x - 0.5) * FRACTION + 0.5);
}

/* A GPU rounds the weight of the last corner, and the others are what is left (tests/emulator/
 * runtime/textures.cu on an H200). */
static void interpolate(fetch *f, int64_t x, int64_t y, channel texel[4])
{
    const int right = (int)(x & (FRACTION - 1)), down = (int)(y & (FRACTION - 1));
    const int both = (right * down + FRACTION / 2) / FRACTION;
    const int weight[4] = {FRACTION - right - down + both, right - both, down - both, both};
    memset(texel, 0, 4 * sizeof *texel);
    for (int i = 0; i < 4; i++) {
        channel corner[4];
        if (weight[i] == 0) continue; /* it need not even be written */
        f->corner = i;
        read_texel(f, (x >> 8) + (i & 1), (y >> 8) + (i >> 1), corner);
        for (int k = 0; k < 4; k++) texel[k].value += (float)weight[i] / FRACTION * corner[k].value;
    }
}

static void fetch_at(fetch *f, const float at[2], channel texel[4])
{
    const device_texture *t = f->texture;
    float x = in_texels(t, at[0], t->width, t->edge[0]);
    float y = in_texels(t, at[1], t->height, t->edge[1]);
    if (!t->interpolates)
        read_texel(f, (int64_t)floorf(x), (int64_t)floorf(y), texel);
    else
        interpolate(f, fixed(x), t->height > 1 ? fixed(y) : 0, texel);
}

/* ---- tex ------------------------------------------------------------------------------------- */

static void report_object(warp *w, const op *o, uint32_t lane, uint64_t number, bool was)
{
    report(w, o, was ? FINDING_FREED : FINDING_OUT_OF_BOUNDS, lane, number,
           was ? "reads through a texture object that was destroyed"
               : "reads through an object that is no texture object of this device");
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

static const device_texture *find_texture(warp *w, const op *o, uint32_t lane, bool reports)
{
    uint64_t number = ((const uint64_t *)row(w, o->a))[lane];
    const texture_slot *s = slot_of(w->block->device, number);
    if (s && s->used && s->number == number) return &s->texture;
    if (reports) report_object(w, o, lane, number, s != NULL);
    return NULL;
}

static void fetch_number(fetch *f, const int32_t at[2], channel texel[4])
{
    const device_texture *t = f->texture;
    if (!t->is_linear || (at[0] >= 0 && (uint32_t)at[0] < t->width)) {
        read_texel(f, at[0], t->height > 1 ? at[1] : 0, texel);
        return;
    }
    memset(texel, 0, 4 * sizeof *texel);
    if (f->touched) return;
    report(f->warp, &f->load, FINDING_OUT_OF_BOUNDS, f->lane, t->address,
           "fetches texel %d of a texture that has %u", at[0], t->width);
    launch_fail(f->warp->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

static void fetch_lane(warp *w, const op *o, uint32_t lane, texels *touched, channel texel[4])
{
    const bool is_2d = o->variant & TEXTURE_2D;
    const uint8_t *x = row(w, o->b), *y = row(w, o->c);
    uint32_t at[2] = {0, 0};
    fetch f = {.warp = w, .load = *o, .lane = lane, .touched = touched};
    f.texture = find_texture(w, o, lane, touched == NULL);
    memcpy(&at[0], x + 4 * lane, 4);
    if (is_2d) memcpy(&at[1], y + 4 * lane, 4);
    if (f.texture) {
        f.load.is_load = true;
        f.load.count = (uint8_t)f.texture->channels;
        f.load.used = 15;
    }
    if (f.texture && o->variant & TEXTURE_BY_NUMBER)
        fetch_number(&f, (const int32_t[]){(int32_t)at[0], (int32_t)at[1]}, texel);
    else if (f.texture)
        fetch_at(&f, (const float[]){bits_float(at[0]), bits_float(at[1])}, texel);
}

void texture_touches(warp *w, const op *o, uint32_t mask, texels *touched)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        channel unread[4];
        fetch_lane(w, o, (uint32_t)__builtin_ctz(m), touched, unread);
    }
}

const op *run_texture(warp *w, const op *o)
{
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        channel texel[4] = {{0}};
        fetch_lane(w, o, lane, NULL, texel);
        for (int k = 0; k < 4; k++) memcpy((uint8_t *)row(w, (&o->d)[k]) + 4 * lane, &texel[k], 4);
    }
    return o + 1;
}
