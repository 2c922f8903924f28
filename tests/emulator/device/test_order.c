/*
 * test_order.c: what works come before and after, and launches that are kept for a graph: through
 * the device's interface, in this process or another.
 */
#include <check.h>
#include <string.h>

#include "device/device.h"

enum { BYTES = 256 };

static device *d;
static device_address x, y;
static uint32_t add_one; /* the kernel */
static uint32_t works[DEVICE_LANES];
static char host[BYTES];

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add_one(.param .u64 p) {\n"
                          ".reg .b64 %a<4>; .reg .b32 %t<3>;\n"
                          "ld.param.u64 %a1, [p]; mov.u32 %t1, %tid.x;\n"
                          "mul.wide.u32 %a2, %t1, 4; add.s64 %a3, %a1, %a2;\n"
                          "ld.global.u32 %t2, [%a3]; add.u32 %t2, %t2, 1;\n"
                          "st.global.u32 [%a3], %t2; ret;\n}\n";

static void set_up(void)
{
    device_options options = {.memory_bytes = 1 << 20, .threads = 2};
    uint32_t module;
    d = device_open(&options);
    ck_assert_ptr_nonnull(d);
    ck_assert_int_eq(device_alloc(d, BYTES, &x), DEVICE_OK);
    ck_assert_int_eq(device_alloc(d, BYTES, &y), DEVICE_OK);
    ck_assert_int_eq(device_load(d, ptx, sizeof ptx - 1, &module), DEVICE_OK);
    ck_assert_int_eq(device_function(d, module, "add_one", &add_one), DEVICE_OK);
    ck_assert_int_eq(device_write(d, x, host, BYTES), DEVICE_OK);
    ck_assert_int_eq(device_write(d, y, host, BYTES), DEVICE_OK);
    memset(works, 0, sizeof works);
    device_count(d, 1);
}

static void tear_down(void)
{
    device_close(d);
}

/* The next work of a lane comes after all that was, but of one other lane after that many works
 * only. */
static void turn(uint32_t lane, uint32_t other, uint32_t after)
{
    device_turn t = {.lane = lane, .work = ++works[lane]};
    memset(t.after, 0xff, sizeof t.after);
    t.after[other] = after;
    device_take_turn(d, &t);
}

static device_launch_request launch_of(const device_address *p)
{
    return (device_launch_request){.function = add_one,
                                   .grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .params = p,
                                   .param_bytes = sizeof *p};
}

static void launch(device_address p)
{
    device_launch_request r = launch_of(&p);
    ck_assert_int_eq(device_launch(d, &r), DEVICE_OK);
}

static uint64_t span(void)
{
    device_counts counts;
    device_count_total(d, &counts);
    return counts.span;
}

/* @return how many findings there are; all must be races of streams */
static int races(void)
{
    device_finding f;
    int count = 0;
    for (; device_take_finding(d, &f); count++) ck_assert_int_eq(f.kind, FINDING_STREAM_RACE);
    return count;
}

/* ---- order ----------------------------------------------------------------------------------- */

START_TEST(one_lane_overlaps_nothing)
{
    uint64_t before = span();
    turn(3, 3, 0), device_write(d, x, host, BYTES);
    turn(3, 3, 0), launch(x);
    turn(3, 3, 0), device_read(d, host, x, BYTES);
    ck_assert_uint_eq(span() - before, 3);
    ck_assert_int_eq(races(), 0);
}
END_TEST

START_TEST(lanes_overlap_where_nothing_orders_them)
{
    turn(1, 1, 0), device_write(d, x, host, BYTES);
    uint64_t before = span();
    turn(2, 1, 0), launch(y);
    ck_assert_uint_eq(span(), before);
    turn(3, 1, 0), device_read(d, host, y, BYTES);
    ck_assert_uint_eq(span(), before + 1);
    ck_assert_int_eq(races(), 0);
}
END_TEST

/* Of two works, the second comes after the first, or is said to be free: then it is done in the
 * same step, and races. Nothing in between. */
START_TEST(an_overlap_that_is_none_is_a_race)
{
    for (uint32_t ordered = 0; ordered < 2; ordered++) {
        turn(1, 1, 0), device_write(d, x, host, BYTES);
        uint64_t before = span();
        turn(2, 1, works[1] - !ordered), launch(x);
        ck_assert_uint_eq(span() - before, ordered);
        ck_assert_int_eq(races() > 0, !ordered);
        turn(1, 2, works[2] - !ordered), device_read(d, host, x, BYTES);
        ck_assert_int_eq(races() > 0, !ordered);
    }
}
END_TEST

/* Far more works than are remembered. */
START_TEST(old_works_are_over)
{
    uint64_t before = span();
    turn(1, 1, 0), device_write(d, x, host, BYTES);
    for (int i = 0; i < 5000; i++) turn(2, 1, 0), device_write(d, y, host, 4);
    turn(3, 1, 0), launch(x);
    turn(3, 1, 0), device_read(d, host, x, BYTES);
    ck_assert_int_eq(races(), 0);
    ck_assert_uint_eq(span() - before, 5003);
}
END_TEST

/* Who makes the device forget works has them done before what follows. */
START_TEST(works_that_are_forgotten_are_over)
{
    uint32_t module;
    turn(1, 1, 0), device_write(d, x, host, BYTES);
    uint64_t before = span();
    ck_assert_int_eq(device_load(d, ptx, sizeof ptx - 1, &module), DEVICE_OK);
    ck_assert_int_eq(device_unload(d, module), DEVICE_OK);
    turn(2, 1, 0), launch(x);
    ck_assert_int_eq(races(), 0);
    ck_assert_uint_eq(span() - before, 1);
}
END_TEST

/* So many accesses that their numbers run out, and start anew. */
START_TEST(works_before_many_accesses_are_over)
{
    device_finding f;
    device_launch_request r = launch_of(&y);
    r.grid[0] = 1100000;
    turn(1, 1, 0), device_write(d, x, host, BYTES);
    uint64_t before = span();
    turn(2, 1, 0), device_launch(d, &r);
    while (device_take_finding(d, &f)) continue; /* its blocks race */
    turn(3, 1, 0), device_read(d, host, x, BYTES);
    ck_assert_int_eq(races(), 0);
    ck_assert_uint_eq(span() - before, 1);
}
END_TEST

/* What is freed leaves no works behind, for who is given the same address. */
START_TEST(freed_memory_is_another)
{
    const uint64_t large = 1 << 19;
    device_address first, again;
    ck_assert_int_eq(device_alloc(d, large, &first), DEVICE_OK);
    turn(1, 1, 0), device_write(d, first, host, BYTES);
    ck_assert_int_eq(device_free(d, first), DEVICE_OK);
    while (!device_alloc(d, large, &again) && again != first) device_free(d, again);
    ck_assert_uint_eq(again, first);
    turn(2, 1, 0), device_write(d, again, host, BYTES);
    ck_assert_int_eq(races(), 0);
}
END_TEST

START_TEST(numbers_that_make_no_sense_do_no_harm)
{
    device_turn t = {.lane = 1000000, .work = 7};
    uint64_t before = span();
    memset(t.after, 0xff, sizeof t.after);
    device_take_turn(d, &t), launch(x);
    t.work = 3;
    device_take_turn(d, &t), launch(x);
    ck_assert_uint_eq(span() - before, 2);
    ck_assert_int_eq(races(), 0);
}
END_TEST

/* Of what lay there before nothing is left, at the beginning of a copy or within. */
START_TEST(memory_that_was_given_back_is_new)
{
    enum { PAGE = 4096 };
    const device_address at = DEVICE_BASE + DEVICE_OWN_BYTES;
    static const char page[PAGE];
    for (uint64_t offset = 0; offset < PAGE; offset += PAGE / 4) {
        ck_assert_int_eq(device_share(d, at, PAGE), DEVICE_OK);
        turn(1, 1, 0), device_write(d, at + offset, page, BYTES);
        ck_assert_int_eq(device_unshare(d, at), DEVICE_OK);
        ck_assert_int_eq(device_share(d, at, PAGE), DEVICE_OK);
        turn(2, 1, works[1] - 1), device_write(d, at, page, PAGE);
        ck_assert_int_eq(device_unshare(d, at), DEVICE_OK);
        ck_assert_int_eq(races(), 0);
    }
}
END_TEST

/* ---- graphs ---------------------------------------------------------------------------------- */

static uint64_t host_launches(void)
{
    device_counts counts;
    device_count_total(d, &counts);
    return counts.host_launches;
}

static uint32_t three_nodes(void)
{
    uint32_t graph = 0, node;
    const device_address to[3] = {x, y, x};
    for (uint32_t i = 0; i < 3; i++) {
        device_launch_request r = launch_of(&to[i]);
        ck_assert_int_eq(device_graph_add(d, &graph, &r, &node), DEVICE_OK);
        ck_assert_uint_eq(node, i + 1);
    }
    return graph;
}

START_TEST(a_run_of_a_graph_is_one_submission)
{
    uint32_t graph = three_nodes(), sum[2];
    for (uint32_t run = 0; run < 2; run++)
        for (uint32_t i = 1; i <= 3; i++)
            ck_assert_int_eq(device_graph_run(d, graph, i), DEVICE_OK);
    ck_assert_uint_eq(host_launches(), 2);
    ck_assert_int_eq(device_read(d, &sum[0], x, 4), DEVICE_OK);
    ck_assert_int_eq(device_read(d, &sum[1], y, 4), DEVICE_OK);
    ck_assert_uint_eq(sum[0], 4);
    ck_assert_uint_eq(sum[1], 2);
}
END_TEST

/* Neither a node again, nor another launch in between, nor a node that has changed. */
START_TEST(what_is_no_run_is_counted)
{
    uint32_t graph = three_nodes(), other = three_nodes();
    device_launch_request r = launch_of(&y);
    for (int i = 0; i < 3; i++) device_graph_run(d, graph, 2);
    ck_assert_uint_eq(host_launches(), 3);
    launch(x);
    device_graph_run(d, graph, 3);
    ck_assert_uint_eq(host_launches(), 5);
    device_graph_run(d, graph, 1), device_graph_run(d, other, 2), device_graph_run(d, graph, 3);
    ck_assert_uint_eq(host_launches(), 8);
    device_graph_run(d, graph, 1);
    ck_assert_int_eq(device_graph_set(d, graph, 2, &r), DEVICE_OK);
    device_graph_run(d, graph, 2);
    ck_assert_uint_eq(host_launches(), 10);
}
END_TEST

/* A quarter of a GiB, and no more. */
START_TEST(parameters_of_graphs_are_limited)
{
    static const char params[32000];
    device_launch_request r = launch_of(&x);
    device_status status = DEVICE_OK;
    uint32_t graph = 0, node = 0, count = 0;
    r.params = params;
    r.param_bytes = sizeof params;
    for (; status == DEVICE_OK && count < 20000; count++)
        status = device_graph_add(d, &graph, &r, &node);
    ck_assert_int_eq(status, DEVICE_OUT_OF_MEMORY);
    ck_assert_uint_lt(count, 9000);
    ck_assert_int_eq(device_graph_set(d, graph, 1, &r), DEVICE_OUT_OF_MEMORY);
    ck_assert_int_eq(device_graph_free(d, graph), DEVICE_OK);
    three_nodes();
}
END_TEST

START_TEST(graphs_that_are_none_are_refused)
{
    uint32_t graph = three_nodes(), none = graph + 1, node;
    device_launch_request r = launch_of(&x);
    ck_assert_int_eq(device_graph_run(d, graph, 0), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_run(d, graph, 4), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_run(d, none, 1), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_run(d, 0, 1), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_set(d, graph, 4, &r), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_add(d, &none, &r, &node), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_free(d, none), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_free(d, graph), DEVICE_OK);
    ck_assert_int_eq(device_graph_free(d, graph), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_graph_run(d, graph, 1), DEVICE_NOT_FOUND);
    ck_assert_uint_eq(three_nodes(), graph); /* the place is used again */
}
END_TEST

Suite *order_suite(void);
Suite *order_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *order = tcase_create("order"), *graphs = tcase_create("graphs");
    tcase_add_test(order, one_lane_overlaps_nothing);
    tcase_add_test(order, lanes_overlap_where_nothing_orders_them);
    tcase_add_test(order, an_overlap_that_is_none_is_a_race);
    tcase_add_test(order, old_works_are_over);
    tcase_add_test(order, works_that_are_forgotten_are_over);
    tcase_add_test(order, works_before_many_accesses_are_over);
    tcase_add_test(order, freed_memory_is_another);
    tcase_add_test(order, numbers_that_make_no_sense_do_no_harm);
    tcase_add_test(order, memory_that_was_given_back_is_new);
    tcase_add_test(graphs, a_run_of_a_graph_is_one_submission);
    tcase_add_test(graphs, what_is_no_run_is_counted);
    tcase_add_test(graphs, parameters_of_graphs_are_limited);
    tcase_add_test(graphs, graphs_that_are_none_are_refused);
    tcase_add_checked_fixture(order, set_up, tear_down);
    tcase_add_checked_fixture(graphs, set_up, tear_down);
    tcase_set_timeout(order, 120);
    tcase_set_timeout(graphs, 120);
    suite_add_tcase(suite, order);
    suite_add_tcase(suite, graphs);
    return suite;
}
