/* test_element.c: the short formats, against values that can be looked up, and against themselves.
 */
#include "grader/tests.h"

#include "call/argument.h"
#include <math.h>
#include <stdint.h>

static unsigned stored(element_type e, double value)
{
    uint16_t bits = 0;
    element_store(e, &bits, 0, value);
    return bits;
}

static const struct {
    element_type type;
    double value;
    unsigned bits;
} known[] = {
    {ELEMENT_F16, 1.0, 0x3c00},
    {ELEMENT_F16, -2.0, 0xc000},
    {ELEMENT_F16, 65504.0, 0x7bff},
    {ELEMENT_F16, 65519.0, 0x7bff},
    {ELEMENT_F16, 65520.0, 0x7c00},
    {ELEMENT_F16, -INFINITY, 0xfc00},
    {ELEMENT_F16, 0x1p-24, 0x0001},
    {ELEMENT_F16, 0x1p-25, 0x0000}, /* a tie: to the even one */
    {ELEMENT_F16, 0x1.8p-24, 0x0002},
    {ELEMENT_F16, 0x1p-14, 0x0400},
    {ELEMENT_F16, 0x1.ff8p-15, 0x03ff},
    {ELEMENT_F16, 1 + 0x1p-11, 0x3c00},
    {ELEMENT_F16, 1 + 0x3p-11, 0x3c02},
    {ELEMENT_F16, -0.0, 0x8000},
    {ELEMENT_BF16, 1.0, 0x3f80},
    {ELEMENT_BF16, 1 + 0x1p-8, 0x3f80},
    {ELEMENT_BF16, 1 + 0x3p-8, 0x3f82},
    {ELEMENT_BF16, 0x1.fep127, 0x7f7f},
    {ELEMENT_BF16, 0x1p128, 0x7f80},
    {ELEMENT_BF16, 0x1p-133, 0x0001},
    {ELEMENT_E4M3, 1.0, 0x38},
    {ELEMENT_E4M3, 448.0, 0x7e},
    {ELEMENT_E4M3, 1e6, 0x7e},
    {ELEMENT_E4M3, -INFINITY, 0xfe},
    {ELEMENT_E4M3, 0x1p-9, 0x01},
    {ELEMENT_E4M3, 0x1p-10, 0x00},
    {ELEMENT_E4M3, 0x1p-6, 0x08},
    {ELEMENT_E4M3, 17.0, 0x58}, /* a tie: 16 or 18 */
    {ELEMENT_E4M3, 19.0, 0x5a},
    {ELEMENT_I8, -200.0, 0x80},
    {ELEMENT_I8, 2.5, 0x02},
};

START_TEST(known_values)
{
    ck_assert_msg(stored(known[_i].type, known[_i].value) == known[_i].bits, "%g is 0x%x",
                  known[_i].value, stored(known[_i].type, known[_i].value));
}
END_TEST

/* Every number there is stays what it is; what lies between two goes to one of them. */
START_TEST(all_numbers_stay)
{
    static const element_type types[] = {ELEMENT_F16, ELEMENT_BF16, ELEMENT_E4M3};
    const element_type e = types[_i];
    const unsigned count = e == ELEMENT_E4M3 ? 1u << 8 : 1u << 16;
    for (unsigned bits = 0; bits < count; bits++) {
        const uint16_t as = (uint16_t)bits;
        const double value = element_value(e, &as, 0);
        if (isnan(value)) continue;
        ck_assert_msg(stored(e, value) == bits, "0x%x is %g is 0x%x", bits, value,
                      stored(e, value));
        const double half = element_rounding(e, value);
        if (isinf(value) || value <= 0) continue;
        ck_assert_uint_eq(stored(e, value + half * 0.99), bits);
    }
}
END_TEST

START_TEST(poison_is_no_number)
{
    static const element_type types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_F16, ELEMENT_BF16,
                                         ELEMENT_E4M3};
    const unsigned poison[] = {element_poison(types[_i]), element_poison(types[_i])};
    ck_assert(isnan(element_value(types[_i], poison, 0)));
    ck_assert_uint_ne(stored(ELEMENT_F16, NAN), (uint16_t)element_poison(ELEMENT_F16));
    ck_assert_uint_ne(stored(ELEMENT_E4M3, NAN), (uint8_t)element_poison(ELEMENT_E4M3));
}
END_TEST

Suite *suite_element(void)
{
    Suite *suite = suite_create("element");
    TCase *tcase = tcase_create("element");
    tcase_add_loop_test(tcase, known_values, 0, sizeof known / sizeof *known);
    tcase_add_loop_test(tcase, all_numbers_stay, 0, 3);
    tcase_add_loop_test(tcase, poison_is_no_number, 0, 5);
    suite_add_tcase(suite, tcase);
    return suite;
}
