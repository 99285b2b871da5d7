/* SPDX-License-Identifier: Apache-2.0 */
/* A file of its own: term.h defines macros such as `columns` and `lines`. */
#include "daemon/top/terminal.h"

#include <unistd.h>

#include <curses.h>
#include <term.h>

const char *terminal_problem(void)
{
	bool places_cursor;
	int error = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "standard input and output are not both a terminal";
	if (setupterm(NULL, STDOUT_FILENO, &error) == ERR)
		return "the type of this terminal (TERM) is not known";
	places_cursor = cursor_address != NULL;
	/* newterm() makes another one. */
	(void)del_curterm(cur_term);
	return places_cursor ? NULL : "this terminal (TERM) cannot place its cursor";
}
