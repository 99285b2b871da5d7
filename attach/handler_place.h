/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in an interpreter's handler of an instruction a probe is to be, and which register has the
 * frame there.
 *
 *   handler:  mov  -0x8(%r13),%r14
 *             mov  %r15,0x38(%rbx)      the frame notes its instruction: rbx has the frame
 *             cmpb $0x0,0xb0(%rsp)
 *             jne  ...                  here: the kernel need not single-step a jump, which would
 *                                       cost several times as much
 *
 * Where a handler notes that later (YIELD_VALUE of 3.15), the register is that of the others, and
 * the place is its first jump: any handler may follow any other, so that the frame is in the same
 * one whenever a handler begins.
 *
 * Only the beginning of the handler is looked at, up to its first jump: all of it is run by each
 * such instruction, and by nothing else, unless other code jumps into it. Where some does, the
 * place is the handler's first byte.
 */
#ifndef PIEPROFD_ATTACH_HANDLER_PLACE_H
#define PIEPROFD_ATTACH_HANDLER_PLACE_H

#include "common/memory.h"
#include "common/registers.h"

#define HANDLER_PLACES_MAX 16

struct handler_place {
	remote_addr handler;     /* in: its first byte */
	remote_addr address;     /* of the probe */
	unsigned frame_register; /* enum register_id: one that functions leave alone */
	bool stepped;            /* the kernel has to single-step the instruction there */
};

/*
 * Fills places, whose handlers lie in function, of which code has the bytes. store_offset: where in
 * a frame its instruction is noted. 0; -ENOENT: handlers do not begin as drawn above; -EILSEQ:
 * it cannot be decoded; -E2BIG, or what the reader said.
 */
__attribute__((warn_unused_result)) int handler_places_find(const struct memory_reader *code,
							    const struct address_ranges *function,
							    int32_t store_offset,
							    struct handler_place *places,
							    size_t count);

#endif
