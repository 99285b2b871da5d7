/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share: numbers out of the input, and the input as a file.
 *
 * A target is a file tests/fuzz/FOLDER_NOUN.c with one function, which takes any
 * bytes at all, must come back, and keeps nothing from one call to the next.
 */
#ifndef PIEPROFD_TESTS_FUZZ_FUZZ_H
#define PIEPROFD_TESTS_FUZZ_FUZZ_H

#include "tests/must.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_UNUSED __attribute__((unused)) static

/* Code whose ways are not the fuzzer's business: it runs often, and tells nothing. */
#ifdef __clang__
#define FUZZ_UNWATCHED __attribute__((no_sanitize("coverage")))
#else
#define FUZZ_UNWATCHED
#endif

/* Also for promises. */
#define fuzz_must must

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* At most size bytes, *ret_size of them there; they stay the input's. */
FUZZ_UNUSED const uint8_t *fuzz_take(struct fuzz_input *input, size_t size, size_t *ret_size)
{
	const uint8_t *at = input->at;

	*ret_size = size < input->left ? size : input->left;
	input->at += *ret_size;
	input->left -= *ret_size;
	return at;
}

/* A little-endian number of `size` bytes; those that are not there are 0. */
FUZZ_UNUSED uint64_t fuzz_number(struct fuzz_input *input, size_t size)
{
	uint64_t value = 0;
	size_t there;
	const uint8_t *at = fuzz_take(input, size, &there);

	if (there)
		memcpy(&value, at, there);
	return value;
}

/* All that is left, as an allocation of exactly that size: one byte too far is seen. */
FUZZ_UNUSED uint8_t *fuzz_copy(const struct fuzz_input *input)
{
	uint8_t *copy = malloc(input->left ? input->left : 1);

	fuzz_must(copy);
	if (input->left)
		memcpy(copy, input->at, input->left);
	return copy;
}

/* The same with a NUL behind it; it may hold others. */
FUZZ_UNUSED char *fuzz_text(const struct fuzz_input *input)
{
	char *copy = malloc(input->left + 1);

	fuzz_must(copy);
	if (input->left)
		memcpy(copy, input->at, input->left);
	copy[input->left] = '\0';
	return copy;
}

/* Makes these bytes the whole contents of a file without a name. */
FUZZ_UNUSED void fuzz_file_fill(int fd, const void *bytes, size_t size)
{
	fuzz_must(ftruncate(fd, 0) == 0);
	fuzz_must(!size || pwrite(fd, bytes, size, 0) == (ssize_t)size);
	fuzz_must(lseek(fd, 0, SEEK_SET) == 0);
}

/* Such a file, for the caller to close. */
FUZZ_UNUSED int fuzz_file(const void *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_must(fd >= 0);
	fuzz_file_fill(fd, bytes, size);
	return fd;
}

/* Changes such a file as its last bytes tell: up to four words, and one time in four its size. */
FUZZ_UNUSED void fuzz_file_change(int fd, const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { bytes, size };

	if (input.left > 64) {
		input.at += input.left - 64;
		input.left = 64;
	}
	for (unsigned i = 0; i < 4 && size; i++) {
		uint64_t at = fuzz_number(&input, 4) % size, word = fuzz_number(&input, 8);
		size_t room = size - at < sizeof(word) ? size - at : sizeof(word);

		fuzz_must(pwrite(fd, &word, room, (off_t)at) == (ssize_t)room);
	}
	if (size && fuzz_number(&input, 1) % 4 == 0)
		fuzz_must(ftruncate(fd, (off_t)(fuzz_number(&input, 4) % size)) == 0);
}

/* Where output goes that nobody reads. */
FUZZ_UNUSED FILE *fuzz_sink(void)
{
	static FILE *sink;

	if (!sink)
		sink = fopen("/dev/null", "we");
	fuzz_must(sink);
	return sink;
}

/* Reads all of a string, so that a sanitizer sees one that does not end. */
FUZZ_UNUSED void fuzz_read_string(const char *text)
{
	static volatile size_t length;

	if (text)
		length = strlen(text);
	(void)length;
}

#endif
