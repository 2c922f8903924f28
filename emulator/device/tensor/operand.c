/*
 * operand.c: an operand of wgmma in shared memory, from its descriptor to numbers.
 *
 * Interface
 *   operand_place, operand_read
 *
 * A descriptor, in units of 16 bytes: where the operand begins (bits 0 to 13), the leading (16 to
 * 29) and the stride byte offset (32 to 45); the base offset (49 to 51) and the swizzle (62, 63).
 * Eight rows of 16, 32, 64 or 128 bytes are a block. Rows run along k: the stride leads to the next
 * eight rows, the leading offset, without a swizzle, to the next 16 bytes of k. They run across:
 * the stride leads to the next eight of k, the leading offset to the next row's width of columns;
 * without a swizzle the two change their roles.
 *
 * A swizzle changes bits 4 to 6 of an address by bits 7 to 9. The base offset is the number of 128
 * bytes by which the pattern begins behind a multiple of its size.
 */
#include "tensor.h"

static uint32_t field(uint64_t descriptor, uint32_t bit)
{
    return (uint32_t)(descriptor >> bit & 0x3fff) << 4;
}

/* Before the swizzle. `at`: bytes along the row. */
static uint32_t along_k(uint64_t d, uint32_t width, uint32_t outer, uint32_t at)
{
    uint32_t leading = field(d, 16), stride = field(d, 32), rows = outer / 8 * stride;
    if (width == CHUNK) return rows + outer % 8 * CHUNK + at / CHUNK * leading + at % CHUNK;
    return rows + outer % 8 * width + at;
}

static uint32_t across_k(uint64_t d, uint32_t width, uint32_t at, uint32_t k)
{
    uint32_t leading = field(d, 16), stride = field(d, 32);
    if (width == CHUNK) return at / CHUNK * stride + at % CHUNK + k % 8 * CHUNK + k / 8 * leading;
    return at / width * leading + at % width + k % 8 * width + k / 8 * stride;
}

static uint32_t swizzled(uint64_t d, uint32_t address)
{
    static const uint32_t mask[] = {0, 7, 3, 1};
    uint32_t row = (address >> 7) - (uint32_t)(d >> 49 & 7);
    return address ^ (row & mask[d >> 62]) << 4;
}

uint32_t operand_place(uint64_t d, const tile_order *o, uint32_t outer, uint32_t k)
{
    static const uint32_t width[] = {CHUNK, 128, 64, 32};
    uint32_t bytes = o->bits / 8u, wide = width[d >> 62];
    uint32_t within =
        o->across ? across_k(d, wide, outer * bytes, k) : along_k(d, wide, outer, k * bytes);
    return swizzled(d, field(d, 0) + within);
}

/* ---- which place is meant -------------------------------------------------------------------- */

#define REACH (1u << 18) /* bytes: what a descriptor can tell apart */

static bool lies_within(uint32_t place, uint64_t start, uint64_t bytes)
{
    return place >= start && place < start + bytes;
}

static bool is_of_kernel(const block *b, uint32_t place)
{
    const function *f = b->launch->function;
    for (uint32_t i = 0; i < f->module->variable_count; i++) {
        const variable *v = &f->module->variables[i];
        if (v->space == SPACE_SHARED && !v->external && f->shared_used[i] &&
            lies_within(place, v->address, v->bytes))
            return true;
    }
    return lies_within(place, f->module->shared_bytes, b->launch->request->dynamic_shared_bytes);
}

/* Variables of all kernels of a module have places of their own, so they may lie farther apart than
 * a block's shared memory is large. What the descriptor cannot say, the kernel's own variables do.
 * @return what to add to a place */
static uint32_t beyond(const block *b, uint64_t descriptor)
{
    uint32_t add = 0;
    while (field(descriptor, 0) + add < b->shared_bytes) {
        if (is_of_kernel(b, field(descriptor, 0) + add)) return add;
        add += REACH;
    }
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The elements of a chunk, which follow each other along k or across. */
static void take_chunk(const tile_order *o, const uint8_t *from, double *to, uint32_t step)
{
    uint32_t bytes = o->bits / 8u;
    for (uint32_t i = 0; i < CHUNK / bytes; i++) {
        uint32_t bits = 0;
        memcpy(&bits, from + i * bytes, bytes);
        to[i * step] = element_value(o->kind, bits);
    }
}

static void read_chunk(warp *w, const op *o, uint32_t place, const tile_order *order, uint32_t lane,
                       double *to, uint32_t step)
{
    static const uint8_t zeros[CHUNK];
    const uint8_t *memory = reach_lane(w, o, SPACE_SHARED, place, CHUNK, lane, ACCESS_LOAD, NULL);
    if (memory) proxy_check(w, o, place, lane, false);
    if (memory) reading_note(w, place);
    take_chunk(order, memory ? memory : zeros, to, step);
}

void operand_read(warp *w, const op *o, uint64_t descriptor, const tile_order *order,
                  uint32_t first, uint32_t count, double *to, uint32_t outer_step,
                  uint32_t inner_step)
{
    uint32_t each = CHUNK * 8 / order->bits, step = order->across ? outer_step : inner_step;
    uint32_t outer_each = order->across ? each : 1, inner_each = order->across ? 1 : each;
    fitting fit = {.descriptor = descriptor, .order = order};
    const uint32_t add = w->block->shared_bytes > REACH ? beyond(w->block, descriptor) : 0;
    for (uint32_t r = 0; r < count; r += outer_each) {
        for (uint32_t k = 0; k < order->depth; k += inner_each) {
            uint32_t place = operand_place(descriptor, order, first + r, k) + add;
            read_chunk(w, o, place, order, r % LANES, to + r * outer_step + k * inner_step, step);
            fit_chunk(w, o, &fit, place, r % LANES, first + r, k);
        }
    }
}
