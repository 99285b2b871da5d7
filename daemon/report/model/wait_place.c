/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/wait_place.h"

#include "daemon/report/model/own_line.h"

#include <stdlib.h>
#include <string.h>

/* What a function of the standard library tells of the waiting inside it. */
enum hint {
	HINT_ROLE,     /* role, unless a function further out has told one */
	HINT_CALLBACK, /* an event loop runs something */
	HINT_WORK,     /* a pool's thread does */
	HINT_THREAD,   /* the thread is not the main one */
};

static const struct known_function {
	const char *file; /* end of the path */
	const char *function;
	enum hint hint;
	enum wait_role role;
} known_functions[] = {
	{ "/threading.py", "_bootstrap", HINT_THREAD, WAIT_ROLE_NONE },
	{ "/multiprocessing/process.py", "_bootstrap", HINT_THREAD, WAIT_ROLE_NONE },
	{ "/threading.py", "join", HINT_ROLE, WAIT_ROLE_END },
	{ "/threading.py", "_shutdown", HINT_ROLE, WAIT_ROLE_END },
	{ "/threading.py", "wait", HINT_ROLE, WAIT_ROLE_EVENT },
	{ "/queue.py", "get", HINT_ROLE, WAIT_ROLE_QUEUE },
	{ "/multiprocessing/queues.py", "get", HINT_ROLE, WAIT_ROLE_QUEUE },
	{ "/concurrent/futures/_base.py", "result", HINT_ROLE, WAIT_ROLE_RESULT },
	{ "/concurrent/futures/_base.py", "exception", HINT_ROLE, WAIT_ROLE_RESULT },
	{ "/concurrent/futures/_base.py", "wait", HINT_ROLE, WAIT_ROLE_RESULT },
	{ "/concurrent/futures/_base.py", "as_completed", HINT_ROLE, WAIT_ROLE_RESULT },
	{ "/concurrent/futures/_base.py", "result_iterator", HINT_ROLE, WAIT_ROLE_RESULT },
	{ "/concurrent/futures/thread.py", "_worker", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/concurrent/futures/thread.py", "run", HINT_WORK, WAIT_ROLE_NONE },
	{ "/concurrent/futures/process.py", "_process_worker", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/concurrent/futures/process.py", "_process_chunk", HINT_WORK, WAIT_ROLE_NONE },
	{ "/concurrent/futures/process.py", "_queue_management_worker", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/concurrent/futures/process.py", "wait_result_broken_or_wakeup", HINT_ROLE,
	  WAIT_ROLE_POOL },
	{ "/multiprocessing/pool.py", "worker", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/multiprocessing/pool.py", "mapstar", HINT_WORK, WAIT_ROLE_NONE },
	{ "/multiprocessing/pool.py", "starmapstar", HINT_WORK, WAIT_ROLE_NONE },
	{ "/multiprocessing/pool.py", "_handle_workers", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/multiprocessing/pool.py", "_handle_tasks", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/multiprocessing/pool.py", "_handle_results", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/multiprocessing/pool.py", "get", HINT_ROLE, WAIT_ROLE_RESULT },
	{ "/asyncio/base_events.py", "_run_once", HINT_ROLE, WAIT_ROLE_LOOP },
	{ "/asyncio/events.py", "_run", HINT_CALLBACK, WAIT_ROLE_NONE },
	{ "/socketserver.py", "serve_forever", HINT_ROLE, WAIT_ROLE_SERVER },
	{ "/socketserver.py", "_handle_request_noblock", HINT_WORK, WAIT_ROLE_NONE },
	{ "/socketserver.py", "service_actions", HINT_WORK, WAIT_ROLE_NONE },
	{ "/socket.py", "accept", HINT_ROLE, WAIT_ROLE_SERVER },
	{ "/gunicorn/arbiter.py", "sleep", HINT_ROLE, WAIT_ROLE_SERVER },
	{ "/gunicorn/workers/sync.py", "wait", HINT_ROLE, WAIT_ROLE_SERVER },
	{ "/waitress/task.py", "handler_thread", HINT_ROLE, WAIT_ROLE_POOL },
	{ "/waitress/task.py", "service", HINT_WORK, WAIT_ROLE_NONE },
};

bool wait_role_is_idle(enum wait_role role)
{
	return role >= WAIT_ROLE_QUEUE;
}

enum wait_kind wait_place_kind(const struct wait_place *place)
{
	enum wait_kind most = 0;

	for (unsigned i = 1; i < WAIT_KIND_COUNT; i++)
		if (place->waiting_ns[i] > place->waiting_ns[most])
			most = i;
	return most;
}

/* Of a stack's frames so far, from the outermost one on. */
struct scene {
	uint32_t own;    /* the tree's frame of the innermost line of the program; or NONE */
	uint32_t teller; /* of the function that told the role; or NONE */
	uint32_t python; /* the innermost of Python; or NONE */
	enum wait_role role;
	bool in_thread;
	bool in_callback; /* of an event loop */
	bool in_uvloop;   /* which runs Python from native code */
};

#define FRAME_NONE UINT32_MAX

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/* Functions of a class have its name before theirs, from Python 3.11 on. */
static const struct known_function *known_function(const struct profile_frame *frame)
{
	const char *dot = strrchr(frame->function, '.');
	const char *name = dot ? dot + 1 : frame->function;

	for (size_t i = 0; i < sizeof(known_functions) / sizeof(known_functions[0]); i++)
		if (!strcmp(name, known_functions[i].function) &&
		    ends_with(frame->file, known_functions[i].file))
			return &known_functions[i];
	return NULL;
}

static void forget_role(struct scene *scene)
{
	scene->role = WAIT_ROLE_NONE;
	scene->teller = FRAME_NONE;
}

static void enter_library(struct scene *scene, uint32_t index,
			  const struct known_function *function)
{
	if (!function)
		return;
	switch (function->hint) {
	case HINT_THREAD:
		scene->in_thread = true;
		return;
	case HINT_CALLBACK:
		scene->in_callback = true;
		forget_role(scene);
		return;
	case HINT_WORK:
		forget_role(scene);
		return;
	case HINT_ROLE:
		break;
	}
	if (scene->role != WAIT_ROLE_NONE)
		return;
	scene->role = function->role;
	scene->teller = index;
	/* A queue in the main thread has results. */
	if (function->role == WAIT_ROLE_QUEUE && !scene->in_thread)
		scene->role = WAIT_ROLE_RESULT;
	/* A loop of its own inside a callback has callbacks of its own. */
	if (function->role == WAIT_ROLE_LOOP)
		scene->in_callback = false;
}

static struct scene scene_enter(struct scene scene, const struct profile_tree *tree,
				const struct known_function *const *known, uint32_t index)
{
	const struct profile_frame *frame = &tree->frames[index];

	if (frame->kind != FRAME_PYTHON) {
		if (strstr(frame->file, "/uvloop/loop.")) {
			scene.in_uvloop = true;
			scene.in_callback = false;
			scene.role = WAIT_ROLE_LOOP;
			scene.teller = scene.python;
		}
		return scene;
	}
	scene.python = index;
	/* What uvloop calls is a callback or a task. */
	if (scene.in_uvloop && scene.role == WAIT_ROLE_LOOP) {
		scene.in_callback = true;
		forget_role(&scene);
	}
	if (own_line_is_own(frame)) {
		scene.own = index;
		forget_role(&scene);
	} else {
		enter_library(&scene, index, known[index]);
	}
	return scene;
}

/* The role and the frame whose line is shown. */
static enum wait_role scene_outcome(const struct scene *scene, enum wait_kind kind,
				    uint32_t *ret_frame)
{
	*ret_frame = scene->own;
	if (scene->python == FRAME_NONE) {
		*ret_frame = FRAME_NONE;
		return WAIT_ROLE_NATIVE;
	}
	/* Those of pools and loops belong to no line of the program. */
	if (scene->role == WAIT_ROLE_POOL || scene->role == WAIT_ROLE_LOOP ||
	    scene->own == FRAME_NONE)
		*ret_frame = scene->teller != FRAME_NONE ? scene->teller : scene->python;
	if (scene->in_callback)
		return WAIT_ROLE_BLOCKED_LOOP;
	return scene->role == WAIT_ROLE_NONE && kind == WAIT_SLEEP ? WAIT_ROLE_SLEEP : scene->role;
}

static int by_frame_and_role(const void *left, const void *right)
{
	const struct wait_place *a = left, *b = right;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	return (a->role > b->role) - (a->role < b->role);
}

static int by_rank(const void *left, const void *right)
{
	const struct wait_place *a = left, *b = right;

	if (a->role != b->role && (wait_role_is_idle(a->role) || wait_role_is_idle(b->role) ||
				   a->role < WAIT_ROLE_EVENT || b->role < WAIT_ROLE_EVENT))
		return a->role < b->role ? -1 : 1;
	if (a->all_ns != b->all_ns)
		return a->all_ns > b->all_ns ? -1 : 1;
	return by_frame_and_role(left, right);
}

/* Places of the same frame and role become one; how many are left. */
static size_t join_places(struct wait_place *places, size_t count)
{
	size_t joined = 0;

	qsort(places, count, sizeof(*places), by_frame_and_role);
	for (size_t i = 0; i < count; i++) {
		if (!joined || by_frame_and_role(&places[joined - 1], &places[i])) {
			places[joined++] = places[i];
			continue;
		}
		for (unsigned k = 0; k < WAIT_KIND_COUNT; k++)
			places[joined - 1].waiting_ns[k] += places[i].waiting_ns[k];
		places[joined - 1].all_ns += places[i].all_ns;
	}
	qsort(places, joined, sizeof(*places), by_rank);
	return joined;
}

struct place_search {
	const struct known_function **known; /* by frame of the tree; NULL: not known */
	struct scene *scenes;                /* by node */
};

static size_t wait_places_walk(struct place_search *search, const struct profile_tree *tree,
			       struct wait_place *places)
{
	size_t count = 0;

	for (size_t i = 0; i < tree->frame_count; i++)
		if (tree->frames[i].kind == FRAME_PYTHON)
			search->known[i] = known_function(&tree->frames[i]);
	/* A parent goes before its children. */
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct profile_node *node = &tree->nodes[i];
		const struct scene nowhere = { FRAME_NONE, FRAME_NONE, FRAME_NONE, WAIT_ROLE_NONE,
					       false,      false,      false };
		struct wait_place *place = &places[count];
		uint32_t frame;

		search->scenes[i] = scene_enter(
			node->parent == PROFILE_NODE_NONE ? nowhere : search->scenes[node->parent],
			tree, search->known, node->frame);
		*place = (struct wait_place){ .all_ns = side_time_waiting_ns(&node->side) -
							node->side.waiting_ns[WAIT_GIL] };
		if (!place->all_ns)
			continue;
		memcpy(place->waiting_ns, node->side.waiting_ns, sizeof(place->waiting_ns));
		place->waiting_ns[WAIT_GIL] = 0;
		place->role = scene_outcome(&search->scenes[i], wait_place_kind(place), &frame);
		if (frame != FRAME_NONE)
			place->frame = &tree->frames[frame];
		count++;
	}
	return count;
}

struct wait_place *wait_places_find(const struct profile *profile, size_t *ret_count)
{
	const struct profile_tree *tree = &profile->tree;
	struct place_search search = {
		.known = calloc(tree->frame_count + 1, sizeof(*search.known)),
		.scenes = calloc(tree->node_count + 1, sizeof(*search.scenes)),
	};
	struct wait_place *places = calloc(tree->node_count + 1, sizeof(*places));

	if (search.known && search.scenes && places) {
		*ret_count = join_places(places, wait_places_walk(&search, tree, places));
	} else {
		free(places);
		places = NULL;
	}
	free(search.known);
	free(search.scenes);
	return places;
}
