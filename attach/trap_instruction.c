/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two caches, both of fixed size, each slot replaced by whatever hashes there:
 *
 *   site     rip -> bytes of the instruction before it, and of a rep string
 *            instruction at it: what every trap but the first of a place needs
 *   outline  function -> one bit a byte, set where an instruction starts,
 *            as far as the function has been decoded
 *
 * The worst case holds OUTLINES * 8 KiB = 512 KiB of bits.
 */
#include "attach/trap_instruction.h"

#include "common/hash.h"

#include <Zydis/Zydis.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SITES             1024 /* powers of two */
#define OUTLINES          64
#define OUTLINE_STEP_BITS 64

/*
 * Where the processor moves a rep in groups, it reports the trap at the end of
 * the group (Intel SDM, "Fast-String Operation"): the access lies this far back.
 */
#define STRING_GROUP_BYTES 64

/* An instruction's bytes, copied; length 0: there is none. */
struct code_bytes {
	uint8_t length;
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
};

struct site {
	remote_addr rip; /* 0: the slot is empty */
	struct code_bytes before;
	struct code_bytes repeated;
};

struct outline {
	struct address_range function; /* start 0: the slot is empty */
	size_t decoded;                /* bytes from the start, to a boundary */
	bool broken;                   /* what follows is no instruction */
	size_t capacity;               /* bytes that starts has a bit for */
	uint64_t *starts;
};

struct trap_decoder {
	const struct memory_reader *code;
	ZydisDecoder decoder;
	ZydisDecoder length_decoder; /* minimal mode: lengths only, three times as fast */
	struct site sites[SITES];
	struct outline outlines[OUTLINES];
};

struct trap_decoder *trap_decoder_create(const struct memory_reader *code)
{
	struct trap_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	decoder->code = code;
	if (ZYAN_FAILED(ZydisDecoderInit(&decoder->decoder, ZYDIS_MACHINE_MODE_LONG_64,
					 ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderInit(&decoder->length_decoder, ZYDIS_MACHINE_MODE_LONG_64,
					 ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderEnableMode(&decoder->length_decoder, ZYDIS_DECODER_MODE_MINIMAL,
					       ZYAN_TRUE))) {
		free(decoder);
		return NULL;
	}
	return decoder;
}

void trap_decoder_destroy(struct trap_decoder *decoder)
{
	if (!decoder)
		return;
	for (size_t i = 0; i < OUTLINES; i++)
		free(decoder->outlines[i].starts);
	free(decoder);
}

void trap_decoder_flush(struct trap_decoder *decoder)
{
	memset(decoder->sites, 0, sizeof(decoder->sites));
	/* The bit maps stay allocated for the functions that come next. */
	for (size_t i = 0; i < OUTLINES; i++)
		decoder->outlines[i].function = (struct address_range){ 0 };
}

/* Fibonacci hashing; buckets is a power of two. */
static size_t hash_address(remote_addr address, size_t buckets)
{
	return hash_word(address) & (buckets - 1);
}

/* ---- outlines: where the instructions of a function start ---- */

static bool outline_has_start(const struct outline *outline, size_t offset)
{
	return outline->starts[offset / OUTLINE_STEP_BITS] >> offset % OUTLINE_STEP_BITS & 1;
}

static int outline_reset(struct outline *outline, struct address_range function)
{
	uint64_t size = function.end - function.start;
	size_t words;

	if (size > TRAP_FUNCTION_BYTES_MAX)
		size = TRAP_FUNCTION_BYTES_MAX;
	words = size / OUTLINE_STEP_BITS + 1;
	outline->function = (struct address_range){ 0 };
	if (words * OUTLINE_STEP_BITS > outline->capacity) {
		uint64_t *starts = realloc(outline->starts, words * sizeof(*starts));

		if (!starts)
			return -ENOMEM;
		outline->starts = starts;
		outline->capacity = words * OUTLINE_STEP_BITS;
	}
	memset(outline->starts, 0, words * sizeof(*outline->starts));
	outline->function = function;
	outline->decoded = 0;
	outline->broken = false;
	return 0;
}

/* Decodes on from where the outline ends, at least to the offset `wanted`. */
static int outline_extend(struct trap_decoder *decoder, struct outline *outline, size_t wanted)
{
	uint64_t size = outline->function.end - outline->function.start;
	uint8_t bytes[1024];

	while (outline->decoded < wanted && !outline->broken) {
		size_t have = size - outline->decoded, used = 0;
		int error;

		if (have > sizeof(bytes))
			have = sizeof(bytes);
		error = memory_read(decoder->code, outline->function.start + outline->decoded,
				    bytes, have);
		if (error)
			return error;
		while (used < have && outline->decoded < wanted) {
			ZydisDecodedInstruction decoded;

			if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder->length_decoder,
								      NULL, bytes + used,
								      have - used, &decoded))) {
				/* Cut off by the buffer, unless it is the first in it. */
				outline->broken = used == 0;
				break;
			}
			outline->starts[outline->decoded / OUTLINE_STEP_BITS] |=
				1ull << outline->decoded % OUTLINE_STEP_BITS;
			outline->decoded += decoded.length;
			used += decoded.length;
		}
	}
	return outline->decoded < wanted ? -EILSEQ : 0;
}

/* The offset of the instruction that ends at the offset `end`. */
static int outline_before(struct trap_decoder *decoder, struct address_range function, size_t end,
			  size_t *ret_offset)
{
	struct outline *outline = &decoder->outlines[hash_address(function.start, OUTLINES)];
	int error;

	if (outline->function.start != function.start || outline->function.end != function.end) {
		error = outline_reset(outline, function);
		if (error)
			return error;
	}
	error = outline_extend(decoder, outline, end);
	if (error)
		return error;
	/* Not a boundary: a jump into the middle of what was decoded, or data between code. */
	if (end != outline->decoded && !outline_has_start(outline, end))
		return -ENOENT;
	for (size_t back = 1; back <= INSTRUCTION_BYTES_MAX && back <= end; back++)
		if (outline_has_start(outline, end - back)) {
			*ret_offset = end - back;
			return 0;
		}
	return -ENOENT;
}

/* ---- sites: the instructions around one rip ---- */

static bool decode_full(const struct trap_decoder *decoder, const struct code_bytes *code,
			ZydisDecodedInstruction *decoded, ZydisDecodedOperand *operands)
{
	return code->length &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder->decoder, code->bytes, code->length,
						   decoded, operands));
}

static bool is_rep_string(const ZydisDecodedInstruction *decoded)
{
	return decoded->meta.category == ZYDIS_CATEGORY_STRINGOP &&
	       decoded->attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* A rep string instruction at rip; with its prefixes it is rarely longer than four bytes. */
static void find_repeated(const struct trap_decoder *decoder, remote_addr rip, remote_addr end,
			  struct code_bytes *ret)
{
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t length = end - rip;

	*ret = (struct code_bytes){ 0 };
	if (length > INSTRUCTION_BYTES_MAX)
		length = INSTRUCTION_BYTES_MAX;
	ret->length = (uint8_t)length;
	if (!length || memory_read(decoder->code, rip, ret->bytes, length) ||
	    !decode_full(decoder, ret, &decoded, operands) || !is_rep_string(&decoded))
		ret->length = 0;
	else
		ret->length = decoded.length;
}

static int find_trap_site(struct trap_decoder *decoder, remote_addr rip,
			  struct address_range function, const struct site **ret_site)
{
	struct site *site = &decoder->sites[hash_address(rip, SITES)];
	uint64_t end = rip - function.start;
	size_t offset;
	int error;

	if (site->rip == rip) {
		*ret_site = site;
		return 0;
	}
	if (rip < function.start || rip > function.end)
		return -ENOENT;
	if (end > TRAP_FUNCTION_BYTES_MAX - OUTLINE_STEP_BITS)
		return -E2BIG;
	*site = (struct site){ 0 };
	find_repeated(decoder, rip, function.end, &site->repeated);
	error = outline_before(decoder, function, end, &offset);
	if (!error) {
		site->before.length = (uint8_t)(end - offset);
		error = memory_read(decoder->code, function.start + offset, site->before.bytes,
				    site->before.length);
	}
	/* A rep string instruction at rip is a candidate of its own. */
	if (error && !(error == -ENOENT || site->repeated.length))
		return error;
	if (error)
		site->before.length = 0;
	site->rip = rip;
	*ret_site = site;
	return 0;
}

/* ---- from the registers after it back to the access ---- */

/*
 * Turns registers as an instruction left them into those it began with, as far
 * as that can be: the result is the mask of registers that are right.
 */
static unsigned rewind_registers(const ZydisDecodedInstruction *decoded,
				 const ZydisDecodedOperand *operands, struct registers *registers)
{
	unsigned known = REGISTERS_ALL_KNOWN;
	unsigned size = decoded->operand_width / 8;
	uint64_t *general = registers->general;

	for (size_t i = 0; i < decoded->operand_count; i++) {
		int id = operand_register(&operands[i]);

		if (id >= 0 && operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			known &= ~(1u << id);
	}
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
		general[REGISTER_RSP] += size;
		known |= 1u << REGISTER_RSP;
		break;
	case ZYDIS_CATEGORY_POP:
		if (operand_register(&operands[0]) == REGISTER_RSP &&
		    operands[0].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			break;
		general[REGISTER_RSP] -= size;
		known |= 1u << REGISTER_RSP;
		break;
	case ZYDIS_CATEGORY_STRINGOP: {
		/* One element back; Zydis 4.0 does not list these registers everywhere. */
		uint64_t back = registers->rflags & ZYDIS_CPUFLAG_DF ? size : -(uint64_t)size;

		general[REGISTER_RSI] += back;
		general[REGISTER_RDI] += back;
		known |= 1u << REGISTER_RSI | 1u << REGISTER_RDI;
		break;
	}
	default:
		if (decoded->mnemonic == ZYDIS_MNEMONIC_LEAVE) {
			general[REGISTER_RBP] = general[REGISTER_RSP] - 8;
			known |= 1u << REGISTER_RBP;
		}
		break;
	}
	return known;
}

static bool access_overlaps(const struct access *access, struct address_range watched)
{
	/* Differences wrap as the addresses do. */
	return access->address - watched.start < watched.end - watched.start ||
	       watched.start - access->address < access->size;
}

/*
 * access is the last element that a rep string instruction has done: moves it
 * back to the element that hit the watch, if that lies in the last group.
 */
static bool find_element(struct access *access, struct address_range watched, bool backwards)
{
	struct access element = *access;

	for (uint64_t moved = 0; moved < STRING_GROUP_BYTES; moved += element.size) {
		if (access_overlaps(&element, watched)) {
			*access = element;
			return true;
		}
		element.address += backwards ? element.size : -(uint64_t)element.size;
	}
	return false;
}

/* How sure it is that an instruction hit the watch. */
enum evidence {
	EVIDENCE_NONE,
	EVIDENCE_POSSIBLE, /* its operand's address is lost */
	EVIDENCE_CERTAIN,  /* its operand overlaps the watch */
};

/* The operand of the instruction at address that is likeliest to have hit the watch. */
static enum evidence judge_instruction(const struct trap_decoder *decoder,
				       const struct code_bytes *code, remote_addr address,
				       const struct registers *registers,
				       struct address_range watched, struct access *ret_access)
{
	enum evidence best = EVIDENCE_NONE;
	struct registers before = *registers;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;
	struct instruction instruction;
	unsigned known;

	if (!decode_full(decoder, code, &decoded, operands))
		return EVIDENCE_NONE;
	switch (decoded.meta.category) {
	case ZYDIS_CATEGORY_CALL: /* these leave rip elsewhere */
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return EVIDENCE_NONE;
	default:
		break;
	}
	before.rip = address;
	known = rewind_registers(&decoded, operands, &before);
	instruction_accesses(&decoded, operands, &before, known, &instruction);
	for (size_t i = 0; i < instruction.access_count; i++) {
		struct access *access = &instruction.accesses[i];
		enum evidence evidence = EVIDENCE_NONE;

		if (!access->address_known)
			evidence = EVIDENCE_POSSIBLE;
		else if (instruction.is_rep_string
				 ? find_element(access, watched, before.rflags & ZYDIS_CPUFLAG_DF)
				 : access_overlaps(access, watched))
			evidence = EVIDENCE_CERTAIN;
		/* When two can have hit it, the store is what counts. */
		if (evidence > best ||
		    (evidence && evidence == best && access->kinds > ret_access->kinds)) {
			best = evidence;
			*ret_access = *access;
		}
	}
	return best;
}

int trap_decode(struct trap_decoder *decoder, const struct registers *registers,
		struct address_range function, struct address_range watched,
		struct trap_instruction *ret_instruction)
{
	struct access access, repeated_access;
	enum evidence evidence, repeated_evidence;
	const struct site *site;
	int error = find_trap_site(decoder, registers->rip, function, &site);

	if (error)
		return error;
	evidence = judge_instruction(decoder, &site->before, registers->rip - site->before.length,
				     registers, watched, &access);
	repeated_evidence = judge_instruction(decoder, &site->repeated, registers->rip, registers,
					      watched, &repeated_access);
	/*
	 * A rep at rip may have just begun, or may be what trapped. Its own
	 * evidence is where its pointers are, which they may be by chance: the
	 * instruction before it goes first when that is as certain.
	 */
	if (repeated_evidence > evidence) {
		evidence = repeated_evidence;
		access = repeated_access;
	}
	if (evidence == EVIDENCE_NONE)
		return -ENOENT;
	*ret_instruction = (struct trap_instruction){
		.address = access.instruction,
		.kinds = access.kinds,
		.size = access.size,
		.operand_known = evidence == EVIDENCE_CERTAIN,
		.operand = evidence == EVIDENCE_CERTAIN ? access.address : 0,
		.floating_point = access.floating_point,
		.element_size = access.element_size,
	};
	return 0;
}
