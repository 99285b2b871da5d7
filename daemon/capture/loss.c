/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/loss.h"

static const char *const names[LOSS_COUNT] = {
#define X(enumerator, name, words) [enumerator] = name,
	LOSSES(X)
#undef X
};

static const char *const descriptions[LOSS_COUNT] = {
#define X(enumerator, name, words) [enumerator] = words,
	LOSSES(X)
#undef X
};

const char *loss_name(enum loss loss)
{
	return (unsigned)loss < LOSS_COUNT ? names[loss] : "unknown";
}

const char *loss_words(enum loss loss)
{
	return (unsigned)loss < LOSS_COUNT ? descriptions[loss] : "unknown";
}
