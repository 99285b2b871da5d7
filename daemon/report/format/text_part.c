/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/text_part.h"

#include <errno.h>
#include <stdlib.h>

int text_part_begin(struct text_part *part, const struct text_layout *layout,
		    struct text_layout *ret_inside)
{
	FILE *file = open_memstream(&part->text, &part->size);

	if (!file)
		return -ENOMEM;
	*ret_inside = *layout;
	ret_inside->file = file;
	return 0;
}

int text_part_end(struct text_part *part, const struct text_layout *inside)
{
	bool failed = ferror(inside->file);

	/* Out of memory in the very end, glibc's fclose() succeeds with nothing. */
	if (fclose(inside->file) != 0 || failed || !part->text)
		return -ENOMEM;
	part->lines = 0;
	for (const char *at = part->text; *at; at++)
		part->lines += *at == '\n';
	return 0;
}

void text_part_put(const struct text_layout *layout, const struct text_part *part)
{
	if (part->text)
		fputs(part->text, layout->file);
}

void text_part_deinit(struct text_part *part)
{
	free(part->text);
	*part = (struct text_part){ 0 };
}
