/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), by which a page names the script and style that it allows. Pure. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_SHA256_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES        32
#define SHA256_BASE64_BYTES 45 /* with its end */

void sha256(const void *data, size_t size, uint8_t ret_digest[SHA256_BYTES]);
void sha256_base64(const void *data, size_t size, char ret_text[SHA256_BASE64_BYTES]);

#endif
