/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/outside_names.h"

#include <stdlib.h>
#include <string.h>

/* In order. What packs a stream is new and has to be. Clocks that measure how long something took
 * are none: the outcome is the same. Nor is open(): that a file is read again and again is worth
 * saying. */
static const char *const names[] = {
	"accept",
	"access",
	"bernoulli",
	"betavariate",
	"binomial",
	"binomialvariate",
	"check_output",
	"choice",
	"choices",
	"compressobj",
	"decompressobj",
	"exists",
	"expovariate",
	"exponential",
	"fstat",
	"gammavariate",
	"gauss",
	"getaddrinfo",
	"getmtime",
	"getrandbits",
	"getsize",
	"glob",
	"input",
	"integers",
	"isdir",
	"isfile",
	"listdir",
	"lognormvariate",
	"lstat",
	"multinomial",
	"multivariate_normal",
	"normal",
	"normalvariate",
	"now",
	"paretovariate",
	"permutation",
	"poisson",
	"popen",
	"rand",
	"randbelow",
	"randbytes",
	"randint",
	"randn",
	"random",
	"random_sample",
	"randperm",
	"randrange",
	"read",
	"readinto",
	"readline",
	"readlines",
	"recv",
	"recv_into",
	"sample",
	"scandir",
	"select",
	"shuffle",
	"standard_normal",
	"stat",
	"time",
	"time_ns",
	"today",
	"token_bytes",
	"token_hex",
	"token_urlsafe",
	"triangular",
	"uniform",
	"urandom",
	"urlopen",
	"utcnow",
	"uuid1",
	"uuid4",
	"vonmisesvariate",
	"walk",
	"weibullvariate",
};

static int compare_names(const void *name, const void *item)
{
	return strcmp(name, *(const char *const *)item);
}

bool outside_name_asks(const char *name)
{
	return bsearch(name, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]),
		       compare_names) != NULL;
}
