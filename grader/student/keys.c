/*
 * keys.c: keys, one at a time, of standard input. A terminal is set so that a key needs no Enter
 * and is not shown, and is set back however the program ends; a pipe is read as it is.
 */
#include "student.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct termios usual; /* how the terminal was */

/* A job in the background leaves the terminal as it is. */
static void set_terminal(void)
{
    struct termios keywise = usual;
    keywise.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (tcgetpgrp(STDIN_FILENO) == getpgrp()) tcsetattr(STDIN_FILENO, TCSANOW, &keywise);
}

static void set_terminal_back(void)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &usual);
}

static void end_by(int number)
{
    set_terminal_back();
    raise(number); /* its usual work is restored: SA_RESETHAND */
}

/* A shell sets the terminal its own way while we are stopped. */
static void go_on(int number)
{
    (void)number;
    set_terminal();
}

bool keys_open(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction end = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    const struct sigaction again = {.sa_handler = go_on, .sa_flags = SA_RESTART};
    if (!isatty(STDIN_FILENO)) return true;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &usual) != 0) return false;
    signal(SIGTTOU, SIG_IGN);
    for (int i = 0; i < 3; i++) sigaction(ends[i], &end, NULL);
    sigaction(SIGCONT, &again, NULL);
    atexit(set_terminal_back);
    set_terminal();
    return true;
}

int keys_read(void)
{
    unsigned char key;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : EOF;
}
