/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's format, unpacked and decoded by a second implementation: what
 * pprof's own CheckValid asks of it, and the sample's figures.
 */
#include "report_sample.h"

#include "common/printable.h"
#include "daemon/report/encode/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ZLIB_CONST
#include <zlib.h>

static const struct writer_options defaults;

/* ---- a decoder ---- */

struct field {
	unsigned number;
	unsigned type; /* 0: value, 2: bytes */
	uint64_t value;
	const unsigned char *bytes;
	size_t size;
};

struct message {
	const unsigned char *bytes;
	size_t size;
};

static uint64_t read_varint(struct message *message)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		assert_true(message->size > 0);
		value |= (uint64_t)(*message->bytes & 0x7f) << shift;
		message->size--;
		if (!(*message->bytes++ & 0x80))
			return value;
	}
	fail_msg("a varint of more than ten bytes");
	return 0;
}

static bool next_field(struct message *message, struct field *field)
{
	uint64_t tag;

	if (message->size == 0)
		return false;
	tag = read_varint(message);
	*field = (struct field){ .number = (unsigned)(tag >> 3), .type = tag & 7 };
	assert_true(field->number > 0 && (field->type == 0 || field->type == 2));
	field->value = read_varint(message);
	if (field->type == 2) {
		assert_true(field->value <= message->size);
		field->bytes = message->bytes;
		field->size = (size_t)field->value;
		message->bytes += field->size;
		message->size -= field->size;
	}
	return true;
}

/* ---- a decoded profile ---- */

#define ITEMS_MAX 256

struct sample {
	uint64_t locations[32], values[16], labels[8][2];
	size_t location_count, value_count, label_count;
};

struct decoded {
	struct {
		uint64_t type, unit;
	} types[16];
	struct sample samples[ITEMS_MAX];
	uint64_t mappings[ITEMS_MAX][16]; /* by field number */
	struct {
		uint64_t fields[8];
		uint64_t function, line;
	} locations[ITEMS_MAX];
	uint64_t functions[ITEMS_MAX][8];
	char *strings[ITEMS_MAX];
	uint64_t comments[ITEMS_MAX];
	uint64_t numbers[16];
	size_t type_count, sample_count, mapping_count, location_count, function_count;
	size_t string_count, comment_count;
};

static size_t read_packed(const struct field *field, uint64_t *values, size_t capacity)
{
	struct message message = { field->bytes, field->size };
	size_t count = 0;

	assert_int_equal(field->type, 2);
	while (message.size) {
		assert_true(count < capacity);
		values[count++] = read_varint(&message);
	}
	return count;
}

static void read_numbers(const struct field *field, uint64_t *values, size_t capacity)
{
	struct message message = { field->bytes, field->size };
	struct field inner;

	assert_int_equal(field->type, 2);
	while (next_field(&message, &inner)) {
		assert_true(inner.number < capacity && inner.type == 0);
		values[inner.number] = inner.value;
	}
}

static void read_sample(const struct field *field, struct sample *sample)
{
	struct message message = { field->bytes, field->size };
	struct field inner;

	while (next_field(&message, &inner)) {
		uint64_t label[4] = { 0 };

		if (inner.number == 1) {
			sample->location_count = read_packed(&inner, sample->locations, 32);
		} else if (inner.number == 2) {
			sample->value_count = read_packed(&inner, sample->values, 16);
		} else {
			assert_int_equal(inner.number, 3);
			read_numbers(&inner, label, 4);
			assert_true(sample->label_count < 8);
			sample->labels[sample->label_count][0] = label[1];
			sample->labels[sample->label_count++][1] = label[2];
		}
	}
}

static void read_location(struct decoded *decoded, const struct field *field)
{
	struct message message = { field->bytes, field->size };
	struct field inner;
	size_t at = decoded->location_count++;

	while (next_field(&message, &inner)) {
		uint64_t line[4] = { 0 };

		assert_true(inner.number < 8);
		if (inner.number == 4) {
			read_numbers(&inner, line, 4);
			decoded->locations[at].function = line[1];
			decoded->locations[at].line = line[2];
		} else {
			decoded->locations[at].fields[inner.number] = inner.value;
		}
	}
}

static void read_field(struct decoded *decoded, const struct field *field)
{
	uint64_t type[4] = { 0 };

	switch (field->number) {
	case 1:
		read_numbers(field, type, 4);
		decoded->types[decoded->type_count].type = type[1];
		decoded->types[decoded->type_count++].unit = type[2];
		break;
	case 2:
		assert_true(decoded->sample_count < ITEMS_MAX);
		read_sample(field, &decoded->samples[decoded->sample_count++]);
		break;
	case 3:
		assert_true(decoded->mapping_count < ITEMS_MAX);
		read_numbers(field, decoded->mappings[decoded->mapping_count++], 16);
		break;
	case 4:
		assert_true(decoded->location_count < ITEMS_MAX);
		read_location(decoded, field);
		break;
	case 5:
		assert_true(decoded->function_count < ITEMS_MAX);
		read_numbers(field, decoded->functions[decoded->function_count++], 8);
		break;
	case 6:
		assert_true(decoded->string_count < ITEMS_MAX);
		decoded->strings[decoded->string_count++] =
			strndup((const char *)field->bytes, field->size);
		break;
	case 13:
		decoded->comment_count +=
			read_packed(field, decoded->comments + decoded->comment_count, 64);
		break;
	default:
		assert_true(field->number < 16);
		decoded->numbers[field->number] = field->value;
	}
}

static unsigned char *unpack(const char *packed, size_t packed_size, size_t *ret_size)
{
	size_t capacity = 1u << 20;
	unsigned char *bytes = malloc(capacity);
	z_stream stream = { .next_in = (const Bytef *)packed, .avail_in = (uInt)packed_size };

	stream.next_out = bytes;
	stream.avail_out = (uInt)capacity;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	*ret_size = capacity - stream.avail_out;
	inflateEnd(&stream);
	return bytes;
}

static const char *string_of(const struct decoded *decoded, uint64_t index)
{
	assert_true(index < decoded->string_count);
	return decoded->strings[index];
}

/* What pprof refuses otherwise (profile.go, CheckValid), and what a terminal should not get. */
static void check_valid(const struct decoded *decoded)
{
	assert_true(decoded->string_count > 0);
	assert_string_equal(decoded->strings[0], "");
	for (size_t i = 0; i < decoded->string_count; i++) {
		const char *text = decoded->strings[i];

		for (size_t at = 0, step; text[at]; at += step) {
			uint32_t code_point;

			step = utf8_decode(text + at, strlen(text + at), &code_point);
			assert_true(step > 0 && code_point_printable(code_point));
		}
	}
	for (size_t i = 0; i < decoded->sample_count; i++) {
		const struct sample *sample = &decoded->samples[i];

		assert_int_equal(sample->value_count, decoded->type_count);
		assert_true(sample->location_count > 0);
		for (size_t l = 0; l < sample->location_count; l++)
			assert_in_range(sample->locations[l], 1, decoded->location_count);
		for (size_t v = 0; v < sample->value_count; v++)
			assert_true(sample->values[v] <= INT64_MAX);
	}
	for (size_t i = 0; i < decoded->mapping_count; i++) {
		assert_int_equal(decoded->mappings[i][1], i + 1);
		(void)string_of(decoded, decoded->mappings[i][5]);
	}
	for (size_t i = 0; i < decoded->location_count; i++) {
		assert_int_equal(decoded->locations[i].fields[1], i + 1);
		assert_in_range(decoded->locations[i].fields[2], 0, decoded->mapping_count);
		assert_in_range(decoded->locations[i].function, 1, decoded->function_count);
	}
	for (size_t i = 0; i < decoded->function_count; i++) {
		assert_int_equal(decoded->functions[i][1], i + 1);
		(void)string_of(decoded, decoded->functions[i][2]);
		(void)string_of(decoded, decoded->functions[i][4]);
	}
}

static struct decoded *written(const struct profile *profile)
{
	struct decoded *decoded = calloc(1, sizeof(*decoded));
	char *packed = NULL;
	size_t packed_size, size;
	FILE *file = open_memstream(&packed, &packed_size);
	struct message message;
	unsigned char *bytes;
	struct field field;

	assert_int_equal(writer_pprof.write(profile, &defaults, file), 0);
	assert_int_equal(fclose(file), 0);
	bytes = unpack(packed, packed_size, &size);
	message = (struct message){ bytes, size };
	while (next_field(&message, &field))
		read_field(decoded, &field);
	free(bytes);
	free(packed);
	check_valid(decoded);
	return decoded;
}

static void decoded_free(struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->string_count; i++)
		free(decoded->strings[i]);
	free(decoded);
}

static const char *function_of(const struct decoded *decoded, uint64_t location)
{
	uint64_t function = decoded->locations[location - 1].function;

	return string_of(decoded, decoded->functions[function - 1][2]);
}

/* ---- tests ---- */

static void test_encoding(void **state)
{
	static const unsigned char expected[] = {
		0x08, 0x96, 0x01,                   /* field 1: 150 */
		0x10, 0xff, 0xff, 0xff, 0xff, 0xff, /* field 2: -1 */
		0xff, 0xff, 0xff, 0xff, 0x01,       /* */
		0x1a, 0x04, 0x00, 0x01, 0x80, 0x01, /* field 3: 0, 1, 128 */
		0x22, 0x02, 'h',  'i',              /* field 4 */
		0x2a, 0x03, 0x80, 0x01, 0x07,       /* field 5: { field 16: 7 } */
		0x2a, 0x00,                         /* field 5: {} */
	};
	static const uint64_t values[] = { 0, 1, 128 };
	struct protobuf message = { 0 }, inner = { 0 };

	(void)state;
	protobuf_number(&message, 1, 150);
	protobuf_number(&message, 1, 0);
	protobuf_number(&message, 2, UINT64_MAX);
	protobuf_numbers(&message, 3, values, 3);
	protobuf_numbers(&message, 3, values, 0);
	protobuf_bytes(&message, 4, "hi", 2);
	protobuf_number(&inner, 16, 7);
	protobuf_submessage(&message, 5, &inner);
	protobuf_clear(&inner);
	protobuf_submessage(&message, 5, &inner);
	assert_false(message.failed);
	assert_int_equal(message.size, sizeof(expected));
	assert_memory_equal(message.bytes, expected, sizeof(expected));
	protobuf_deinit(&message);
	protobuf_deinit(&inner);
}

static void test_facts(void **state)
{
	static const char *const types[][2] = {
		{ "samples", "count" },         { "cpu", "nanoseconds" },
		{ "python", "nanoseconds" },    { "native", "nanoseconds" },
		{ "system", "nanoseconds" },    { "redundant", "count" },
		{ "avoidable", "nanoseconds" },
	};
	struct profile profile = sample_profile();
	struct decoded *decoded = written(&profile);
	bool lost = false;

	(void)state;
	assert_int_equal(decoded->type_count, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(string_of(decoded, decoded->types[i].type), types[i][0]);
		assert_string_equal(string_of(decoded, decoded->types[i].unit), types[i][1]);
	}
	assert_true(decoded->numbers[9] == 1700000000123456789);
	assert_true(decoded->numbers[10] == 10020000000);
	assert_int_equal(decoded->numbers[12], 10101010);
	assert_string_equal(string_of(decoded, decoded->numbers[14]), "cpu");
	assert_string_equal(string_of(decoded, decoded->comments[0]),
			    "pieprofd 9.8.7, Python 3.11.2, python3, pid 4321");
	for (size_t i = 0; i < decoded->comment_count; i++)
		lost = lost || strcmp(string_of(decoded, decoded->comments[i]),
				      "not used: 1204 filter_stack") == 0;
	assert_true(lost);
	/* The interpreter first, whatever came first. */
	assert_string_equal(string_of(decoded, decoded->mappings[0][5]), "/usr/bin/python3.11");
	assert_string_equal(string_of(decoded, decoded->mappings[0][6]), SAMPLE_BUILD_ID);
	decoded_free(decoded);
}

static void test_samples(void **state)
{
	static const uint64_t totals[] = { 987,       9800000000, 3000000000, 6000000000,
					   800000000, 429,        2977000000 };
	static const char *const path[] = { "array_subscript", "Convolution.backprop", "<module>",
					    "_start" };
	struct profile profile = sample_profile();
	struct decoded *decoded = written(&profile);
	uint64_t sums[7] = { 0 };
	const struct sample *sample;

	(void)state;
	/* The node without time of its own has no sample; two pairs have. */
	assert_int_equal(decoded->sample_count, 5 + 2);
	for (size_t i = 0; i < decoded->sample_count; i++)
		for (size_t v = 0; v < 7; v++)
			sums[v] += decoded->samples[i].values[v];
	for (size_t v = 0; v < 7; v++)
		assert_true(sums[v] == totals[v]);
	/* Leaf first. */
	sample = &decoded->samples[3];
	assert_int_equal(sample->location_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(function_of(decoded, sample->locations[i]), path[i]);
	assert_int_equal(decoded->locations[sample->locations[1] - 1].line, 33);
	assert_int_equal(decoded->locations[sample->locations[1] - 1].fields[2], 0);
	assert_int_equal(decoded->locations[sample->locations[0] - 1].line, 1475);
	assert_int_equal(decoded->locations[sample->locations[0] - 1].fields[3], 0x2b40);
	assert_true(sample->values[3] == 5500000000 && sample->values[0] == 550);
	assert_string_equal(function_of(decoded, decoded->samples[2].locations[0]),
			    "libm.so.6+0x9abc");
	decoded_free(decoded);
}

static void test_pairs(void **state)
{
	/* Leaf first; the second path from where it leaves the first. */
	static const char *const first[] = { "array_assign_subscript",
					     "Convolution.backprop",
					     "[read again by]",
					     "prepare_index",
					     "array_subscript",
					     "Convolution.backprop",
					     "<module>",
					     "PyEval_EvalCode" };
	/* Both paths the same: the second from its innermost Python frame. */
	static const char *const second[] = { "array_assign_subscript", "Convolution.backprop",
					      "[written again by]", "array_assign_subscript" };
	struct profile profile = sample_profile();
	struct decoded *decoded = written(&profile);
	const struct sample *sample = &decoded->samples[5];

	(void)state;
	assert_int_equal(sample->location_count, 9 + 1 + 2);
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(function_of(decoded, sample->locations[i]), first[i]);
	assert_int_equal(sample->values[5], 409);
	assert_true(sample->values[6] == 2900000000 && sample->values[0] == 0);
	assert_int_equal(sample->label_count, 2);
	assert_string_equal(string_of(decoded, sample->labels[0][0]), "access");
	assert_string_equal(string_of(decoded, sample->labels[0][1]), "load");
	assert_string_equal(string_of(decoded, sample->labels[1][0]), "category");
	assert_string_equal(string_of(decoded, sample->labels[1][1]), "slice-underutilisation");
	sample = &decoded->samples[6];
	assert_int_equal(sample->location_count, 8 + 1 + 2);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(function_of(decoded, sample->locations[i]), second[i]);
	decoded_free(decoded);
}

static void test_without_pairs(void **state)
{
	struct profile profile = sample_profile();
	struct decoded *decoded;

	(void)state;
	profile.pair_count = 0;
	decoded = written(&profile);
	assert_int_equal(decoded->type_count, 5);
	assert_int_equal(decoded->sample_count, 5);
	decoded_free(decoded);
	/* Neither Python's time nor the native. */
	profile.facts.native_unknown = true;
	decoded = written(&profile);
	assert_int_equal(decoded->type_count, 3);
	assert_int_equal(decoded->sample_count, 5);
	decoded_free(decoded);
	profile = (struct profile){ .facts = { .version = "1", .sampler = "clock" } };
	decoded = written(&profile);
	assert_int_equal(decoded->sample_count, 0);
	assert_int_equal(decoded->mapping_count, 0);
	decoded_free(decoded);
}

static void test_hostile(void **state)
{
	struct profile profile = sample_profile();
	struct profile_frame frames[sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0])];
	struct profile_node nodes[sizeof(sample_nodes) / sizeof(sample_nodes[0])];
	struct decoded *decoded;

	(void)state;
	memcpy(frames, sample_tree_frames, sizeof(frames));
	memcpy(nodes, sample_nodes, sizeof(nodes));
	frames[0].address = UINT64_MAX;
	frames[1].function = "\x1b[2J\n\xff\xe2\x80\xae";
	frames[1].line = -7;
	frames[4].file = "\x1b]0;owned\x07";
	nodes[1].time_ns[TIME_PYTHON] = UINT64_MAX;
	profile.tree.frames = frames;
	profile.tree.nodes = nodes;
	profile.tree.nodes_folded = 12;
	memset(profile.facts.target.comm, '\x1b', sizeof(profile.facts.target.comm));
	decoded = written(&profile);
	assert_string_equal(function_of(decoded, decoded->samples[0].locations[0]),
			    "\\u001b[2J\\n\\xff\\u202e");
	assert_int_equal(decoded->locations[decoded->samples[0].locations[0] - 1].line, 0);
	assert_true(decoded->samples[0].values[2] == INT64_MAX);
	decoded_free(decoded);
}

static void test_full_disk(void **state)
{
	struct profile profile = sample_profile();
	FILE *file = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	assert_true(writer_pprof.write(&profile, &defaults, file) < 0);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encoding),      cmocka_unit_test(test_facts),
		cmocka_unit_test(test_samples),       cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_without_pairs), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
