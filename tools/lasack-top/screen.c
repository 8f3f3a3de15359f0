// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live table: ncurses knows how each terminal switches screens, restores
 * its settings and stops and goes on (Ctrl-Z); here is only what is drawn, when.
 *
 * Signals are blocked but while waiting, so none comes amid drawing.
 */
#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "screen.h"
#include "text.h"

static SCREEN *screen;
static volatile sig_atomic_t ending_signal;

static void note_signal(int number)
{
	ending_signal = number;
}

bool screen_usable(void)
{
	int found;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	return setupterm(NULL, STDOUT_FILENO, &found) == OK && cursor_address;
}

/* The terminal as it was; does nothing if it is. */
static void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

static void screen_open(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGQUIT };
	struct sigaction old, action = { .sa_handler = note_signal };

	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
	die_after(screen_close);
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		die("cannot draw on this terminal; try lasack-top --once");
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
}

static void draw_keys(const struct top *top)
{
	static const char *const sorts[] = {
		[SORT_ATTAINED] = "attained", [SORT_RATE] = "rate",
		[SORT_BACKLOG] = "backlog",
	};

	move(LINES - 1, 0);
	clrtoeol();
	printw("q quit   a attained  r rate  b backlog   sorted by %s", sorts[top->sort]);
}

static void draw(const struct top *top)
{
	int width = COLS < WIDTH_MIN ? WIDTH_MIN : COLS > WIDTH_MAX ? WIDTH_MAX : COLS;
	char *page = NULL, *rest, *line;
	uint64_t headings;
	size_t size;
	int y = 0;
	FILE *out = open_memstream(&page, &size);

	if (!out)
		die("out of memory");
	headings = text_page(out, &top->now, width);
	fclose(out);
	erase();
	rest = page;
	for (; (line = strsep(&rest, "\n")) && y < LINES - 1; y++) {
		if (y < 64 && headings >> y & 1) {
			attron(A_REVERSE);
			mvhline(y, 0, ' ', COLS);
		} else if (!y) {
			attron(A_BOLD);
		}
		mvaddnstr(y, 0, line, COLS);
		attrset(A_NORMAL);
	}
	free(page);
	draw_keys(top);
	refresh();
}

/* Returns false: the user wants to quit. */
static bool take_keys(struct top *top)
{
	int key;

	while ((key = getch()) != ERR) {
		switch (key) {
		case 'q':
			return false;
		case 'a':
			top->sort = SORT_ATTAINED;
			break;
		case 'r':
			top->sort = SORT_RATE;
			break;
		case 'b':
			top->sort = SORT_BACKLOG;
			break;
		}
	}
	snapshot_sort(&top->now, top->sort);
	return true;
}

/* Until then, a key, or a signal, for which only this is the time. */
static bool wait_until(int64_t then, const sigset_t *signals)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t left = then - monotonic_ns();
	struct timespec ts;

	if (left < 0)
		left = 0;
	ts.tv_sec = left / NSEC_PER_SEC;
	ts.tv_nsec = left % NSEC_PER_SEC;
	ppoll(&keys, 1, &ts, signals);
	return !(keys.revents & (POLLHUP | POLLERR | POLLNVAL));
}

void screen_run(struct top *top)
{
	static const int handled[] = { SIGINT, SIGTERM, SIGQUIT, SIGWINCH, SIGTSTP };
	int64_t next = monotonic_ns() + top->interval_ns;
	sigset_t block, old;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++)
		sigaddset(&block, handled[i]);
	sigprocmask(SIG_BLOCK, &block, &old);
	screen_open();
	do {
		if (monotonic_ns() >= next) {
			top_look(top);
			/* No look is made up for: the machine may have slept. */
			next = monotonic_ns() + top->interval_ns;
		}
		draw(top);
	} while (wait_until(next, &old) && !ending_signal && take_keys(top));
	screen_close();
	if (ending_signal) {
		signal(ending_signal, SIG_DFL);
		raise(ending_signal);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
}
