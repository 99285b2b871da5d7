/* SPDX-License-Identifier: Apache-2.0 */
/* What pushing is made of, but for the network: the spool, waits, answers, addresses, headers. */
#include "common/clock.h"
#include "daemon/push/backoff.h"
#include "daemon/push/grpc_answer.h"
#include "daemon/push/keeper.h"
#include "daemon/push/push.h"
#include "daemon/push/receiver_answer.h"
#include "daemon/push/spool.h"
#include "daemon/report/encode/protobuf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the spool */

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/pieprofd-unit-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void open_spool(struct spool *spool)
{
	struct error error;

	assert_int_equal(spool_open(spool, folder, ".otlp", &error), 0);
}

/* The oldest one is that text, and is then done with. */
static void assert_taken(struct spool *spool, const char *text)
{
	struct spool_entry entry;
	void *bytes;
	size_t size;

	assert_int_equal(spool_read_first(spool, &bytes, &size, &entry), 0);
	assert_int_equal(size, strlen(text));
	assert_memory_equal((char *)bytes + SPOOL_HEADER_BYTES, text, size);
	free(bytes);
	spool_remove(spool, &entry);
}

static void assert_empty(struct spool *spool)
{
	struct spool_entry entry;
	void *bytes;
	size_t size;

	assert_int_equal(spool_read_first(spool, &bytes, &size, &entry), -ENOENT);
	assert_int_equal(spool->bytes, 0);
}

static void test_spool_order(void **state)
{
	struct spool spool;

	(void)state;
	open_spool(&spool);
	assert_int_equal(spool_add(&spool, 1, "one", 3), 0);
	assert_int_equal(spool_add(&spool, 2, "two", 3), 0);
	assert_taken(&spool, "one");
	assert_int_equal(spool_add(&spool, 3, "three", 5), 0);
	assert_taken(&spool, "two");
	spool_close(&spool);
	/* The next process finds what is left, and adds behind it. */
	open_spool(&spool);
	assert_int_equal(spool_add(&spool, 4, "four", 4), 0);
	assert_taken(&spool, "three");
	assert_taken(&spool, "four");
	assert_empty(&spool);
	assert_int_equal(spool.gave_way + spool.damaged, 0);
	spool_close(&spool);
}

static void test_spool_is_bounded(void **state)
{
	struct spool spool;

	(void)state;
	open_spool(&spool);
	spool.bytes_max = 3 * (SPOOL_HEADER_BYTES + 3);
	for (int i = 0; i < 5; i++) {
		const char text[] = { 'n', 'o', (char)('0' + i) };

		assert_int_equal(spool_add(&spool, 100 + (uint64_t)i, text, sizeof(text)), 0);
	}
	assert_int_equal(spool.gave_way, 2);
	assert_int_equal(spool_add(&spool, 5, "", 0), -EMSGSIZE);
	spool.bytes_max = 3;
	assert_int_equal(spool_add(&spool, 6, "xyz", 3), -EMSGSIZE);
	assert_taken(&spool, "no2");
	assert_taken(&spool, "no3");
	assert_taken(&spool, "no4");
	assert_empty(&spool);
	spool_close(&spool);
}

static void put_file(const struct spool *spool, const char *name, const char *text, size_t size)
{
	int file = openat(spool->folder, name, O_WRONLY | O_CREAT, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, size), size);
	close(file);
}

static void test_spool_of_strange_files(void **state)
{
	char flipped[SPOOL_HEADER_BYTES + 4];
	struct spool spool;

	(void)state;
	open_spool(&spool);
	put_file(&spool, "00000000000000000001.otlp", "short", 5);
	spool_header_put((unsigned char *)flipped, "text", 4);
	memcpy(flipped + SPOOL_HEADER_BYTES, "tExt", 4);
	put_file(&spool, "00000000000000000002.otlp", flipped, sizeof(flipped));
	put_file(&spool, "1.otlp", "of somebody else", 16);
	assert_int_equal(symlinkat("/etc/passwd", spool.folder, "00000000000000000003.otlp"), 0);
	assert_int_equal(mkdirat(spool.folder, "00000000000000000004.otlp", 0700), 0);
	spool_close(&spool);
	open_spool(&spool);
	assert_int_equal(spool.count, 2);
	assert_int_equal(spool_add(&spool, 7, "good", 4), 0);
	assert_taken(&spool, "good");
	assert_int_equal(spool.damaged, 2);
	assert_empty(&spool);
	assert_int_equal(faccessat(spool.folder, "1.otlp", F_OK, 0), 0);
	spool_close(&spool);
}

static void test_spool_refusals(void **state)
{
	struct spool spool, second;
	struct error error;

	(void)state;
	open_spool(&spool);
	assert_int_equal(spool_open(&second, folder, ".otlp", &error), -1);
	assert_non_null(strstr(error.cause, "another pieprofd"));
	spool_close(&spool);
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(spool_open(&second, folder, ".otlp", &error), -1);
	assert_non_null(strstr(error.cause, "others may write there"));
	assert_int_equal(error.exit_code, EXIT_USAGE);
	assert_int_equal(spool_open(&second, "/proc/nowhere/at/all", ".otlp", &error), -1);
}

static void test_spool_of_its_own(void **state)
{
	struct spool spool;
	struct error error;
	struct stat status;
	char *path;

	(void)state;
	assert_int_equal(spool_open(&spool, NULL, ".otlp", &error), 0);
	path = strdup(spool.path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	spool_close(&spool);
	assert_int_equal(stat(path, &status), -1);
	free(path);
}

/* ---- the rest */

static void test_backoff(void **state)
{
	(void)state;
	assert_int_equal(backoff_ns(1, 0, 0), NS_PER_SECOND);
	assert_int_equal(backoff_ns(3, 0, 0), 4 * NS_PER_SECOND);
	assert_int_equal(backoff_ns(1000000, 0, 0), 60 * NS_PER_SECOND);
	for (uint64_t random = 1; random < 1ull << 60; random = random * 31 + 7)
		assert_in_range(backoff_ns(2, random, 0), NS_PER_SECOND, 2 * NS_PER_SECOND);
	assert_in_range(backoff_ns(1, 0, 30 * NS_PER_SECOND), 30 * NS_PER_SECOND,
			31 * NS_PER_SECOND);
	assert_in_range(backoff_ns(1, 0, UINT64_MAX), 3600 * NS_PER_SECOND, 3601 * NS_PER_SECOND);
}

static void test_verdicts(void **state)
{
	static const long again[] = { 429, 502, 503, 504 },
			  never[] = { 0, 307, 400, 401, 413, 500 };

	(void)state;
	assert_int_equal(receiver_verdict(200), RECEIVER_ACCEPTED);
	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++)
		assert_int_equal(receiver_verdict(again[i]), RECEIVER_BUSY);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(receiver_verdict(never[i]), RECEIVER_REFUSED);
}

static void test_answers(void **state)
{
	struct protobuf partial = { 0 }, answer = { 0 };
	struct receiver_answer read;

	(void)state;
	protobuf_number(&partial, 1, 7);
	protobuf_bytes(&partial, 2, "too\x1b[31m old", 11);
	protobuf_fixed64(&answer, 9, 1);
	protobuf_submessage(&answer, 1, &partial);
	read = receiver_answer_parse(answer.bytes, answer.size);
	assert_int_equal(read.rejected, 7);
	assert_string_equal(read.message, "too?[31m ol");
	/* Cut anywhere, it says less, and nothing else. */
	for (size_t i = 0; i < answer.size; i++) {
		read = receiver_answer_parse(answer.bytes, i);
		assert_int_equal(read.rejected, 0);
	}
	assert_int_equal(receiver_answer_parse("<html>", 6).rejected, 0);
	protobuf_deinit(&partial);
	protobuf_deinit(&answer);
}

static struct grpc_trailers trailers_of(const char *const *lines, size_t count)
{
	struct grpc_trailers trailers = GRPC_TRAILERS_NONE;

	for (size_t i = 0; i < count; i++)
		grpc_trailers_take(&trailers, lines[i], strlen(lines[i]));
	return trailers;
}

static struct grpc_trailers trailers_of_line(const char *line)
{
	return trailers_of(&line, 1);
}

static void test_grpc_frames(void **state)
{
	const unsigned char wanted[GRPC_FRAME_BYTES] = { 1, 0, 1, 2, 3 };
	unsigned char frame[GRPC_FRAME_BYTES];
	const void *message;

	(void)state;
	grpc_frame_put(frame, 0x10203);
	assert_memory_equal(frame, wanted, sizeof(frame));
	assert_int_equal(grpc_frame_message("\0\0\0\0\2ab", 7, &message), 2);
	assert_memory_equal(message, "ab", 2);
	/* Cut off, compressed, longer than it is. */
	assert_int_equal(grpc_frame_message("\0\0\0\0", 4, &message), 0);
	assert_int_equal(grpc_frame_message("\1\0\0\0\2ab", 7, &message), 0);
	assert_int_equal(grpc_frame_message("\0\0\0\0\3ab", 7, &message), 0);
	assert_int_equal(grpc_frame_message("\0\377\377\377\377ab", 7, &message), 0);
}

static void test_grpc_trailers(void **state)
{
	static const char *const lines[] = { "content-type: application/grpc\r\n", "\r\n",
					     "GRPC-Status:14 \r\n",
					     "grpc-message: 50%25 \x1b%0a%zz%2\r\n" };
	static const char *const strange[] = { "grpc-status: \r\n", "grpc-status: 12345",
					       "grpc-status: -1",   "grpc-status: 1x",
					       "grpc-statu: 0",     "grpc-status" };
	struct grpc_trailers trailers = trailers_of(lines, 4);

	(void)state;
	assert_int_equal(trailers.status, 14);
	assert_string_equal(trailers.message, "50% ??%zz%2");
	assert_int_equal(grpc_verdict(&trailers, 200), RECEIVER_BUSY);
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		trailers = trailers_of_line(strange[i]);
		assert_int_equal(trailers.status, GRPC_NO_STATUS);
		assert_int_equal(grpc_verdict(&trailers, 200), RECEIVER_BUSY);
		assert_int_equal(grpc_verdict(&trailers, 404), RECEIVER_REFUSED);
		assert_int_equal(grpc_verdict(&trailers, 503), RECEIVER_BUSY);
	}
	assert_string_equal(grpc_status_name(14), "UNAVAILABLE");
	assert_string_equal(grpc_status_name(17), "of no known name");
	assert_string_equal(grpc_status_name(-1), "of no known name");
}

/* Made with the packages of gRPC: a status of RESOURCE_EXHAUSTED with a delay of a second. */
#define DETAILS "CAgaMAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIECgIIAQ"

static void test_grpc_delays(void **state)
{
	static const char *const lines[] = { "grpc-status: 8\r\n",
					     "grpc-status-details-bin: " DETAILS "\r\n" };
	struct grpc_trailers trailers = trailers_of(lines, 2);
	char line[sizeof("grpc-status-details-bin: " DETAILS "==")];

	(void)state;
	assert_true(trailers.retry_asked);
	assert_int_equal(trailers.retry_ns, NS_PER_SECOND);
	assert_int_equal(grpc_verdict(&trailers, 200), RECEIVER_BUSY);
	trailers = trailers_of(lines, 1);
	assert_false(trailers.retry_asked);
	assert_int_equal(grpc_verdict(&trailers, 200), RECEIVER_REFUSED);
	assert_int_equal(trailers_of_line("grpc-status-details-bin: " DETAILS "==").retry_ns,
			 NS_PER_SECOND);
	/* Cut anywhere, there is no delay. */
	for (size_t i = 0; i < strlen(DETAILS) - 1; i++) {
		snprintf(line, sizeof(line), "grpc-status-details-bin: %.*s", (int)i, DETAILS);
		assert_int_equal(trailers_of_line(line).retry_ns, 0);
	}
}

static void test_pauses_of_keeper(void **state)
{
	uint64_t pause_ns = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		uint64_t next_ns = keeper_pause_ns(pause_ns, 0);

		assert_true(next_ns >= pause_ns && next_ns <= 60 * NS_PER_SECOND);
		pause_ns = next_ns;
	}
	assert_int_equal(pause_ns, 60 * NS_PER_SECOND);
	assert_int_equal(keeper_pause_ns(pause_ns, 3600 * NS_PER_SECOND), NS_PER_SECOND / 2);
}

#define GRPC_PATH "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"

static void assert_url(const char *text, enum push_protocol protocol, const char *wanted)
{
	struct push_url url;
	struct error error;

	assert_int_equal(push_url_parse(text, protocol, &url, &error), 0);
	assert_string_equal(url.text, wanted);
}

static void test_urls(void **state)
{
	static const char *const wrong[] = { "",
					     "collector",
					     "collector:4318",
					     "ftp://a",
					     "file:///etc/passwd",
					     "http://",
					     "http://a b",
					     "http://user@a",
					     "https://user:word@a/",
					     "http://a:99999" };
	struct push_url url;
	struct error error;

	(void)state;
	assert_url("http://127.0.0.1:4318", PUSH_OTLP,
		   "http://127.0.0.1:4318/v1development/profiles");
	assert_url("https://a.example/", PUSH_OTLP, "https://a.example/v1development/profiles");
	assert_url("https://a.example/otlp/x?tenant=1#y", PUSH_OTLP,
		   "https://a.example/otlp/x?tenant=1");
	assert_url("http://a:4317", PUSH_OTLP_GRPC, "http://a:4317" GRPC_PATH);
	assert_url("http://a:4317" GRPC_PATH, PUSH_OTLP_GRPC, "http://a:4317" GRPC_PATH);
	assert_int_equal(push_url_parse("http://a:4317/x", PUSH_OTLP_GRPC, &url, &error), -1);
	assert_url("http://a:4040", PUSH_PYROSCOPE, "http://a:4040/ingest");
	assert_url("https://a/pyroscope/ingest", PUSH_PYROSCOPE, "https://a/pyroscope/ingest");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(push_url_parse(wrong[i], PUSH_OTLP, &url, &error), -1);
		assert_int_equal(error.exit_code, EXIT_USAGE);
		assert_null(strstr(error.cause, "word"));
	}
}

static void test_headers(void **state)
{
	(void)state;
	assert_true(push_header_is_valid("Authorization: Bearer x"));
	assert_true(push_header_is_valid("X-Scope-OrgID:a"));
	assert_false(push_header_is_valid(""));
	assert_false(push_header_is_valid("Authorization"));
	assert_false(push_header_is_valid(": x"));
	assert_false(push_header_is_valid("A b: x"));
	assert_false(push_header_is_valid("A: x\r\nB: y"));
}

int main(void)
{
#define OF_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		OF_FOLDER(test_spool_order),
		OF_FOLDER(test_spool_is_bounded),
		OF_FOLDER(test_spool_of_strange_files),
		OF_FOLDER(test_spool_refusals),
		cmocka_unit_test(test_spool_of_its_own),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_grpc_frames),
		cmocka_unit_test(test_grpc_trailers),
		cmocka_unit_test(test_grpc_delays),
		cmocka_unit_test(test_pauses_of_keeper),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
