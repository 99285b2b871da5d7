/* SPDX-License-Identifier: Apache-2.0 */
/* The secret that clients from elsewhere show, as `Authorization: Bearer TOKEN` (RFC 6750). */
#ifndef PIEPROFD_DAEMON_SERVE_TOKEN_H
#define PIEPROFD_DAEMON_SERVE_TOKEN_H

#include "common/error.h"
#include "daemon/report/encode/sha256.h"

#include <stdbool.h>

#define TOKEN_BYTES_MIN 16
#define TOKEN_BYTES_MAX 1024

struct token {
	bool wanted;
	uint8_t digest[SHA256_BYTES]; /* the token itself is not kept */
};

/* The file's first line. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int token_read(const char *path, struct token *ret_token,
						   struct error *error);

/*
 * Whether the header's value, NULL: there is none, shows it. How long that takes
 * tells nothing about the token.
 */
bool token_matches(const struct token *token, const char *authorization);

#endif
