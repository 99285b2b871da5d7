/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with programs in C and C++ that have inlined functions: a state of the tests. */
#ifndef PIEPROFD_TESTS_UNIT_LINE_SOURCES_H
#define PIEPROFD_TESTS_UNIT_LINE_SOURCES_H

#include "tests/unit/built_files.h"

static const char c_source[] = "#include <stdlib.h>\n"
			       "static inline __attribute__((always_inline)) int inner(int a)\n"
			       "{\n"
			       "	return a * atoi(\"3\");\n"
			       "}\n"
			       "static inline __attribute__((always_inline)) int middle(int a)\n"
			       "{\n"
			       "	int sum = 0;\n"
			       "	for (int i = 0; i < a; i++) {\n"
			       "		int b = inner(i);\n"
			       "		sum += b + inner(b);\n"
			       "	}\n"
			       "	return sum;\n"
			       "}\n"
			       "__attribute__((noinline)) int outer(int a)\n"
			       "{\n"
			       "	return middle(a) + middle(a + 1);\n"
			       "}\n"
			       "int main(int argc, char **argv)\n"
			       "{\n"
			       "	(void)argv;\n"
			       "	return outer(argc);\n"
			       "}\n";

static const char cxx_source[] =
	"#include <algorithm>\n"
	"#include <map>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"namespace shapes {\n"
	"struct box {\n"
	"	double a, b;\n"
	"	inline double area() const { return a * b; }\n"
	"	double scaled(double f) const;\n"
	"};\n"
	"double box::scaled(double f) const { return area() * f; }\n"
	"template <typename T> double total(const std::vector<T> &all)\n"
	"{\n"
	"	double sum = 0;\n"
	"	for (const auto &one : all)\n"
	"		sum += one.area() + one.scaled(2);\n"
	"	return sum;\n"
	"}\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	std::map<std::string, int> names;\n"
	"	std::vector<shapes::box> boxes;\n"
	"	struct local { static int twice(int a) { return a * argc_of(a); }\n"
	"		static int argc_of(int a) { return a + 1; } };\n"
	"	for (int i = 0; i < argc; i++) {\n"
	"		names[argv[i]] += i;\n"
	"		boxes.push_back({ double(i), 2.0 });\n"
	"	}\n"
	"	std::sort(boxes.begin(), boxes.end(), [](const auto &x, const auto &y) {\n"
	"		return x.area() < y.area(); });\n"
	"	return int(shapes::total(boxes)) + names.size() + local::twice(argc);\n"
	"}\n";

static inline int setup(void **state)
{
	struct built_files *files = built_files_create();

	built_files_write(files, "c.c", c_source);
	built_files_write(files, "cxx.cc", cxx_source);
	*state = files;
	return 0;
}

static inline int teardown(void **state)
{
	built_files_remove(*state);
	return 0;
}

#endif
