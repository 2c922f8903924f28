/*
 * test_remote.c: the process of a device, asked by a client that means ill and a supervisor. The
 * suite of test_device.c, through the client, is in the same program.
 *
 * Build and run: make build/remote/test_device && build/remote/test_device
 */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/server.h"

static remote_link client, supervisor;
static pid_t process;
static remote_reply r;

static int pass_on(int socket, int number)
{
    return dup2(fcntl(socket, F_DUPFD_CLOEXEC, 20), number);
}

static void open_process(void)
{
    int c[2], s[2], host_memory;
    remote_hello hello;

    ck_assert(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c));
    ck_assert(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s));
    process = fork();
    if (process == 0) {
        pass_on(c[1], 10), pass_on(s[1], 11);
        execl(TEST_PROGRAM, TEST_PROGRAM, "10", "11", (char *)NULL);
        _exit(127);
    }
    close(c[1]), close(s[1]);
    ck_assert(remote_link_accept(&client, c[0], &host_memory, &hello, 20));
    ck_assert(remote_link_accept(&supervisor, s[0], &host_memory, &hello, 20));
    ck_assert_uint_gt(strlen(hello.simd), 0);
}

static int close_process(void)
{
    int status;

    remote_link_close(&supervisor);
    remote_link_close(&client);
    waitpid(process, &status, 0);
    return status;
}

static void close_cleanly(void)
{
    ck_assert_int_eq(close_process(), 0);
}

/* @return the status; the whole answer is in r */
static int ask(remote_link *link, remote_request q, const void *bytes, size_t length)
{
    memset(&r, 0, sizeof r);
    if (length) memcpy(link->window, bytes, length);
    q.payload = length;
    ck_assert(remote_ask(link, &q, &r, 10));
    return r.status;
}

#define ASK(link, kind, ...)                                                                       \
    ask(link, (remote_request){.verb = REMOTE_##kind, .word = {__VA_ARGS__}}, NULL, 0)
#define ASK_WITH(link, kind, text, ...)                                                            \
    ask(link, (remote_request){.verb = REMOTE_##kind, .word = {__VA_ARGS__}}, text, strlen(text))

static device_address allocate(remote_link *link, uint64_t bytes)
{
    ck_assert_int_eq(ASK(link, ALLOC, bytes), DEVICE_OK);
    return r.word[0];
}

static remote_account account(void)
{
    remote_account a;

    ck_assert_int_eq(ASK(&supervisor, LISTEN_OFF), DEVICE_OK);
    ck_assert_uint_ge(r.payload, sizeof a); /* the text follows */
    memcpy(&a, supervisor.window, sizeof a);
    return a;
}

/* ---- what the client cannot do --------------------------------------------------------------- */

START_TEST(it_cannot_free_what_is_the_supervisors)
{
    device_address theirs = allocate(&supervisor, 400), own = allocate(&client, 400);
    ck_assert_int_eq(ASK(&client, FREE, theirs), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(ASK(&client, FREE, own), DEVICE_OK);
    ck_assert_int_eq(ASK(&client, CLOSE, 0), DEVICE_OK);
    ck_assert_int_eq(ASK(&client, FIND, theirs), DEVICE_OK);
    ck_assert_int_eq(ASK(&supervisor, FREE, theirs), DEVICE_OK);
}
END_TEST

START_TEST(it_cannot_ask_what_a_supervisor_asks)
{
    remote_request q = {.verb = REMOTE_LISTEN};
    ck_assert(!remote_ask(&client, &q, &r, 10));
    ck_assert_int_eq(ASK(&supervisor, MEMORY, 0), DEVICE_OK);
    ck_assert_int_ne(close_process(), 0);
}
END_TEST

START_TEST(it_is_heard_only_while_it_is_listened_to)
{
    remote_request q = {.verb = REMOTE_MEMORY};
    account();
    ck_assert(!remote_ask(&client, &q, &r, 0.05));
    ck_assert_int_eq(ASK(&supervisor, LISTEN, 0), DEVICE_OK);
    ck_assert_int_eq(ASK(&supervisor, MEMORY, 0), DEVICE_OK); /* and by now it was answered */
    client.count = client.head->answered;
    ck_assert_int_eq(ASK(&client, MEMORY, 0), DEVICE_OK);
}
END_TEST

START_TEST(its_memory_cannot_be_made_smaller)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/10", (int)process);
    ck_assert_int_lt(truncate(path, 0), 0);
    int file = remote_file("test", 8192);
    ck_assert_int_lt(ftruncate(file, 4096), 0);
    ck_assert_int_lt(ftruncate(file, 16384), 0);
}
END_TEST

static const remote_request senseless[] = {
    {.verb = 0},
    {.verb = REMOTE_VERBS},
    {.verb = 0xffffffff},
    {.verb = REMOTE_ALLOC, .device = REMOTE_DEVICES},
    {.verb = REMOTE_WRITE, .payload = REMOTE_WINDOW + 1},
    {.verb = REMOTE_LOAD, .payload = UINT64_MAX},
};

START_TEST(no_message_ends_the_conversation)
{
    ck_assert(!remote_ask(&client, &senseless[_i], &r, 10));
    ck_assert_int_eq(ASK(&supervisor, MEMORY, 0), DEVICE_OK);
    ck_assert_int_eq(WEXITSTATUS(close_process()), 76);
}
END_TEST

static const struct {
    remote_request q;
    int status;
} wrong[] = {
    {{.verb = REMOTE_ALLOC, .word = {UINT64_MAX}}, DEVICE_OUT_OF_MEMORY},
    {{.verb = REMOTE_ALLOC, .device = 1, .word = {10}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_READ, .word = {DEVICE_BASE, UINT64_MAX}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_READ, .word = {DEVICE_BASE, 64}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_FILL, .word = {DEVICE_BASE, 0, UINT64_MAX}, .small = 4}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_FILL, .word = {DEVICE_BASE, 0, 1}, .small = 3}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_PEER, .word = {1}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_PEER, .word = {1}, .small = 3}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_SHARE, .word = {DEVICE_BASE, 4096}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_SHARE, .word = {DEVICE_BASE + DEVICE_BYTES - 1, 4096}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_SHARE, .word = {DEVICE_BASE + DEVICE_OWN_BYTES, UINT64_MAX}},
     DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_UNSHARE, .word = {DEVICE_BASE + DEVICE_OWN_BYTES}}, DEVICE_BAD_ADDRESS},
    {{.verb = REMOTE_FUNCTION, .payload = REMOTE_NAME}, DEVICE_NOT_FOUND},
    {{.verb = REMOTE_SYMBOL, .word = {7}, .payload = 3}, DEVICE_NOT_FOUND},
    {{.verb = REMOTE_FUNCTION_INFO, .word = {UINT32_MAX}}, DEVICE_NOT_FOUND},
    {{.verb = REMOTE_UNLOAD, .word = {1}}, DEVICE_NOT_FOUND},
    {{.verb = REMOTE_LAUNCH, .word = {12}}, DEVICE_NOT_FOUND},
    {{.verb = REMOTE_LAUNCH, .payload = 1 << 20}, DEVICE_BAD_LAUNCH},
    {{.verb = REMOTE_LOAD, .payload = 100}, DEVICE_BAD_MODULE},
};

START_TEST(what_makes_no_sense_is_refused)
{
    memset(client.window, 'x', 1 << 20);
    ck_assert(remote_ask(&client, &wrong[_i].q, &r, 10));
    ck_assert_int_eq(r.status, wrong[_i].status);
    ck_assert_int_eq(ASK(&client, MEMORY, 0), DEVICE_OK);
}
END_TEST

START_TEST(ranges_that_it_shares_do_not_overlap)
{
    const device_address at = DEVICE_BASE + DEVICE_OWN_BYTES + 8192;
    ck_assert_int_eq(ASK(&client, SHARE, at, 8192), DEVICE_OK);
    ck_assert_int_eq(ASK(&client, SHARE, at + 4096, 4096), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(ASK(&client, SHARE, at - 4096, 16384), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(ASK(&client, SHARE, at - 4096, 4096), DEVICE_OK);
    ck_assert_int_eq(ASK(&client, UNSHARE, at), DEVICE_OK);
    ck_assert_int_eq(ASK(&client, SHARE, at, 4096), DEVICE_OK);
}
END_TEST

/* ---- what the supervisor learns -------------------------------------------------------------- */

static const char store[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                            ".file 1 \"/some/folder/x.cu\"\n"
                            ".visible .entry store(.param .u64 p) {\n"
                            ".reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                            "ld.param.u64 %rd1, [p];\n"
                            "mov.u32 %r1, 7;\n"
                            ".loc 1 7 1\n"
                            "st.global.u32 [%rd1], %r1;\n"
                            "ret;\n}\n";

static const char say[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".global .align 1 .b8 hello[6] = {72, 101, 108, 108, 111, 0};\n"
    ".visible .entry say() {\n"
    ".reg .b64 %rd<3>;\n"
    "mov.u64 %rd1, hello;\n"
    "cvta.global.u64 %rd2, %rd1;\n"
    "{ .param .b64 a; .param .b64 b; .param .b32 r;\n"
    "st.param.b64 [a], %rd2;\n"
    "st.param.b64 [b], 0;\n"
    "call.uni (r), vprintf, (a, b); }\n"
    "ret;\n}\n";

static int launch(const char *ptx, const char *kernel, unsigned threads, device_address to)
{
    uint64_t function;
    ck_assert_int_eq(ASK_WITH(&client, LOAD, ptx, 0), DEVICE_OK);
    ck_assert_int_eq(ASK_WITH(&client, FUNCTION, kernel, r.word[0]), DEVICE_OK);
    function = r.word[0];
    return ask(
        &client,
        (remote_request){
            .verb = REMOTE_LAUNCH, .word = {function}, .grid = {1, 1, 1}, .block = {threads, 1, 1}},
        &to, sizeof to);
}

static int launch_store(device_address to)
{
    return launch(store, "store", 1, to);
}

START_TEST(it_learns_of_launches_and_findings)
{
    device_address c = allocate(&supervisor, 400);
    ck_assert_int_eq(ASK_WITH(&supervisor, CALL_IT, "the argument c", c), DEVICE_OK);
    ck_assert_int_eq(ASK(&supervisor, LISTEN, 1), DEVICE_OK);
    ck_assert_int_eq(launch_store(c), DEVICE_OK);
    ck_assert_int_eq(launch_store(c + 400), DEVICE_ILLEGAL_ADDRESS);
    ck_assert_int_eq(ASK(&client, COUNT, 0), DEVICE_OK); /* no business of the client's */
    ck_assert_int_eq(launch_store(c), DEVICE_OK);
    remote_account a = account();
    ck_assert_uint_eq(a.launches, 3);
    ck_assert_uint_eq(a.counts.launches, 3);
    ck_assert_uint_ge(a.counts.global_store.requests, 2);
    ck_assert_uint_eq(a.finding_count, 1);
    ck_assert_int_eq(a.findings[0].kind, FINDING_OUT_OF_BOUNDS);
    ck_assert_int_eq(a.findings[0].cause, CAUSE_PAST_END);
    ck_assert_str_eq(a.findings[0].text, "writes 4 bytes, just past the end of a 400-byte buffer, "
                                         "the argument c");
    ck_assert_int_eq(ASK(&supervisor, LISTEN, 0), DEVICE_OK);
    ck_assert_uint_eq(account().finding_count, 0);
}
END_TEST

START_TEST(it_learns_how_much_kernels_printed)
{
    ck_assert_int_eq(launch(say, "say", 40, 0), DEVICE_OK);
    ASK(&supervisor, LISTEN, 0);
    ck_assert_uint_eq(account().printed, 0);
    ASK(&supervisor, LISTEN, 0);
    ck_assert_int_eq(launch(say, "say", 40, 0), DEVICE_OK);
    char said[40 * 5];
    ck_assert_uint_eq(r.payload, sizeof said);
    memcpy(said, client.window, sizeof said);
    ck_assert_uint_eq(account().printed, sizeof said);
    ck_assert_uint_eq(r.payload, sizeof(remote_account) + sizeof said);
    ck_assert_mem_eq(supervisor.window + sizeof(remote_account), said, sizeof said);
}
END_TEST

START_TEST(the_clients_words_for_a_finding_are_no_more_than_words)
{
    device_address own = allocate(&client, 64);
    ASK(&supervisor, LISTEN, 0);
    launch_store(own + 64);
    ASK(&client, FINDING, 0);
    ck_assert_int_eq(ASK_WITH(&client, ANNOTATE, " allocated\nat x.cu:1", 0), DEVICE_OK);
    ck_assert_uint_eq(r.word[0], 1);
    remote_account a = account();
    ck_assert_str_eq(a.findings[0].text,
                     "writes 4 bytes, just past the end of a 64-byte buffer allocated?at x.cu:1");
}
END_TEST

/* Both ends get what the device has found; the supervisor without folders. */
START_TEST(a_finding_crosses_as_it_is)
{
    device_finding f, g;
    ASK(&supervisor, LISTEN, 0);
    launch_store(allocate(&client, 64) + 64);
    ck_assert_int_eq(ASK(&client, FINDING, 0), DEVICE_OK);
    ck_assert_uint_eq(r.payload, sizeof f);
    memcpy(&f, client.window, sizeof f);
    ck_assert_str_eq(f.file, "/some/folder/x.cu");
    ck_assert_uint_eq(f.line, 7);
    ck_assert_int_eq(f.relation, RELATION_PAST);
    ck_assert_uint_eq(f.bytes, 64);
    g = account().findings[0];
    ck_assert_str_eq(g.file, "x.cu");
    memcpy(g.file, f.file, sizeof g.file);
    ck_assert_mem_eq(&g, &f, sizeof f);
}
END_TEST

/* Long copies come in pieces and are one copy all the same. */
START_TEST(it_learns_of_copies)
{
    device_address c = allocate(&supervisor, 8 * REMOTE_CHUNK);
    ASK(&supervisor, LISTEN, 0);
    for (int i = 0; i < 3; i++) ASK(&client, READ, c + i * REMOTE_CHUNK, i < 2 ? REMOTE_CHUNK : 10);
    ASK(&client, READ, c, 4);
    ASK_WITH(&client, WRITE, "four", c);
    ASK_WITH(&client, WRITE, "four", c + 100);
    ASK(&client, COPY, c, c + 1000, 16);
    ask(&client, (remote_request){.verb = REMOTE_FILL, .word = {c, 0, 8}, .small = 4}, NULL, 0);
    ASK(&client, READ, 1, 4); /* refused */
    ASK_WITH(&supervisor, WRITE, "not the client's", c);
    remote_account a = account();
    ck_assert_uint_eq(a.counts.to_host.count, 2);
    ck_assert_uint_eq(a.counts.to_host.bytes, 2 * REMOTE_CHUNK + 14);
    ck_assert_uint_eq(a.counts.to_device.count, 2);
    ck_assert_uint_eq(a.counts.to_device.bytes, 8);
    ck_assert_uint_eq(a.counts.on_device.bytes, 16);
    ck_assert_uint_eq(a.counts.fills.bytes, 32);
    ck_assert_uint_eq(a.round_trips, 1);
    ck_assert_uint_eq(a.launches, 0);
}
END_TEST

static void copy_in_lane(uint32_t verb, device_address at, uint32_t lane, uint32_t work)
{
    remote_request q = {.verb = verb, .word = {at, 16}, .turn = {.lane = lane, .work = work}};
    if (verb == REMOTE_WRITE)
        ask(&client, q, "sixteen bytes  .", 16);
    else
        ask(&client, q, NULL, 0);
}

/* Whoever says that nothing orders his copies has them overlap, and race. */
START_TEST(it_learns_what_overlaps_and_what_races)
{
    device_address a = allocate(&supervisor, 64), b = allocate(&supervisor, 64);
    ASK_WITH(&supervisor, WRITE, "the supervisor's are no works", b);
    ASK(&supervisor, LISTEN, 0);
    copy_in_lane(REMOTE_WRITE, a, 1, 1);
    copy_in_lane(REMOTE_READ, b, 2, 1);
    remote_account apart = account();
    ck_assert_uint_eq(apart.counts.span, 1);
    ck_assert_uint_eq(apart.finding_count, 0);
    ASK(&supervisor, LISTEN, 0);
    copy_in_lane(REMOTE_WRITE, a, 1, 2);
    copy_in_lane(REMOTE_READ, a, 2, 2);
    ck_assert_uint_eq(r.word[0], 1);
    remote_account race = account();
    ck_assert_uint_eq(race.counts.span, 1);
    ck_assert_uint_eq(race.finding_count, 1);
    ck_assert_int_eq(race.findings[0].kind, FINDING_STREAM_RACE);
    ck_assert_int_eq(race.findings[0].cause, CAUSE_NO_EVENT);
}
END_TEST

/* What is said to be one work, or nobody's, is done step by step all the same. */
START_TEST(works_cannot_be_made_fewer)
{
    device_address a = allocate(&supervisor, 640);
    ASK(&supervisor, LISTEN, 0);
    for (int i = 0; i < 5; i++) copy_in_lane(REMOTE_WRITE, a + 16 * i, 1, 1);
    for (int i = 0; i < 5; i++) copy_in_lane(REMOTE_WRITE, a + 32 * i, i, 0);
    remote_account all = account();
    ck_assert_uint_eq(all.counts.to_device.count, 10);
    ck_assert_uint_eq(all.counts.span, 10);
    ck_assert_uint_eq(all.finding_count, 0);
}
END_TEST

START_TEST(it_is_told_when_the_process_ends)
{
    remote_request q = {.verb = REMOTE_MEMORY};
    kill(process, SIGKILL);
    ck_assert(!remote_ask(&supervisor, &q, &r, 10));
    ck_assert(!remote_ask(&client, &q, &r, 10));
    close_process();
}
END_TEST

Suite *more_suite(void);
Suite *more_suite(void)
{
    Suite *suite = suite_create("remote");
    TCase *clean = tcase_create("clean"), *broken = tcase_create("broken");
    tcase_add_test(clean, it_cannot_free_what_is_the_supervisors);
    tcase_add_test(clean, it_is_heard_only_while_it_is_listened_to);
    tcase_add_test(clean, its_memory_cannot_be_made_smaller);
    tcase_add_loop_test(clean, what_makes_no_sense_is_refused, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(clean, ranges_that_it_shares_do_not_overlap);
    tcase_add_test(clean, it_learns_of_launches_and_findings);
    tcase_add_test(clean, it_learns_how_much_kernels_printed);
    tcase_add_test(clean, a_finding_crosses_as_it_is);
    tcase_add_test(clean, the_clients_words_for_a_finding_are_no_more_than_words);
    tcase_add_test(clean, it_learns_of_copies);
    tcase_add_test(clean, it_learns_what_overlaps_and_what_races);
    tcase_add_test(clean, works_cannot_be_made_fewer);
    tcase_add_test(broken, it_cannot_ask_what_a_supervisor_asks);
    tcase_add_loop_test(broken, no_message_ends_the_conversation, 0,
                        sizeof senseless / sizeof *senseless);
    tcase_add_test(broken, it_is_told_when_the_process_ends);
    tcase_add_checked_fixture(clean, open_process, close_cleanly);
    tcase_add_checked_fixture(broken, open_process, NULL);
    tcase_set_timeout(clean, 120);
    tcase_set_timeout(broken, 120);
    suite_add_tcase(suite, clean);
    suite_add_tcase(suite, broken);
    return suite;
}
