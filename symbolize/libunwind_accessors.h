/* SPDX-License-Identifier: Apache-2.0 */
/* What every user of libunwind here refuses it: it has no business in the target but reading. */
#ifndef PIEPROFD_SYMBOLIZE_LIBUNWIND_ACCESSORS_H
#define PIEPROFD_SYMBOLIZE_LIBUNWIND_ACCESSORS_H

#include <libunwind.h>

/* Accessors that refuse: code registered at run time, vector registers, resuming, names. */
unw_accessors_t libunwind_accessors_refusing(void);

#endif
