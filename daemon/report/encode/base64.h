/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648), three bytes at a time. Pure. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_BASE64_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* One to three bytes, fewer only at the end. */
static inline void base64_group(const uint8_t *bytes, size_t count, char ret_text[4])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)bytes[0] << 16;

	if (count > 1)
		bits |= (uint32_t)bytes[1] << 8;
	if (count > 2)
		bits |= bytes[2];
	for (unsigned i = 0; i < 4; i++)
		ret_text[i] = i <= count ? digits[bits >> (18 - i * 6) & 0x3f] : '=';
}

#endif
