/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal that `top` draws on: the only file that knows ncurses. One at a
 * time (ncurses keeps its state in globals), and from one thread.
 */
#ifndef PIEPROFD_DAEMON_TOP_TERMINAL_H
#define PIEPROFD_DAEMON_TOP_TERMINAL_H

#include "daemon/top/model.h"
#include "daemon/top/screen.h"

/*
 * Whether standard input and output are one, of a type that is known; nothing is
 * written. NULL, or why not.
 */
const char *terminal_problem(void);

/* Switches to the alternate screen. 0 or -ENOTTY. Everything is as it was after terminal_close().
 */
__attribute__((warn_unused_result)) int terminal_open(bool colour);
void terminal_close(void);

/* The size as it is now; whether it takes UTF-8. */
void terminal_size(unsigned *ret_rows, unsigned *ret_columns);
bool terminal_is_utf8(void);

void terminal_draw(const struct screen *screen);
/* Everything anew, whatever others have written over it. */
void terminal_redraw(void);

/*
 * The next key that was pressed, TOP_KEY_NONE: none. Does not wait. typing: words are entered,
 * and what is a letter is TOP_KEY_CHARACTER, with its byte, or one of those of a character.
 */
enum top_key terminal_key(bool typing, char *ret_character);

#endif
