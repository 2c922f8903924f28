/* test_terminal.c: what students wrote, on its way to a terminal. */
#include "grader/tests.h"

#include "base/base.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *printed, *shown;
} rows[] = {
    {"plain \xc3\xa4 \xe2\x82\xac\ttext\n", "plain \xc3\xa4 \xe2\x82\xac\ttext\n"},
    {"\r\033[K\033[31mred\033[0m", "\r\033[K\033[31mred\033[0m"},
    {"\033]52;c;cm0gLXJm\a", "?]52;c;cm0gLXJm?"},
    {"\033[2J\033[1;1H", "?[2J?[1;1H"},
    {"\033\033c\b\x7f", "??c??"},
    {"\xc2\x9b\x33\x31m", "?\x9b\x33\x31m"}, /* no character of UTF-8 */
    {"\033[1111111111111m", "?[1111111111111m"},
};

static void print_guarded(int to, const char *text)
{
    dup2(to, STDOUT_FILENO);
    guard_output();
    for (const char *at = text; *at; at++) {
        printf("%c", *at);
        fflush(stdout); /* a sequence may come in parts */
    }
    _exit(0);
}

START_TEST(nothing_commands_a_terminal)
{
    char shown[128] = "";
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) print_guarded(ends[1], rows[_i].printed);
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], shown + n, sizeof shown - 1 - n)) > 0;) n += (size_t)got;
    close(ends[0]);
    waitpid(child, NULL, 0);
    ck_assert_str_eq(shown, rows[_i].shown);
}
END_TEST

Suite *suite_terminal(void)
{
    Suite *s = suite_create("terminal");
    TCase *t = tcase_create("terminal");
    tcase_add_loop_test(t, nothing_commands_a_terminal, 0, sizeof rows / sizeof *rows);
    suite_add_tcase(s, t);
    return s;
}
