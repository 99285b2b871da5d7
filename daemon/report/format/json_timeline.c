/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/json_timeline.h"

#include "daemon/report/format/json_value.h"

static json_t *json_timeline_thread(const struct profile_thread *thread,
				    const struct profile_cell *cells, size_t count)
{
	json_t *object = json_object(), *slice = json_array();
	json_t *python = json_array(), *native = json_array(), *system = json_array();

	for (size_t i = 0; i < count; i++) {
		slice = json_appended(slice, json_integer(cells[i].slice));
		python = json_appended(python, json_count(cells[i].time_ns[TIME_PYTHON]));
		native = json_appended(native, json_count(cells[i].time_ns[TIME_NATIVE]));
		system = json_appended(system, json_count(cells[i].time_ns[TIME_SYSTEM]));
	}
	if (thread->pid)
		object = json_with(object, "pid", json_integer(thread->pid));
	object = json_with(object, "tid", json_integer(thread->tid));
	object = json_with(object, "slice", slice);
	object = json_with(object, "python_ns", python);
	object = json_with(object, "native_ns", native);
	return json_with(object, "system_ns", system);
}

int json_put_timeline(FILE *file, const struct profile_facts *facts)
{
	const struct profile_timeline *timeline = &facts->thread_timeline;
	size_t from = 0, to;
	int result;

	fputs("{\"slice_ns\": ", file);
	result = json_put(file, json_count(timeline->slice_ns));
	fprintf(file, ", \"slices\": %zu, \"left_out_ns\": ", timeline->slice_count);
	if (result == 0)
		result = json_put(file, json_count(timeline->left_out_ns));
	fputs(", \"threads\": [", file);
	for (size_t i = 0; i < facts->thread_count && result == 0; i++, from = to) {
		for (to = from; to < timeline->cell_count && timeline->cells[to].owner == i;)
			to++;
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, json_timeline_thread(&facts->threads[i],
							     &timeline->cells[from], to - from));
	}
	fputs("]}", file);
	return result;
}
