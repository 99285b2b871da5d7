/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, names of hosts, tokens and bodies, of which many are wrong. */
#include "daemon/serve/body.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/sampler_parts.h"
#include "daemon/serve/token.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_addresses(void **state)
{
	static const struct {
		const char *text;
		bool is_unix, is_loopback;
	} good[] = {
		{ "127.0.0.1:6061", false, true },  { "localhost:0", false, true },
		{ "LOCALHOST:65535", false, true }, { "[::1]:6061", false, true },
		{ "127.9.9.9:1", false, true },     { "[::ffff:127.0.0.1]:1", false, true },
		{ "0.0.0.0:6061", false, false },   { "[::]:6061", false, false },
		{ "10.0.0.1:6061", false, false },  { "[::ffff:10.0.0.1]:1", false, false },
		{ "unix:/run/x", true, false },     { "unix:x", true, false },
	};
	static const char *const bad[] = {
		"",         ":",          ":6061",        "127.0.0.1",    "127.0.0.1:",
		"::1:6061", "[::1]",      "[]:1",         "[::1:1",       "127.0.0.1:65536",
		"1.2.3:4",  "example:80", "127.0.0.1:-1", "127.0.0.1:1x", "127.0.0.1:000001",
		"unix:",    "[::1%lo]:1", "127.0.0.1 :1", "0x7f.1:1",     "[127.0.0.1]:6061x",
	};
	struct listener_address address;
	struct error error;
	char path[200] = "unix:";

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(listener_parse(good[i].text, &address, &error), 0);
		assert_int_equal(address.is_unix, good[i].is_unix);
		assert_int_equal(address.is_loopback, good[i].is_loopback);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(listener_parse(bad[i], &address, &error), -1);
		assert_int_equal(error.exit_code, EXIT_USAGE);
	}
	memset(path + 5, 'x', 107);
	assert_int_equal(listener_parse(path, &address, &error), 0);
	path[112] = 'x';
	assert_int_equal(listener_parse(path, &address, &error), -1);
}

static void test_hosts(void **state)
{
	static const char *const ours[] = { "localhost", "localhost:1", "127.0.0.1",
					    "[::1]",     "[::1]:80",    "127.8.8.8:65535" };
	static const char *const others[] = {
		"",
		"a.example",
		"a.example:6061",
		"localhost.a.example",
		"127.0.0.1.",
		"127.0.0.1:x",
		"::1",
		"[::1]x",
		"0.0.0.0",
		"localhost:1:1",
		"10.0.0.1",
		"localhost\t",
	};
	struct listener listener = { .address.is_loopback = true };
	char long_host[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		assert_true(listener_accepts_host(&listener, ours[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(listener_accepts_host(&listener, others[i]));
	assert_false(listener_accepts_host(&listener, NULL));
	memset(long_host, '1', sizeof(long_host));
	long_host[sizeof(long_host) - 1] = '\0';
	assert_false(listener_accepts_host(&listener, long_host));
	listener.address.is_loopback = false;
	assert_true(listener_accepts_host(&listener, "a.example"));
}

/* What becomes of a token file with this content. */
static int read_token(const char *content, size_t size, struct token *ret_token)
{
	char path[] = "/tmp/pieprofd-token-XXXXXX";
	struct error error;
	int fd = mkstemp(path), result;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	close(fd);
	result = token_read(path, ret_token, &error);
	unlink(path);
	return result;
}

static void test_tokens(void **state)
{
	static const char *const bad[] = { "",
					   "short",
					   "fifteen-letters",
					   "sixteen letters!",
					   "\nnot-in-the-first-line",
					   "sixteen-letters\001-" };
	char long_token[3000];
	struct token token = { 0 };
	struct error error;

	(void)state;
	assert_false(token_matches(&token, "Bearer "));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_token(bad[i], strlen(bad[i]), &token), -1);
	memset(long_token, 'a', sizeof(long_token));
	assert_int_equal(read_token(long_token, sizeof(long_token), &token), -1);
	assert_int_equal(read_token(long_token, TOKEN_BYTES_MAX, &token), 0);
	assert_int_equal(token_read("/nowhere/at/all", &token, &error), -1);
	assert_int_equal(token_read("/tmp", &token, &error), -1);
	assert_int_equal(token_read("/dev/zero", &token, &error), -1);

	assert_int_equal(read_token("sixteen-letters!\r\nmore", 22, &token), 0);
	assert_true(token_matches(&token, "Bearer sixteen-letters!"));
	assert_true(token_matches(&token, "bearer sixteen-letters!"));
	assert_false(token_matches(&token, NULL));
	assert_false(token_matches(&token, ""));
	assert_false(token_matches(&token, "Bearer"));
	assert_false(token_matches(&token, "Bearer "));
	assert_false(token_matches(&token, "Bearer  sixteen-letters!"));
	assert_false(token_matches(&token, "Bearer sixteen-letters! "));
	assert_false(token_matches(&token, "Bearer sixteen-letters"));
	assert_false(token_matches(&token, "sixteen-letters!"));
}

static void test_bodies_have_a_limit(void **state)
{
	static const char piece[1 << 16];
	struct body body;

	(void)state;
	assert_int_equal(body_open(&body), 0);
	fputs("one and ", body.file);
	fputs("two", body.file);
	assert_int_equal(body_finish(&body), 0);
	assert_int_equal(body.size, 11);
	assert_memory_equal(body.bytes, "one and two", 11);
	body_deinit(&body);
	body_deinit(&body);

	assert_int_equal(body_open(&body), 0);
	for (size_t written = 0; written <= BODY_BYTES_MAX; written += sizeof(piece))
		fwrite(piece, 1, sizeof(piece), body.file);
	assert_int_equal(body_finish(&body), -EFBIG);
	assert_null(body.bytes);
	assert_int_equal(body_open(&body), 0);
	fputs("left alone", body.file);
	body_deinit(&body);
}

/* A session gives way beyond three quarters of what it may hold. */
static void test_nearly_full(void **state)
{
	static const struct session_options limits = { .node_limit = SAMPLER_NODES_MAX,
						       .pair_limit = SAMPLER_PAIRS_MAX };
	static const struct session_counters most = {
		.nodes = 75000, .pairs = 15000, .origins = 15000, .threads = 3072
	};
	struct session_counters more[4] = { most, most, most, most };

	(void)state;
	assert_false(sampler_is_nearly_full(&limits, &most));
	more[0].nodes++;
	more[1].pairs++;
	more[2].origins++;
	more[3].threads++;
	for (size_t i = 0; i < 4; i++)
		assert_true(sampler_is_nearly_full(&limits, &more[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),   cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_tokens),      cmocka_unit_test(test_bodies_have_a_limit),
		cmocka_unit_test(test_nearly_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
