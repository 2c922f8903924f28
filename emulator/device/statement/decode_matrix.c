/*
 * decode_matrix.c: statements on matrices that a whole warp holds.
 *
 * Interface
 *   decode_wmma, decode_mma, decode_ldmatrix, decode_stmatrix, decode_movmatrix
 *
 * An operand such as {%r1, %r2, %r3, %r4} is a fragment: its registers go to matrix.row. What is
 * refused: sparse matrices, and mma.m8n8k4 of halves, which is four products in one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "statement.h"

#include "device/ops/matrix.h"

static const struct {
    const char *name;
    uint8_t kind, bits;
} elements[] = {{"f16", ELEMENT_F16, 16}, {"bf16", ELEMENT_BF16, 16}, {"tf32", ELEMENT_TF32, 32},
                {"f32", ELEMENT_F32, 32}, {"f64", ELEMENT_F64, 64},   {"s8", ELEMENT_S8, 8},
                {"u8", ELEMENT_U8, 8},    {"s4", ELEMENT_S4, 4},      {"u4", ELEMENT_U4, 4},
                {"b1", ELEMENT_B1, 1},    {"s32", ELEMENT_S32, 32},   {"e4m3", ELEMENT_E4M3, 8},
                {"e5m2", ELEMENT_E5M2, 8}};
enum { KINDS = sizeof elements / sizeof *elements };

static int find_element(const char *name)
{
    for (int i = 0; i < KINDS; i++) {
        if (!strcmp(elements[i].name, name)) return i;
    }
    return -1;
}

typedef struct shape {
    uint32_t m, n, k;
} shape;

static bool is_side(uint32_t n, uint32_t most)
{
    return n >= 4 && n <= most && (n & (n - 1)) == 0;
}

/* The part "m16n8k16" of the opcode. */
static bool find_shape(const decoder *d, shape *s)
{
    for (uint32_t i = 1; i < d->parts; i++) {
        if (sscanf(d->part[i], "m%un%uk%u", &s->m, &s->n, &s->k) != 3) continue;
        return is_side(s->m, 32) && is_side(s->n, 32) && is_side(s->k, 256) &&
               s->m * s->n <= MAX_SUMS && s->m * s->k <= MAX_FACTORS && s->n * s->k <= MAX_FACTORS;
    }
    return false;
}

/* The types of the opcode in their order. */
static uint32_t find_types(const decoder *d, int type[4])
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < d->parts && n < 4; i++) {
        int t = find_element(d->part[i]);
        if (t >= 0) type[n++] = t;
    }
    return n;
}

/* ---- fragments ------------------------------------------------------------------------------- */

/* Factors lie along k as many in a lane as fit in a register, sums always two by two. */
static fragment describe(int type, uint32_t outer, uint32_t inner, bool sum)
{
    uint32_t bits = elements[type].bits, each = sum ? 2 : bits == 64 ? 1 : 32 / bits;
    return (fragment){.kind = elements[type].kind,
                      .bits = (uint8_t)bits,
                      .each = (uint8_t)each,
                      .outer = (uint16_t)outer,
                      .inner = (uint16_t)inner};
}

/* Do the registers hold it once, or several times over? */
static bool fits(const fragment *f)
{
    uint32_t held = LANES * f->registers * (f->bits == 64 ? 64 : 32) / f->bits;
    uint32_t wanted = (uint32_t)f->outer * f->inner;
    return f->registers && f->inner % (4 * f->each) == 0 && held >= wanted && held % wanted == 0;
}

/* Registers of a fragment, by way of field E. */
static bool set_fragment(decoder *d, draft *x, matrix *m, fragment *f, const ptx_operand *list,
                         bool write)
{
    uint32_t next = f->first;
    f->registers = (uint8_t)list->items;
    if (list->kind != PTX_LIST || list->items > 8 || !fits(f)) return false;
    for (uint32_t i = 0; i < list->items; i++, next++) {
        uint8_t width = f->bits == 64 ? 8 : 4;
        const ptx_operand *o = &list->item[i];
        uint16_t field = 1u << FIELD_E;
        if (write)
            set_write(d, x, FIELD_E, o, width, false);
        else
            set_read(d, x, FIELD_E, o, width);
        m->row[next] = x->op.e;
        uint64_t bit = UINT64_C(1) << next % 64;
        if (x->reads & field) x->more_reads[next / 64] |= bit;
        if (x->writes & field) x->more_writes[next / 64] |= bit;
        x->reads &= (uint16_t)~field;
        x->writes &= (uint16_t)~field;
        x->op.e = 0;
    }
    return x->op.run != NULL;
}

static draft start_matrix(decoder *d, handler *run, matrix **m)
{
    draft x = start(d, run);
    *m = module_keep(d->module, sizeof **m);
    x.op.extra = *m;
    x.more = (*m)->row;
    x.more_count = LANES;
    return x;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Halves and wider ones add up as floats, smaller ones as integers. */
static bool add_up(int factor, int sum)
{
    element_kind kind = elements[sum].kind;
    bool real = kind == ELEMENT_F16 || kind == ELEMENT_F32 || kind == ELEMENT_F64;
    return elements[factor].bits >= 16 ? real : kind == ELEMENT_S32;
}

/* d, a, b, c; `type` of each in this order. */
static bool push_product(decoder *d, const shape *s, const int type[4])
{
    const ptx_operand *o = d->now->operand;
    if (d->now->operands != 4 || s->m % 8 || s->n % 8) return false;
    for (int i = 1; i < 3; i++) {
        if (!add_up(type[i], type[0]) || !add_up(type[i], type[3])) return false;
    }
    matrix *m;
    draft x = start_matrix(d, run_multiply, &m);
    m->d = describe(type[0], s->m, s->n, true);
    m->a = describe(type[1], s->m, s->k, false);
    m->b = describe(type[2], s->n, s->k, false);
    m->c = describe(type[3], s->m, s->n, true);
    m->a.first = 8;
    m->b.first = 16;
    m->c.first = 24;
    m->saturate = has_part(d, "satfinite");
    m->exclusive_or = has_part(d, "xor");
    bool set =
        set_fragment(d, &x, m, &m->d, &o[0], true) && set_fragment(d, &x, m, &m->a, &o[1], false) &&
        set_fragment(d, &x, m, &m->b, &o[2], false) && set_fragment(d, &x, m, &m->c, &o[3], false);
    if (set) push(d, &x);
    return set;
}

/* mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c */
bool decode_mma(decoder *d)
{
    shape s;
    int type[4];
    if (has_part(d, "sp") || has_part(d, "sp::ordered_metadata")) return false;
    if (!find_shape(d, &s) || find_types(d, type) != 4) return false;
    if (s.k == 4 && elements[type[1]].kind == ELEMENT_F16) return false;
    return push_product(d, &s, type);
}

/* Of halves the opcode names d and c alone. */
static bool decode_wmma_product(decoder *d, const shape *s)
{
    int named[4], type[4];
    uint32_t n = find_types(d, named);
    if (n == 4) return push_product(d, s, named);
    type[0] = named[0];
    type[1] = type[2] = find_element("f16");
    type[3] = named[1];
    return n == 2 && push_product(d, s, type);
}

/* ---- loads and stores ------------------------------------------------------------------------ */

static bool set_matrix_address(decoder *d, draft *x, const ptx_operand *memory)
{
    if (memory->kind != PTX_MEMORY) return false;
    const ptx_operand *base = &memory->item[0];
    x->op.offset = (int64_t)memory->number;
    x->op.narrow = base->kind == PTX_REGISTER && d->width[base->reg] == 4;
    x->op.space = has_part(d, "global")                                 ? SPACE_GLOBAL
                  : has_part(d, "shared") || has_part(d, "shared::cta") ? SPACE_SHARED
                                                                        : SPACE_GENERIC;
    set_read(d, x, FIELD_A, base, x->op.narrow ? 4 : 8);
    return x->op.run != NULL;
}

/* wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {...}, [p], stride; the stride, in elements,
 * may be left out: lines then follow each other. */
static bool decode_fragment_access(decoder *d, const shape *s, bool load)
{
    const ptx_statement *now = d->now;
    const char role = d->part[2][0];
    int type[4];
    if (now->operands < 2 || find_types(d, type) != 1) return false;
    matrix *m;
    draft x = start_matrix(d, load ? run_fragment_load : run_fragment_store, &m);
    bool column = has_part(d, "col");
    m->d = role == 'a'   ? describe(type[0], s->m, s->k, false)
           : role == 'b' ? describe(type[0], s->n, s->k, false)
                         : describe(type[0], s->m, s->n, true);
    m->across = role == 'b' ? !column : column;
    m->sum = role == 'c' || role == 'd';
    if ((m->across || !load) && m->d.bits < 8) return false;
    if (m->d.outer % 8) return false;
    if (!set_matrix_address(d, &x, &now->operand[!!load])) return false;
    if (!set_fragment(d, &x, m, &m->d, &now->operand[!load], load)) return false;
    if (now->operands > 2)
        set_read(d, &x, FIELD_B, &now->operand[2], 4);
    else
        set_constant(d, &x, FIELD_B, m->across ? m->d.outer : m->d.inner, 4);
    x.op.is_load = load;
    x.op.count = 1;
    x.op.used = 1;
    push(d, &x);
    return true;
}

bool decode_wmma(decoder *d)
{
    shape s;
    if (d->parts < 4 || !find_shape(d, &s)) return false;
    if (!strcmp(d->part[1], "mma")) return decode_wmma_product(d, &s);
    return decode_fragment_access(d, &s, !strcmp(d->part[1], "load"));
}

static bool decode_tiles(decoder *d, bool load)
{
    const ptx_statement *s = d->now;
    const ptx_operand *list = &s->operand[!load];
    if (s->operands != 2 || !has_part(d, "m8n8") || !has_part(d, "b16")) return false;
    if (list->kind != PTX_LIST || has_part(d, "cluster")) return false;
    draft x = start(d, load ? run_ldmatrix : run_stmatrix);
    x.op.count = has_part(d, "x4") ? 4 : has_part(d, "x2") ? 2 : 1;
    x.op.variant = has_part(d, "trans");
    if (list->items != x.op.count) return false;
    for (uint32_t i = 0; i < x.op.count; i++) {
        if (load)
            set_write(d, &x, FIELD_D + i, &list->item[i], 4, false);
        else
            set_read(d, &x, FIELD_D + i, &list->item[i], 4);
    }
    if (!set_matrix_address(d, &x, &s->operand[load])) return false;
    push(d, &x);
    return true;
}

/* ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {...}, [p] */
bool decode_ldmatrix(decoder *d)
{
    return decode_tiles(d, true);
}

/* stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [p], {...} */
bool decode_stmatrix(decoder *d)
{
    return decode_tiles(d, false);
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
bool decode_movmatrix(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands != 2 || !has_part(d, "trans")) return false;
    draft x = start(d, run_movmatrix);
    set_read(d, &x, FIELD_A, &s->operand[1], 4);
    set_write(d, &x, FIELD_D, &s->operand[0], 4, false);
    push(d, &x);
    return true;
}
