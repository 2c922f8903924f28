/*
 * decode_wgmma.c: products of a warp group.
 *
 * Interface
 *   decode_wgmma, decode_registers
 *
 * What is refused: sparse matrices, and elements of one bit.
 */
#include <stdio.h>

#include "device/tensor/tensor.h"
#include "statement.h"

static const struct {
    const char *name;
    uint8_t kind, bits;
} elements[] = {{"f16", ELEMENT_F16, 16}, {"bf16", ELEMENT_BF16, 16}, {"tf32", ELEMENT_TF32, 32},
                {"f32", ELEMENT_F32, 32}, {"e4m3", ELEMENT_E4M3, 8},  {"e5m2", ELEMENT_E5M2, 8},
                {"s8", ELEMENT_S8, 8},    {"u8", ELEMENT_U8, 8},      {"s32", ELEMENT_S32, 32}};
enum { KINDS = sizeof elements / sizeof *elements, A_ROW = 128, ALONG_K_BYTES = 32 };

static int find_element(const char *name)
{
    for (int i = 0; i < KINDS; i++) {
        if (!strcmp(elements[i].name, name)) return i;
    }
    return -1;
}

/* d, a, b, in the order of the opcode's last parts; "satfinite" may follow. */
static bool find_types(const decoder *d, int type[3])
{
    uint32_t n = 0;
    for (uint32_t i = 5; i < d->parts && n < 3; i++) {
        type[n] = find_element(d->part[i]);
        if (type[n] >= 0) n++;
    }
    return n == 3;
}

static bool are_fit(const int type[3], uint32_t n, uint32_t k)
{
    uint8_t sum = elements[type[0]].kind, a = elements[type[1]].kind;
    bool integers = a == ELEMENT_S8 || a == ELEMENT_U8, halves = elements[type[1]].bits == 16;
    if (n < 8 || n > 256 || n % 8 || k * elements[type[1]].bits / 8 != ALONG_K_BYTES) return false;
    if (integers && n > 32 && n % 16) return false;
    if (halves || a == ELEMENT_TF32) {
        if (type[1] != type[2]) return false;
    } else if (elements[type[2]].bits != 8) {
        return false;
    }
    return integers ? sum == ELEMENT_S32 : sum == ELEMENT_F32 || sum == ELEMENT_F16;
}

/* ---- operands -------------------------------------------------------------------------------- */

static fragment describe(int type, uint32_t inner, bool sum)
{
    uint8_t bits = elements[type].bits;
    return (fragment){.kind = elements[type].kind,
                      .bits = bits,
                      .each = (uint8_t)(sum ? 2 : 32 / bits),
                      .outer = 16,
                      .inner = (uint16_t)inner};
}

static void note_use(draft *x, uint32_t at, bool write)
{
    uint64_t bit = UINT64_C(1) << at % 64;
    uint16_t field = 1u << FIELD_E;
    if (x->reads & field) x->more_reads[at / 64] |= bit;
    if (write) x->more_writes[at / 64] |= bit;
    x->reads &= (uint16_t)~field;
    x->writes &= (uint16_t)~field;
}

/* Sums are read and written. */
static bool set_fragment(decoder *d, draft *x, wgmma *m, fragment *f, const ptx_operand *list,
                         bool write)
{
    uint32_t wanted = (uint32_t)f->outer * f->inner * f->bits / 32 / LANES;
    if (list->kind != PTX_LIST || list->items != wanted) return false;
    f->registers = (uint8_t)wanted;
    for (uint32_t i = 0; i < wanted; i++) {
        const ptx_operand *o = &list->item[i];
        if (o->kind != PTX_REGISTER || d->width[o->reg] != 4) return false;
        set_register(x, FIELD_E, o->reg, false);
        m->row[f->first + i] = x->op.e;
        note_use(x, f->first + i, write);
    }
    x->op.e = 0;
    return true;
}

static bool set_a(decoder *d, draft *x, wgmma *m, int type, uint32_t k)
{
    const ptx_operand *a = &d->now->operand[1];
    m->a_held = a->kind == PTX_LIST;
    m->a = describe(type, k, false);
    m->a.first = A_ROW;
    if (m->a_held) return set_fragment(d, x, m, &m->a, a, false);
    set_read(d, x, FIELD_A, a, 8);
    return x->op.run != NULL;
}

/* Numbers behind the descriptors: -1 or 1 for each factor, then 0 or 1 for those that may be
 * turned.
 */
static bool set_immediates(const decoder *d, wgmma *m, bool halves, bool integers)
{
    const ptx_statement *s = d->now;
    bool turned[2] = {false, false};
    uint32_t signs = integers ? 0 : 2, turns = !halves ? 0 : m->a_held ? 1 : 2;
    if (s->operands != 4 + signs + turns) return false;
    for (uint32_t i = 4; i < s->operands; i++)
        if (s->operand[i].kind != PTX_NUMBER) return false;
    for (uint32_t i = 0; i < turns; i++)
        turned[2 - turns + i] = s->operand[4 + signs + i].number & 1;
    m->negate_a = signs && (int64_t)s->operand[4].number < 0;
    m->negate_b = signs && (int64_t)s->operand[5].number < 0;
    m->a_order.across = turned[0];
    m->b_order.across = turned[1];
    return true;
}

static tile_order order_of(int type, uint32_t k)
{
    return (tile_order){.kind = elements[type].kind, .bits = elements[type].bits, .depth = k};
}

/* wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 d, a, b, add, 1, 1, 0, 0 */
static bool decode_product(decoder *d)
{
    uint32_t n, k;
    int type[3];
    if (d->parts < 8 || d->now->operands < 4 || has_part(d, "sp")) return false;
    if (sscanf(d->part[4], "m64n%uk%u", &n, &k) != 2) return false;
    if (!find_types(d, type) || !are_fit(type, n, k)) return false;
    wgmma *m = module_keep(d->module, sizeof *m);
    draft x = start(d, run_wgmma);
    x.op.extra = m;
    x.more = m->row;
    x.more_count = MAX_WGMMA_ROWS;
    m->columns = n;
    m->saturate = has_part(d, "satfinite");
    m->d = describe(type[0], n, true);
    m->a_order = order_of(type[1], k);
    m->b_order = order_of(type[2], k);
    const ptx_operand *o = d->now->operand;
    bool integers = elements[type[0]].kind == ELEMENT_S32;
    bool set = set_fragment(d, &x, m, &m->d, &o[0], true) && set_a(d, &x, m, type[1], k) &&
               set_immediates(d, m, elements[type[1]].bits == 16, integers);
    set_read(d, &x, FIELD_B, &o[2], 8);
    set_read(d, &x, FIELD_C, &o[3], PREDICATE);
    if (set) push(d, &x);
    return set;
}

static bool decode_wait(decoder *d)
{
    draft x = start(d, run_wgmma_wait);
    if (d->now->operands != 1 || d->now->operand[0].kind != PTX_NUMBER) return false;
    x.op.offset = (int64_t)(uint32_t)d->now->operand[0].number;
    push(d, &x);
    return true;
}

bool decode_wgmma(decoder *d)
{
    if (has_part(d, "mma_async")) return decode_product(d);
    if (has_part(d, "wait_group")) return decode_wait(d);
    if (!has_part(d, "fence") && !has_part(d, "commit_group")) return false;
    draft x = start(d, has_part(d, "fence") ? run_wgmma_fence : run_wgmma_commit);
    push(d, &x);
    return true;
}

/* setmaxnreg.inc.sync.aligned.u32 n: the largest is what the kernel begins with, at most. */
bool decode_registers(decoder *d)
{
    draft x = start(d, run_registers);
    if (d->now->operands != 1 || d->now->operand[0].kind != PTX_NUMBER) return false;
    x.op.offset = (int64_t)(uint32_t)d->now->operand[0].number;
    x.op.variant = has_part(d, "inc");
    uint32_t *most = &d->to->facts.entry_registers;
    if (x.op.variant && *most < x.op.offset) *most = (uint32_t)x.op.offset;
    push(d, &x);
    return true;
}
