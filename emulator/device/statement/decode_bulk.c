/*
 * decode_bulk.c: bulk copies, plain and of tensors.
 *
 * Interface
 *   decode_bulk, decode_store_async
 *
 * What is refused: gather and scatter, im2col of Blackwell, copies whose bytes a mask chooses.
 */
#include "device/tensor/bulk.h"
#include "statement.h"

enum { FIRST_SPACE = 3 };

static bool is_space(const char *part)
{
    return !strcmp(part, "global") || !strcmp(part, "shared::cluster") ||
           !strcmp(part, "shared::cta");
}

/* The two spaces of the opcode, where to and where from. */
static bool find_kind(const decoder *d, bulk *x)
{
    const char *found[2] = {NULL, NULL};
    uint32_t n = 0;
    for (uint32_t i = FIRST_SPACE; i < d->parts && n < 2; i++)
        if (is_space(d->part[i])) found[n++] = d->part[i];
    if (n < 2) return false;
    bool to_global = !strcmp(found[0], "global"), from_global = !strcmp(found[1], "global");
    x->kind = to_global ? BULK_STORE : from_global ? BULK_LOAD : BULK_SEND;
    return !(to_global && from_global);
}

static bool is_beyond(const decoder *d)
{
    static const char *const parts[] = {"im2col::w", "im2col::w::128", "tile::gather4",
                                        "tile::scatter4", "cp_mask"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_part(d, parts[i])) return true;
    return false;
}

static void note_read(draft *x, bulk *b, uint32_t at)
{
    uint16_t bit = 1u << FIELD_V0;
    if (x->reads & bit) x->more_reads[0] |= UINT64_C(1) << at;
    b->row[at] = x->op.v[0];
    x->reads &= (uint16_t)~bit;
    x->op.v[0] = 0;
}

static void set_more(decoder *d, draft *x, bulk *b, uint32_t at, const ptx_operand *o)
{
    set_read(d, x, FIELD_V0, o, 4);
    note_read(x, b, at);
}

/* The sum of a register and a number. */
static bool set_place(decoder *d, draft *x, field f, const ptx_operand *base, uint64_t offset)
{
    ptx_operand symbol = *base;
    if (base->kind == PTX_SYMBOL) symbol.number += offset;
    if (base->kind == PTX_SYMBOL || !offset) {
        set_read(d, x, f, &symbol, 8);
        return x->op.run != NULL;
    }
    uint32_t sum = new_register(d, 8);
    draft add = start(d, rule_find("add.u64")->run);
    set_read(d, &add, FIELD_A, base, 8);
    set_constant(d, &add, FIELD_B, offset, 8);
    set_register(&add, FIELD_D, sum, true);
    push(d, &add);
    set_register(x, f, sum, false);
    return true;
}

static bool set_memory(decoder *d, draft *x, field f, const ptx_operand *o)
{
    return o->kind == PTX_MEMORY && set_place(d, x, f, &o->item[0], o->number);
}

/* [map, {x, y, ...}] */
static bool set_tensor(decoder *d, draft *x, bulk *b, const ptx_operand *o)
{
    if (o->kind != PTX_LIST || o->items != 2 || o->item[1].kind != PTX_LIST) return false;
    if (o->item[1].items != b->rank) return false;
    for (uint32_t i = 0; i < b->rank; i++) set_more(d, x, b, i, &o->item[1].item[i]);
    ptx_operand map = o->item[0];
    uint64_t offset = map.kind == PTX_REGISTER ? map.number : 0;
    return set_place(d, x, FIELD_B, &map, offset);
}

static bool set_there(decoder *d, draft *x, bulk *b, const ptx_operand *o)
{
    return b->rank ? set_tensor(d, x, b, o) : set_memory(d, x, FIELD_B, o);
}

/* What an mbarrier is told of: 32 bits, and sums of 64. */
static bool is_of_shared(const char *operation, const char *type)
{
    const bool is_long = !strcmp(type, "u64") || !strcmp(type, "s64");
    const bool is_word = strchr("usb", type[0]) && !strcmp(type + 1, "32");
    return is_word || (is_long && !strcmp(operation, "add"));
}

/* cp.reduce.async.bulk: the operation stands before the type, or alone. */
static bool set_reduction(const decoder *d, draft *x, bulk *b)
{
    static const char *const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    const char *type = last_part(d);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_part(d, names[i])) b->operation = names[i];
    if (!b->operation || b->kind == BULK_LOAD) return false;
    if (b->rank) return true;
    if (b->kind != BULK_STORE && !is_of_shared(b->operation, type)) return false;
    if (b->kind != BULK_STORE) x->op.strength = STRENGTH_ATOMIC;
    b->reduce.run = find_atomic(b->operation, type);
    b->reduce.size = (uint8_t)type_size(type);
    return b->reduce.run != NULL;
}

/* im2col: a list of offsets behind the mbarrier, one for each dimension in space; a store has none.
 */
static bool set_offsets(decoder *d, draft *x, bulk *b, uint32_t *at)
{
    const ptx_operand *list = &d->now->operand[*at];
    b->im2col = has_part(d, "im2col") || has_part(d, "im2col_no_offs");
    if (b->im2col && b->rank < 3) return false;
    if (!has_part(d, "im2col")) return true;
    if (*at >= d->now->operands || list->kind != PTX_LIST || list->items != b->rank - 2u)
        return false;
    for (uint32_t i = 0; i < list->items; i++) set_more(d, x, b, OFFSET_ROW + i, &list->item[i]);
    (*at)++;
    return true;
}

/* The last operands: a mask of blocks, a cache policy. */
static bool set_mask(decoder *d, draft *x, bulk *b, uint32_t at)
{
    const ptx_statement *s = d->now;
    b->multicast = has_part(d, "multicast::cluster");
    if (b->multicast && at < s->operands) set_more(d, x, b, MASK_ROW, &s->operand[at++]);
    at += has_part(d, "L2::cache_hint");
    return at == s->operands && x->op.run != NULL;
}

/* to, from {, bytes} {, mbarrier} {, offsets} {, mask} {, policy} */
static bool decode_bulk_copy(decoder *d, bool reduces)
{
    const ptx_statement *s = d->now;
    bulk *b = module_keep(d->module, sizeof *b);
    draft x = start(d, run_bulk);
    x.op.extra = b;
    x.more = b->row;
    x.more_count = BULK_ROWS;
    if (has_part(d, "tensor")) b->rank = (uint8_t)(d->part[4 + reduces][0] - '0');
    if (is_beyond(d) || b->rank > TENSOR_RANK || !find_kind(d, b)) return false;
    if (reduces && !set_reduction(d, &x, b)) return false;
    bool loads = b->kind == BULK_LOAD, told = b->kind != BULK_STORE;
    uint32_t at = 2 + !b->rank;
    if (s->operands < at + told) return false;
    if (!set_memory(d, &x, FIELD_A, &s->operand[!loads])) return false;
    if (!set_there(d, &x, b, &s->operand[loads])) return false;
    if (!b->rank) set_read(d, &x, FIELD_E, &s->operand[2], 4);
    if (told && !set_memory(d, &x, FIELD_C, &s->operand[at++])) return false;
    if (!set_offsets(d, &x, b, &at)) return false;
    if (!set_mask(d, &x, b, at)) return false;
    push(d, &x);
    return true;
}

/* st.async...: to, value or {values}, mbarrier; red.async...: to, value, mbarrier */
bool decode_store_async(decoder *d)
{
    const ptx_statement *s = d->now;
    if (!has_part(d, "shared::cluster") || s->operands != 3) return false;
    const ptx_operand *value = &s->operand[1];
    bool several = value->kind == PTX_LIST;
    bulk *b = module_keep(d->module, sizeof *b);
    draft x = start(d, run_store_async);
    x.op.extra = b;
    x.more = b->row;
    x.more_count = BULK_ROWS;
    b->kind = BULK_VALUES;
    b->values = several ? (uint8_t)value->items : 1;
    b->value_bytes = (uint8_t)type_size(last_part(d));
    if (b->values > 4 || (b->value_bytes != 4 && b->value_bytes != 8)) return false;
    if (!strcmp(d->part[0], "red") && (several || !set_reduction(d, &x, b))) return false;
    if (!set_memory(d, &x, FIELD_A, &s->operand[0])) return false;
    for (uint32_t i = 0; i < b->values; i++) {
        set_read(d, &x, FIELD_V0, several ? &value->item[i] : value, b->value_bytes);
        note_read(&x, b, i);
    }
    if (!set_memory(d, &x, FIELD_C, &s->operand[2]) || !x.op.run) return false;
    push(d, &x);
    return true;
}

static bool decode_bulk_group(decoder *d)
{
    const ptx_statement *s = d->now;
    bool waits = has_part(d, "wait_group");
    draft x = start(d, waits ? run_bulk_wait : run_bulk_commit);
    if (waits && (s->operands != 1 || s->operand[0].kind != PTX_NUMBER)) return false;
    x.op.variant = has_part(d, "read");
    if (waits) x.op.offset = (int64_t)(uint32_t)s->operand[0].number;
    push(d, &x);
    return true;
}

/* cp.async.bulk..., cp.reduce.async.bulk... */
bool decode_bulk(decoder *d)
{
    if (has_part(d, "prefetch")) return true; /* nothing is faster here */
    if (has_part(d, "commit_group") || has_part(d, "wait_group")) return decode_bulk_group(d);
    return decode_bulk_copy(d, has_part(d, "reduce"));
}
