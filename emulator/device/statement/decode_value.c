/*
 * decode_value.c: statements that compute: a rule of the opcode tables, found by name.
 *
 * Interface
 *   decode_plain, decode_move, decode_setp, decode_set, decode_cvt, decode_carry, decode_slct
 */
#include <stdio.h>
#include <stdlib.h>

#include "statement.h"

/* Drop one part from d->name. */
static bool drop_part(decoder *d, const char *part)
{
    char pattern[16];
    snprintf(pattern, sizeof pattern, ".%s", part);
    size_t length = strlen(pattern);
    for (char *at = strstr(d->name, pattern); at; at = strstr(at + 1, pattern)) {
        if (at[length] != '.' && at[length] != 0) continue;
        memmove(at, at + length, strlen(at + length) + 1);
        return true;
    }
    return false;
}

static const char *result_type(const decoder *d)
{
    bool converts = !strcmp(d->part[0], "cvt") && d->parts > 2;
    return d->part[d->parts - (converts ? 2 : 1)];
}

/* The rule for d->name; failing that, for the name without rounding and saturation, which are then
 * done around it. */
static const rule *find_rule(decoder *d)
{
    const rule *r = rule_find(d->name);
    const char *type = result_type(d);
    bool wide = !strcmp(type, "f32") || !strcmp(type, "f64"), narrow = strstr(type, "f16");
    if (r || !(wide || narrow)) return r;
    if (narrow) {
        d->saturate = drop_part(d, "sat");
        return rule_find(d->name);
    }
    if (drop_part(d, "rm")) d->rounding = 1;
    if (drop_part(d, "rp")) d->rounding = 2;
    if (drop_part(d, "rz")) d->rounding = 3;
    r = rule_find(d->name);
    if (r) return r;
    d->saturate = drop_part(d, "sat");
    return rule_find(d->name);
}

static bool push_saturation(decoder *d, uint32_t reg)
{
    char name[32];
    snprintf(name, sizeof name, "saturate.%s", result_type(d));
    const rule *r = rule_find(name);
    if (r && d->width[reg] == r->width[0]) push_rule(d, name, reg, reg);
    return r && d->width[reg] == r->width[0];
}

static bool push_by_rule(decoder *d, const rule *r, const ptx_operand *to, const ptx_operand *from,
                         uint32_t sources, bool is_signed)
{
    if (!r) return false;
    draft x = start(d, r->run);
    if (d->rounding) {
        x.op.run = run_rounded;
        x.op.inner = r->run;
        x.op.variant = (uint8_t)d->rounding;
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (r->width[i + 1] == NO_OPERAND) break;
        if (i == sources) return false;
        set_read(d, &x, FIELD_A + i, &from[i], r->width[i + 1]);
    }
    set_write(d, &x, FIELD_D, to, r->width[0], is_signed);
    push(d, &x);
    return !d->saturate || to->kind != PTX_REGISTER || push_saturation(d, to->reg);
}

bool decode_plain(decoder *d)
{
    const ptx_statement *s = d->now;
    const char *type = last_part(d);
    if (!strcmp(d->part[0], "testp")) return decode_setp(d);
    if (!strcmp(d->part[0], "not") || !strcmp(d->part[0], "mov")) {
        if (!strcmp(type, "pred")) {
            static const ptx_operand zero = {.kind = PTX_NUMBER};
            ptx_operand from[2] = {s->operand[1], zero};
            return s->operands == 2 &&
                   push_by_rule(d, rule_find(d->name), s->operand, from, 2, false);
        }
    }
    if (!strcmp(d->part[0], "selp"))
        snprintf(d->name, sizeof d->name, "selp.b%d", 8 * type_size(type));
    const rule *r = find_rule(d);
    if (!s->operands) return false;
    return push_by_rule(d, r, &s->operand[0], &s->operand[1], s->operands - 1, type[0] == 's');
}

/* ---- mov ------------------------------------------------------------------------------------- */

/* mov.b64 {%r1, %r2}, %rd1 and back. */
static bool move_vector(decoder *d, const ptx_operand *list, const ptx_operand *whole, bool pack)
{
    int bytes = type_size(last_part(d));
    if (list->items < 2 || list->items > 4 || bytes > 8) return false;
    uint8_t each = (uint8_t)(bytes / (int)list->items);
    if (each < 2) return false;
    draft x = start(d, pack ? run_pack : run_unpack);
    x.op.size = each;
    x.op.count = (uint8_t)list->items;
    if (pack)
        set_write(d, &x, FIELD_D, whole, (uint8_t)bytes, false);
    else
        set_read(d, &x, FIELD_A, whole, (uint8_t)bytes);
    for (uint32_t i = 0; i < list->items; i++) {
        const ptx_operand *item = &list->item[i];
        if (pack)
            set_read(d, &x, FIELD_A + i, item, each);
        else
            set_write(d, &x, FIELD_D + i, item, each, false);
    }
    push(d, &x);
    return true;
}

static bool move_clock(decoder *d, const char *name)
{
    static const struct {
        const char *name;
        uint8_t width, variant;
    } clocks[] = {{"%clock", 4, 0},       {"%clock_hi", 4, 1},       {"%clock64", 8, 0},
                  {"%globaltimer", 8, 2}, {"%globaltimer_lo", 4, 2}, {"%globaltimer_hi", 4, 3}};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        if (strcmp(clocks[i].name, name)) continue;
        draft x = start(d, run_clock);
        x.op.size = clocks[i].width;
        x.op.variant = clocks[i].variant;
        set_write(d, &x, FIELD_D, &d->now->operand[0], clocks[i].width, false);
        push(d, &x);
        return true;
    }
    return false;
}

static bool move_local_address(decoder *d, const ptx_operand *from)
{
    const ptx_variable *v = find_local(d, from, SPACE_LOCAL);
    if (!v) return false;
    draft x = start(d, run_local_address);
    x.op.size = (uint8_t)type_size(last_part(d));
    x.op.offset = (int64_t)(v->offset + from->number);
    set_write(d, &x, FIELD_D, &d->now->operand[0], x.op.size, false);
    push(d, &x);
    return true;
}

/* mov.b64 a, f_param_0: the parameter is copied to where it lies in local memory. */
static bool move_formal_address(decoder *d, const ptx_operand *from)
{
    const function *f = d->to;
    uint32_t i = 0;
    while (i < f->formals && strcmp(d->from->param[i].name, from->name)) i++;
    if (i == f->formals || !f->formal_home[i]) return false;
    const uint32_t home = f->formal_home[i] - 1;
    for (uint32_t word = 0; word < f->formal_words[i]; word++)
        push_formal_copy(d, f->formal[i] + word * LANES * 4, home + 4 * word);
    draft x = start(d, run_local_address);
    x.op.size = 8;
    x.op.offset = (int64_t)(home + from->number);
    set_write(d, &x, FIELD_D, &d->now->operand[0], 8, false);
    push(d, &x);
    return true;
}

bool decode_move(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands != 2) return false;
    const ptx_operand *to = &s->operand[0], *from = &s->operand[1];
    if (!strcmp(last_part(d), "pred")) return decode_plain(d);
    if (to->kind == PTX_LIST) return move_vector(d, to, from, false);
    if (from->kind == PTX_LIST) return move_vector(d, from, to, true);
    if (from->kind == PTX_SYMBOL && move_clock(d, from->name)) return true;
    if (from->kind == PTX_SYMBOL && move_local_address(d, from)) return true;
    if (from->kind == PTX_SYMBOL && move_formal_address(d, from)) return true;
    int bytes = type_size(last_part(d));
    if (bytes < 1 || bytes > 8) return false;
    snprintf(d->name, sizeof d->name, "mov.b%d", 8 * register_width(bytes));
    return push_by_rule(d, rule_find(d->name), to, from, 1, false);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Signs do not matter for equality. lo, ls, hi, hs are unsigned lt, le, gt, ge. */
static const rule *comparison(const char *how, const char *type)
{
    static const char *const unsigned_names[][2] = {
        {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
    for (int i = 0; i < 4; i++) {
        if (!strcmp(how, unsigned_names[i][0])) how = unsigned_names[i][1];
    }
    bool equality = !strcmp(how, "eq") || !strcmp(how, "ne");
    char name[32];
    bool integer = strchr("bsu", type[0]) && strncmp(type, "bf", 2);
    if (equality && integer)
        snprintf(name, sizeof name, "setp.%s.b%s", how, type + 1);
    else
        snprintf(name, sizeof name, "setp.%s.%s", how, type);
    return rule_find(name);
}

static uint8_t combination(const decoder *d)
{
    return has_part(d, "and") ? 1 : has_part(d, "or") ? 2 : has_part(d, "xor") ? 3 : 0;
}

bool decode_setp(decoder *d)
{
    const ptx_statement *s = d->now;
    bool test = !strcmp(d->part[0], "testp");
    if (s->operands < (test ? 2u : 3u) || d->parts < 3) return false;
    const rule *r = test ? rule_find(d->name) : comparison(d->part[1], last_part(d));
    if (!r) return false;
    draft x = start(d, r->run);
    x.op.variant = test ? 0 : combination(d);
    set_read(d, &x, FIELD_A, &s->operand[1], r->width[1]);
    set_read(d, &x, FIELD_B, &s->operand[test ? 1 : 2], r->width[2]);
    if (x.op.variant && s->operands < 4) return false;
    if (x.op.variant) set_read(d, &x, FIELD_C, &s->operand[3], PREDICATE);
    const ptx_operand *to = &s->operand[0];
    bool pair = to->kind == PTX_PAIR;
    set_write(d, &x, FIELD_D, pair ? &to->item[0] : to, PREDICATE, false);
    if (pair) set_write(d, &x, FIELD_V0, &to->item[1], PREDICATE, false);
    push(d, &x);
    return true;
}

static bool push_select(decoder *d, const ptx_operand *to, uint8_t width, const ptx_operand *yes,
                        const ptx_operand *no, uint32_t predicate)
{
    char name[16];
    snprintf(name, sizeof name, "selp.b%d", 8 * width);
    const rule *r = rule_find(name);
    if (!r) return false;
    draft x = start(d, r->run);
    set_read(d, &x, FIELD_A, yes, width);
    set_read(d, &x, FIELD_B, no, width);
    set_register(&x, FIELD_C, predicate, false);
    set_write(d, &x, FIELD_D, to, width, false);
    push(d, &x);
    return true;
}

static bool push_test(decoder *d, const rule *r, uint32_t to, const ptx_operand *a,
                      const ptx_operand *b)
{
    if (!r) return false;
    draft x = start(d, r->run);
    set_read(d, &x, FIELD_A, a, r->width[1]);
    set_read(d, &x, FIELD_B, b, r->width[2]);
    set_register(&x, FIELD_D, to, true);
    push(d, &x);
    return true;
}

/* What `set` writes where the comparison holds: 1.0, or all ones. */
static uint64_t set_value(const char *type)
{
    if (!strcmp(type, "f32")) return 0x3f800000;
    if (!strcmp(type, "f16")) return 0x3c00;
    if (!strcmp(type, "bf16")) return 0x3f80;
    return ~UINT64_C(0);
}

/* set.lt.u32.f32 is a comparison and a selection; packed pairs have rules of their own. */
bool decode_set(decoder *d)
{
    const ptx_statement *s = d->now;
    if (rule_find(d->name)) return decode_plain(d);
    if (s->operands != 3 || d->parts < 4 || combination(d)) return false;
    const char *type = d->part[d->parts - 2];
    uint32_t p = new_register(d, PREDICATE);
    ptx_operand no = {.kind = PTX_NUMBER};
    ptx_operand yes = {.kind = PTX_NUMBER, .number = set_value(type)};
    int bytes = type_size(type);
    return (bytes == 2 || bytes == 4) &&
           push_test(d, comparison(d->part[1], last_part(d)), p, &s->operand[1], &s->operand[2]) &&
           push_select(d, &s->operand[0], (uint8_t)bytes, &yes, &no, p);
}

/* slct.s32.f32 d, a, b, c: a where c >= 0. */
bool decode_slct(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands != 4 || d->parts < 3) return false;
    uint32_t p = new_register(d, PREDICATE);
    ptx_operand zero = {.kind = PTX_NUMBER};
    int bytes = type_size(d->part[d->parts - 2]);
    return bytes >= 2 && push_test(d, comparison("ge", last_part(d)), p, &s->operand[3], &zero) &&
           push_select(d, &s->operand[0], (uint8_t)bytes, &s->operand[1], &s->operand[2], p);
}

/* ---- cvt, carries ---------------------------------------------------------------------------- */

bool decode_cvt(decoder *d)
{
    const ptx_statement *s = d->now;
    if (s->operands < 2 || d->parts < 3) return false;
    const char *to = d->part[d->parts - 2], *from = last_part(d);
    bool float_source = from[0] == 'f' || !strncmp(from, "bf", 2);
    bool float_target = to[0] == 'f' || !strncmp(to, "bf", 2);
    if (float_source && !float_target) drop_part(d, "sat"); /* they clamp anyway */
    const rule *r = find_rule(d);
    if (!r) return false;
    return push_by_rule(d, r, &s->operand[0], &s->operand[1], s->operands - 1, to[0] == 's');
}

/* add.cc, addc, addc.cc and so on: the carry flag is a predicate register of the function. */
bool decode_carry(decoder *d)
{
    const ptx_statement *s = d->now;
    bool out = has_part(d, "cc");
    char base[8];
    snprintf(base, sizeof base, "%.3s", d->part[0]);
    bool in = strlen(d->part[0]) == 4;
    bool wide_sign = has_part(d, "hi") && last_part(d)[0] == 's';
    int bits = atoi(last_part(d) + 1);
    char name[32];
    if (!strcmp(base, "mad")) {
        const char *sign = has_part(d, "hi") ? wide_sign ? "s" : "u" : "";
        snprintf(name, sizeof name, "madc.%s.%s%d", has_part(d, "hi") ? "hi" : "lo", sign, bits);
    } else {
        snprintf(name, sizeof name, "%sc.%d", base, bits);
    }
    const rule *r = rule_find(name);
    if (!r || s->operands < 3) return false;
    if (!d->carry) d->carry = new_register(d, PREDICATE);
    draft x = start(d, r->run);
    for (uint32_t i = 0; i < 3; i++) {
        ptx_operand zero = {.kind = PTX_NUMBER};
        set_read(d, &x, FIELD_A + i, i + 1 < s->operands ? &s->operand[i + 1] : &zero,
                 r->width[i + 1]);
    }
    if (in)
        set_register(&x, FIELD_E, d->carry, false);
    else
        set_constant(d, &x, FIELD_E, !strcmp(base, "sub"), PREDICATE);
    if (out) set_register(&x, FIELD_V0, d->carry, true);
    set_write(d, &x, FIELD_D, &s->operand[0], r->width[0], false);
    push(d, &x);
    return true;
}
