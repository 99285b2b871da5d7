/* SPDX-License-Identifier: Apache-2.0 */
/* Whose doing CPU time is. */
#ifndef PIEPROFD_DAEMON_CCT_TIME_CLASS_H
#define PIEPROFD_DAEMON_CCT_TIME_CLASS_H

enum time_class {
	TIME_PYTHON, /* the interpreter on behalf of the line */
	TIME_NATIVE, /* library code the line called */
	TIME_SYSTEM, /* the kernel */
	TIME_CLASS_COUNT
};

#endif
