/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/token.h"

#include "common/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is read of it; negative errno. */
static ssize_t token_read_all(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	ssize_t used;

	if (fd < 0)
		return -errno;
	used = fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ? -EINVAL
								  : whole_file_fill(fd, text, size);
	close(fd);
	return used;
}

int token_read(const char *path, struct token *ret_token, struct error *error)
{
	char text[TOKEN_BYTES_MAX + 2] = "";
	ssize_t size = token_read_all(path, text, sizeof(text));
	size_t length = 0;

	if (size < 0) {
		error_set(error, EXIT_USAGE, "--token-file %s: %s", path, strerror((int)-size));
		return -1;
	}
	while (length < (size_t)size && text[length] > ' ' && text[length] <= '~')
		length++;
	if (length < TOKEN_BYTES_MIN || length > TOKEN_BYTES_MAX ||
	    (length < (size_t)size && text[length] != '\n' && text[length] != '\r')) {
		error_set(error, EXIT_USAGE,
			  "--token-file %s: its first line must be a token of %d to %d characters "
			  "without spaces",
			  path, TOKEN_BYTES_MIN, TOKEN_BYTES_MAX);
		error_set_cure(error, "openssl rand -hex 32 makes one.");
		return -1;
	}
	ret_token->wanted = true;
	sha256(text, length, ret_token->digest);
	explicit_bzero(text, sizeof(text));
	return 0;
}

bool token_matches(const struct token *token, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	uint8_t digest[SHA256_BYTES];
	unsigned difference = 0;

	if (!token->wanted || !authorization ||
	    strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return false;
	authorization += sizeof(scheme) - 1;
	sha256(authorization, strnlen(authorization, TOKEN_BYTES_MAX + 1), digest);
	/* Of digests, all of them: neither where they differ nor the length shows. */
	for (size_t i = 0; i < sizeof(digest); i++)
		difference |= digest[i] ^ token->digest[i];
	return difference == 0;
}
