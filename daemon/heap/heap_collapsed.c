/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks (daemon/report/format/collapsed.c) of live bytes: a line a holder path, its
 * root first, and the bytes that are right there.
 *
 *   app.cache (dict);{*} (app.Order);.lines (list) 880000
 *
 * The format has one number a stack and no head: how many objects there are is in pprof's, and of a
 * process in a container the first frame says which one, as in a profile's.
 */
#include "daemon/heap/heap_tree.h"
#include "daemon/heap/heap_writer.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int make_labels(const struct heap_tree *tree, char **labels)
{
	for (size_t i = 0; i < tree->frame_count; i++) {
		char words[HEAP_FRAME_BYTES];

		heap_frame_words(&tree->frames[i], words);
		labels[i] = escape_printable(words, ';');
		if (!labels[i])
			return -ENOMEM;
	}
	return 0;
}

/* "[container web (podman 0123456789ab)];", or nothing. NULL: no memory. */
static char *make_beginning(const struct heap_look *look)
{
	struct container_text words = container_words(&look->container);
	char *beginning = NULL, *escaped;

	if (!words.text[0])
		return strdup("");
	escaped = escape_printable(words.text, ';');
	if (escaped && asprintf(&beginning, "[container %s];", escaped) < 0)
		beginning = NULL;
	free(escaped);
	return beginning;
}

static void put_stacks(const struct heap_tree *tree, const char *beginning, char *const *labels,
		       FILE *file)
{
	const char *path[HEAP_TREE_DEPTH_MAX];

	for (size_t i = 0; i < tree->node_count && !ferror(file); i++) {
		const struct heap_node *node = &tree->nodes[i];

		path[node->depth] = labels[node->frame];
		if (!node->bytes)
			continue;
		fputs(beginning, file);
		for (size_t k = 0; k <= node->depth; k++)
			fprintf(file, "%s%s", k ? ";" : "", path[k]);
		fprintf(file, " %" PRIu64 "\n", node->bytes);
	}
}

int heap_write_collapsed(const struct heap_look *look, const struct writer_options *options,
			 FILE *file)
{
	struct heap_tree tree;
	char **labels, *beginning;
	int error = heap_tree_init(&tree, &look->snapshot, HEAP_TREE_NODES_MAX);

	(void)options;
	if (error)
		return error;
	labels = calloc(tree.frame_count + 1, sizeof(*labels));
	beginning = make_beginning(look);
	error = labels && beginning ? make_labels(&tree, labels) : -ENOMEM;
	if (!error)
		put_stacks(&tree, beginning, labels, file);
	free(beginning);
	for (size_t i = 0; labels && i < tree.frame_count; i++)
		free(labels[i]);
	free(labels);
	heap_tree_deinit(&tree);
	return !error && ferror(file) ? -EIO : error;
}
