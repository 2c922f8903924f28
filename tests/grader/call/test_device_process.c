/*
 * test_device_process.c: softgpu's device in its own process, as the grader sees it: what is lent
 * comes back, what a worker says of it does not count, and its end is noticed.
 */
#include "grader/tests.h"

#include "call/buffers.h"
#include "sandbox/sandbox.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static options course;
static device_process *d;

static bool can_run(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/softgpu_device", course.build);
    return access(path, X_OK) == 0;
}

static void start(void)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    d = can_run() ? device_process_start(&course) : NULL;
    ck_assert(d || !can_run());
}

static void stop(void)
{
    device_process_stop(d, false);
}

static wire_argument buffer(const char *name, uint64_t bytes)
{
    wire_argument w = {.kind = WIRE_BUFFER, .space = WIRE_DEVICE, .bytes = bytes};
    strcpy(w.name, name);
    w.value.u = POISON_F32;
    return w;
}

START_TEST(what_is_lent_comes_back)
{
    const size_t bytes = 5 << 20; /* more than one message */
    char *data = malloc(bytes), *back = malloc(bytes);
    wire_argument w = buffer("x", bytes);
    for (size_t i = 0; i < bytes; i++) data[i] = (char)(i * 7 / 3);
    if (d) {
        ck_assert(device_process_upload(d, &w, data));
        ck_assert(device_process_holds(d, &w, data) && device_process_download(d, &w, back));
        ck_assert_mem_eq(back, data, bytes);
        data[bytes - 1]++;
        ck_assert(!device_process_holds(d, &w, data));
    }
    free(data);
    free(back);
}
END_TEST

START_TEST(outputs_are_poisoned_and_surrounded)
{
    unsigned words[3] = {0};
    wire_argument w = buffer("y", sizeof words), empty = buffer("z", 0), shifted = buffer("s", 8);
    shifted.before = 4;
    if (!d) return;
    ck_assert(device_process_upload(d, &w, NULL) && device_process_upload(d, &empty, NULL));
    ck_assert(device_process_upload(d, &shifted, words) && device_process_is_whole(d, &shifted));
    ck_assert_uint_eq(shifted.address % 256, 4);
    ck_assert(empty.address != 0 && device_process_is_whole(d, &empty));
    ck_assert(device_process_download(d, &w, words));
    ck_assert_uint_eq(words[0], POISON_F32);
    ck_assert_uint_eq(words[2], POISON_F32);
}
END_TEST

static void lend(bool relocate, wire_argument w[2])
{
    device_process_release(d, relocate);
    w[0] = buffer("x", 400);
    w[1] = buffer("y", 5 << 20);
    for (int i = 0; i < 2; i++) ck_assert(device_process_upload(d, &w[i], NULL));
}

START_TEST(another_call_lies_there_or_elsewhere)
{
    wire_argument first[2], again[2], moved[2], back[2];
    if (!d) return;
    lend(false, first);
    lend(false, again);
    lend(true, moved);
    lend(false, back);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(again[i].address, first[i].address);
        ck_assert_uint_ne(moved[i].address, first[i].address);
        ck_assert_uint_eq(back[i].address, first[i].address);
    }
}
END_TEST

START_TEST(a_quiet_call_has_an_empty_account)
{
    if (!d) return;
    ck_assert(device_process_listen(d, true, 0));
    const remote_account *a = device_process_report(d);
    ck_assert_ptr_nonnull(a);
    ck_assert_uint_eq(a->launches + a->finding_count + a->round_trips + a->faults, 0);
}
END_TEST

/* The account comes first, and of the worker's words only as many as it gave. */
START_TEST(the_devices_findings_come_first)
{
    remote_account a = {.finding_count = 1, .findings = {{.kind = FINDING_RACE, .line = 7}}};
    wire_reply reply = {
        .finding_count = 2,
        .findings = {{.kind = FINDING_BAD_FREE, .line = 3}, {.kind = FINDING_UNCHECKED_ERROR}}};
    device_report_findings(&a, &reply);
    ck_assert_uint_eq(reply.finding_count, 3);
    ck_assert_int_eq(reply.findings[0].kind, FINDING_RACE);
    ck_assert_uint_eq(reply.findings[0].line, 7);
    ck_assert_int_eq(reply.findings[1].kind, FINDING_BAD_FREE);
    ck_assert_uint_eq(reply.findings[1].line, 3);
    ck_assert_int_eq(reply.findings[2].kind, FINDING_UNCHECKED_ERROR);
    a.finding_count = 1000;
    reply.finding_count = UINT32_MAX;
    device_report_findings(&a, &reply);
    ck_assert_uint_ge(reply.finding_count, 1000);
}
END_TEST

static const exercise strict = {.name = "strict"}, lenient = {.host_copies = true};
static const struct {
    const exercise *exercise;
    remote_account account;
    bool results;
    const char *words; /* NULL: nothing is wrong */
} works[] = {
    {&strict, {.launches = 1}, true, NULL},
    {&strict, {.counts.fills.count = 1}, true, NULL},
    {&strict, {.counts.to_device.bytes = 4}, true, NULL}, /* a constant */
    {&strict, {.round_trips = 1}, true, "no kernel ran"},
    {&lenient, {.round_trips = 1}, true, "no kernel ran"},
    {&strict, {.launches = 1, .counts.to_host.bytes = 4}, true, "went to the host"},
    {&lenient, {.launches = 1, .round_trips = 1, .counts.to_host.bytes = 4}, true, NULL},
    {&strict, {.launches = 1, .printed = 4096}, true, NULL},
    {&strict, {.launches = 1, .printed = 4097}, true, "are not allowed"},
    {&strict, {.launches = 1, .shares = 1}, true, "host and device share"},
    {&strict, {.round_trips = 1}, false, NULL},
    {&strict, {.launches = 1, .faults = 1}, true, "reports no error"},
};
START_TEST(results_are_made_on_the_device)
{
    call_outcome outcome = {0};
    const call_request request = {.function = "f", .host_copies = works[_i].exercise->host_copies};
    ongoing call = {.request = &request, .outcome = &outcome};
    const bool good = device_report_is_good(&call, &works[_i].account, works[_i].results);
    ck_assert_msg(good == !works[_i].words, "%s", outcome.message);
    ck_assert_msg(good || strstr(outcome.message, works[_i].words), "%s", outcome.message);
}
END_TEST

Suite *suite_device_process(void)
{
    Suite *suite = suite_create("device_process");
    TCase *tcase = tcase_create("device"), *account = tcase_create("account");
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, what_is_lent_comes_back);
    tcase_add_test(tcase, outputs_are_poisoned_and_surrounded);
    tcase_add_test(tcase, another_call_lies_there_or_elsewhere);
    tcase_add_test(tcase, a_quiet_call_has_an_empty_account);
    tcase_add_test(account, the_devices_findings_come_first);
    tcase_add_loop_test(account, results_are_made_on_the_device, 0, sizeof works / sizeof *works);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, account);
    return suite;
}
