/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

/* What a screen takes, many times over. */
#define ROOM_BYTES     (4u << 20)
#define ESCAPE_WAIT_MS 25 /* after ESC, for the rest of a function key's sequence */
#define REPLACEMENT    L'?'

static SCREEN *terminal;

static const struct {
	int code;
	enum top_key key;
} keys[] = {
	{ 'q', TOP_KEY_QUIT },          { 'Q', TOP_KEY_QUIT },
	{ 's', TOP_KEY_SORT },          { '1', TOP_KEY_LINES },
	{ '2', TOP_KEY_FUNCTIONS },     { '3', TOP_KEY_THREADS },
	{ '4', TOP_KEY_PAIRS },         { '\t', TOP_KEY_NEXT_VIEW },
	{ KEY_UP, TOP_KEY_UP },         { 'k', TOP_KEY_UP },
	{ KEY_DOWN, TOP_KEY_DOWN },     { 'j', TOP_KEY_DOWN },
	{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
	{ ' ', TOP_KEY_PAGE_DOWN },     { KEY_HOME, TOP_KEY_HOME },
	{ 'g', TOP_KEY_HOME },          { KEY_END, TOP_KEY_END },
	{ 'G', TOP_KEY_END },           { 'p', TOP_KEY_PAUSE },
	{ 'w', TOP_KEY_WINDOW },        { 'r', TOP_KEY_RESET },
	{ '?', TOP_KEY_HELP },          { 'h', TOP_KEY_HELP },
	{ 'o', TOP_KEY_OWN },           { 'm', TOP_KEY_MEMORY },
	{ '/', TOP_KEY_FILTER },        { 27, TOP_KEY_ESCAPE },
	{ 'L' & 0x1f, TOP_KEY_REDRAW },
};

static void choose_colours(bool colour)
{
	static const short parts[] = { COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA };

	if (!colour || !has_colors() || start_color() == ERR)
		return;
	(void)use_default_colors();
	for (short i = 0; i < 3; i++)
		init_pair((short)(SCREEN_PYTHON + i), parts[i], -1);
	init_pair(SCREEN_WARNING, COLOR_YELLOW, -1);
}

/* Without memory for a screen, ncurses 6.4 does not refuse: it crashes in newterm(). */
static bool has_room(void)
{
	void *room = malloc(ROOM_BYTES);

	free(room);
	return room != NULL;
}

int terminal_open(bool colour)
{
	if (!has_room())
		return -ENOMEM;
	/* Only for characters: figures have a point everywhere. */
	(void)setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -ENOTTY;
	/* ^C stays a signal. */
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_WAIT_MS);
	(void)curs_set(0);
	choose_colours(colour);
	return 0;
}

void terminal_close(void)
{
	if (!terminal)
		return;
	(void)curs_set(1);
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

void terminal_size(unsigned *ret_rows, unsigned *ret_columns)
{
	struct winsize size;

	/* Its own handler never runs: the signal is blocked, and read from a descriptor. */
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		(void)resizeterm(size.ws_row, size.ws_col);
	*ret_rows = LINES > 0 ? (unsigned)LINES : 0;
	*ret_columns = COLS > 0 ? (unsigned)COLS : 0;
}

bool terminal_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static attr_t attributes(enum screen_style style)
{
	switch (style) {
	case SCREEN_STRONG:
		return A_BOLD;
	case SCREEN_FAINT:
		return A_DIM;
	case SCREEN_WARNING:
		return A_BOLD | (attr_t)COLOR_PAIR(SCREEN_WARNING);
	case SCREEN_PYTHON:
	case SCREEN_NATIVE:
	case SCREEN_SYSTEM:
		return (attr_t)COLOR_PAIR(style);
	case SCREEN_PLAIN:
	case SCREEN_STYLE_COUNT:
		break;
	}
	return A_NORMAL;
}

/*
 * As wide characters, by the C library's idea of their widths, which is ncurses'
 * too: what is wider than the span would run into the next line.
 */
static size_t to_wide(const char *text, unsigned columns, wchar_t *wide, size_t room)
{
	size_t used = 0, size = strlen(text);
	int width = 0;

	while (*text && used + 1 < room) {
		uint32_t code_point = 0;
		size_t length = utf8_decode(text, size, &code_point);
		wchar_t character = length ? (wchar_t)code_point : REPLACEMENT;
		int wanted = wcwidth(character);

		if (wanted < 0 || !iswprint((wint_t)character)) {
			character = REPLACEMENT;
			wanted = 1;
		}
		if (width + wanted > (int)columns)
			break;
		wide[used++] = character;
		width += wanted;
		text += length ? length : 1;
		size -= length ? length : 1;
	}
	wide[used] = L'\0';
	return used;
}

static void draw_line(const struct screen_line *line, int row, int columns)
{
	wchar_t wide[2 * SCREEN_COLUMNS_MAX];
	attr_t base = line->reversed ? A_REVERSE : A_NORMAL;

	if (line->reversed) {
		attrset((int)base);
		mvhline(row, 0, ' ', columns);
	}
	for (unsigned i = 0; i < line->span_count; i++) {
		const struct screen_span *span = &line->spans[i];
		size_t count = to_wide(line->text + span->offset, span->columns, wide,
				       sizeof(wide) / sizeof(wide[0]));

		attrset((int)(base | attributes(span->style)));
		mvaddnwstr(row, (int)span->column, wide, (int)count);
	}
	attrset(A_NORMAL);
}

void terminal_draw(const struct screen *screen)
{
	erase();
	for (unsigned row = 0; row < screen->rows; row++)
		draw_line(&screen->lines[row], (int)row, (int)screen->columns);
	refresh();
}

void terminal_redraw(void)
{
	clearok(stdscr, TRUE);
}

static enum top_key typed_key(int code, char *ret_character)
{
	if (code == '\n' || code == '\r' || code == KEY_ENTER)
		return TOP_KEY_ENTER;
	if (code == KEY_BACKSPACE || code == '\b' || code == 127)
		return TOP_KEY_BACKSPACE;
	if (code < ' ' || code > 255)
		return TOP_KEY_NONE;
	*ret_character = (char)code;
	return TOP_KEY_CHARACTER;
}

enum top_key terminal_key(bool typing, char *ret_character)
{
	enum top_key key;
	int code;

	while ((code = getch()) != ERR) {
		key = typing ? typed_key(code, ret_character) : TOP_KEY_NONE;
		if (key != TOP_KEY_NONE)
			return key;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (keys[i].code == code)
				return keys[i].key;
	}
	return TOP_KEY_NONE;
}
