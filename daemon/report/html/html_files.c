/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/html/html_files.h"

/* Paths are from the root of the sources, where make runs the compiler. */
#define INCLUDE(path) ".incbin \"daemon/report/html/page/" path "\"\n"

#define EMBED(name, includes)                                                                      \
	__asm__(".pushsection .rodata\n"                                                           \
		".globl html_file_" #name "\n"                                                     \
		".hidden html_file_" #name "\n"                                                    \
		"html_file_" #name ":\n" includes ".globl html_file_" #name "_end\n"               \
		".hidden html_file_" #name "_end\n"                                                \
		"html_file_" #name "_end:\n"                                                       \
		".popsection\n");                                                                  \
	extern const char html_file_##name[], html_file_##name##_end[];                            \
	struct html_file html_##name(void)                                                         \
	{                                                                                          \
		return (struct html_file){                                                         \
			.text = html_file_##name,                                                  \
			.size = (size_t)(html_file_##name##_end - html_file_##name),               \
		};                                                                                 \
	}

EMBED(page, INCLUDE("page.html"))
EMBED(style, INCLUDE("page.css"))
EMBED(script, INCLUDE("words.js") INCLUDE("tabs.js") INCLUDE("links.js") INCLUDE("table.js")
		      INCLUDE("flame_model.js") INCLUDE("flame_view.js") INCLUDE("flame.js")
			      INCLUDE("timeline.js") INCLUDE("waiting.js") INCLUDE("source.js")
				      INCLUDE("compare.js") INCLUDE("page.js"))
EMBED(heap_page, INCLUDE("heap.html"))
EMBED(heap_script, INCLUDE("words.js") INCLUDE("tabs.js") INCLUDE("links.js") INCLUDE("table.js")
			   INCLUDE("flame_model.js") INCLUDE("flame_view.js") INCLUDE("flame.js")
				   INCLUDE("compare.js") INCLUDE("heap.js"))
EMBED(trace_page, INCLUDE("trace.html"))
EMBED(trace_script,
      INCLUDE("words.js") INCLUDE("tabs.js") INCLUDE("trace_view.js") INCLUDE("trace.js"))
