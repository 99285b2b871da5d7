/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/sha256.h"

#include "daemon/report/encode/base64.h"

#include <string.h>

#define BLOCK_BYTES 64

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotated(uint32_t value, unsigned bits)
{
	return value >> bits | value << (32 - bits);
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16 |
		       (uint32_t)block[i * 4 + 2] << 8 | block[i * 4 + 3];
	for (size_t i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, state, sizeof(v));
	for (size_t i = 0; i < 64; i++) {
		uint32_t first = v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) +
				 ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[i] + w[i];
		uint32_t second = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) +
				  ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += first;
		v[0] = first + second;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256(const void *data, size_t size, uint8_t ret_digest[SHA256_BYTES])
{
	uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	size_t whole = size / BLOCK_BYTES * BLOCK_BYTES, rest = size - whole;
	uint8_t last[2 * BLOCK_BYTES] = { 0 };
	size_t last_size = rest + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;

	for (size_t i = 0; i < whole; i += BLOCK_BYTES)
		add_block(state, (const uint8_t *)data + i);
	if (rest)
		memcpy(last, (const uint8_t *)data + whole, rest);
	last[rest] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[last_size - 1 - i] = (uint8_t)((uint64_t)size * 8 >> i * 8);
	for (size_t i = 0; i < last_size; i += BLOCK_BYTES)
		add_block(state, last + i);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		ret_digest[i] = (uint8_t)(state[i / 4] >> (24 - i % 4 * 8));
}

void sha256_base64(const void *data, size_t size, char ret_text[SHA256_BASE64_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	char *text = ret_text;

	sha256(data, size, digest);
	for (size_t i = 0; i < sizeof(digest); i += 3, text += 4)
		base64_group(digest + i, sizeof(digest) - i < 3 ? sizeof(digest) - i : 3, text);
	*text = '\0';
}
