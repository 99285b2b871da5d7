/* SPDX-License-Identifier: Apache-2.0 */
/* Names of both Rust styles and of C++, from rustc itself where it is installed, and hostile ones.
 */
#include "symbolize/demangle.h"

#include "tests/unit/built_files.h"
#include "tests/unit/unit_random.h"

#include <setjmp.h>

#include <cmocka.h>

static void expect(const char *mangled, const char *plain)
{
	char buffer[1024];

	assert_true(demangle_name(mangled, buffer, sizeof(buffer)));
	assert_string_equal(buffer, plain);
}

static void test_rust_names(void **state)
{
	(void)state;
	/* Legacy: escapes are resolved and the hash goes. */
	expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	expect("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop"
	       "17h0123456789abcdefE",
	       "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
	expect("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	       "std::rt::lang_start::{{closure}}");
	/* v0, from the examples of its specification, RFC 2603. */
	expect("_RNvC6_123foo3bar", "123foo::bar");
	expect("_RNvNtNtC7mycrate3foo3bar3baz", "mycrate::foo::bar::baz");
	expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	expect("_RNCNvC7mycrate4main0B3_", "mycrate::main::{closure#0}");
	expect("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>");
	expect("_RNvMs_C7mycrateNtB4_6Struct6method", "<mycrate::Struct>::method");
	expect("_RNvYNtC7mycrate6StructNtNtC4core5clone5Clone5clone",
	       "<mycrate::Struct as core::clone::Clone>::clone");
	/* Punycode. */
	expect("_RNvC7mycrateu8gdel_5qa", "mycrate::g\303\266del");
}

static void test_cxx_names(void **state)
{
	(void)state;
	expect("_Z1fi", "f(int)");
	expect("_ZN2at6native3addERKNS_6TensorES3_",
	       "at::native::add(at::Tensor const&, at::Tensor const&)");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
	       "std::vector<int, std::allocator<int> >::push_back(int const&)");
	expect("_ZN3foo3barEv.cold", "foo::bar() [clone .cold]");
	/* Like Rust's legacy style, but the last name is no hash. */
	expect("_ZN3foo3bar17h0123456789abcdegE", "foo::bar::h0123456789abcdeg");
}

static void test_not_mangled(void **state)
{
	static const char *const names[] = { "",    "_",   "_R",     "_Z",    "main",
					     "i",   "R",   "_Read",  "_RN",   "_Rust",
					     "_ZN", "_Z1", "_ZN3fo", "__Z1fi" };
	char buffer[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(demangle_name(names[i], buffer, sizeof(buffer)));
}

static void test_room(void **state)
{
	char buffer[16];

	(void)state;
	memset(buffer, 'x', sizeof(buffer));
	/* "mycrate::foo" and its NUL are 13 bytes. */
	assert_false(demangle_name("_RNvC7mycrate3foo", buffer, 12));
	assert_int_equal(buffer[12], 'x');
	assert_true(demangle_name("_RNvC7mycrate3foo", buffer, 13));
	assert_int_equal(buffer[13], 'x');
	assert_false(demangle_name("_RNvC7mycrate3foo", buffer, 0));
}

/* Names that stand for far more text than they have bytes, or nest without end. */
static void test_bombs(void **state)
{
	char name[2 * DEMANGLE_NAME_MAX], buffer[4096];
	size_t length;

	(void)state;
	/* v0: a tuple of two references to the tuple before it, 40 times over. */
	length = (size_t)snprintf(name, sizeof(name), "_RINvC1a1bTuuE");
	for (int i = 0; i < 40; i++) {
		/* Base 62 with one digit: place 7 is where the first tuple starts. */
		length += (size_t)snprintf(name + length, sizeof(name) - length, "TB%c_B%c_E", '5',
					   '5');
	}
	name[length++] = 'E';
	name[length] = '\0';
	(void)demangle_name(name, buffer, sizeof(buffer));

	/* Each refers to the whole of the one before it. */
	length = (size_t)snprintf(name, sizeof(name), "_RINvC1a1b");
	for (size_t previous = 0, i = 0; i < 50; i++) {
		static const char digits[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		size_t start = length - 2;
		char reference[8] = "u";

		if (i > 0 && previous == 0)
			strcpy(reference, "B_");
		else if (i > 0 && previous <= 62)
			snprintf(reference, sizeof(reference), "B%c_", digits[previous - 1]);
		else if (i > 0)
			snprintf(reference, sizeof(reference), "B%c%c_",
				 digits[(previous - 1) / 62], digits[(previous - 1) % 62]);
		length += (size_t)snprintf(name + length, sizeof(name) - length, "T%s%sE",
					   reference, reference);
		previous = start;
	}
	name[length++] = 'E';
	name[length] = '\0';
	assert_false(demangle_name(name, buffer, sizeof(buffer)));

	/* Nesting as deep as a name may be long, in both languages. */
	memset(name, 'R', sizeof(name));
	memcpy(name, "_RINvC1a1b", 10);
	name[DEMANGLE_NAME_MAX] = '\0';
	assert_false(demangle_name(name, buffer, sizeof(buffer)));
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	name[DEMANGLE_NAME_MAX - 1] = 'i';
	name[DEMANGLE_NAME_MAX] = '\0';
	assert_false(demangle_name(name, buffer, sizeof(buffer)));
	/* Longer than any name is read. */
	memset(name, 'a', sizeof(name));
	memcpy(name, "_Z4500", 6);
	name[6 + 4500] = 'v';
	name[7 + 4500] = '\0';
	assert_false(demangle_name(name, buffer, sizeof(buffer)));
}

static void test_random_changes(void **state)
{
	static const char *const seeds[] = {
		"_RNvMs_C7mycrateNtB4_6Struct6method",
		"_RNvYNtC7mycrate6StructNtNtC4core5clone5Clone5clone",
		"_RINvNtC3std3mem8align_ofjdE",
		"_RNvC7mycrateu8gdel_5qa",
		"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
		"ECs1iopQb"
		"uBiw2_3std",
		"_RNvXs5_NtCsd4VYFwevHkG_6decode8argsTestNtNtCs3AtrL2oaCaV_4core3cmp9PartialEq2eq",
		"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop"
		"17h0123456789abcdefE",
		"_ZNSt8_Rb_treeISsSt4pairIKSsiESt10_Select1stIS2_ESt4lessISsESaIS2_EE16_M_insert_"
		"uniqueERKS2_",
		"_ZZN3fooIJidEE3barILi5EEEDTplfp_cvT_Li3EES1_ENKUlvE_clEv",
	};
	struct unit_random random = { .state = 7 };
	char name[256], buffer[512];
	size_t demangled = 0;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t flips = 1 + unit_random_below(&random, 4), length;

		strcpy(name, seeds[unit_random_below(&random, sizeof(seeds) / sizeof(seeds[0]))]);
		length = strlen(name);
		for (size_t i = 0; i < flips; i++) {
			size_t at = 2 + unit_random_below(&random, length - 2);

			switch (unit_random_below(&random, 3)) {
			case 0:
				name[at] = name[2 + unit_random_below(&random, length - 2)];
				break;
			case 1:
				name[at] = "0123456789_BINSTKEPRLDFMXYCu$."[unit_random_below(
					&random, 30)];
				break;
			case 2:
				memmove(name + 2 + at / 2, name + at, length - at + 1);
				length = strlen(name);
				break;
			}
			if (length < 4)
				break;
		}
		if (demangle_name(name, buffer, sizeof(buffer))) {
			assert_true(strlen(buffer) < sizeof(buffer));
			demangled++;
		}
	}
	print_message("%zu of 200000 still names\n", demangled);
	assert_true(demangled > 1000);
}

/* What the compiler of the language itself makes of functions. */
static void test_rustc(void **state)
{
	static const char source[] =
		"pub mod shapes {\n"
		"    pub struct Area<T>(pub T);\n"
		"    pub trait Size { fn size(&self) -> u64; }\n"
		"    impl Size for Area<u32> {\n"
		"        #[inline(never)] fn size(&self) -> u64 { self.0 as u64 * 3 }\n"
		"    }\n"
		"    #[inline(never)] pub fn generic<T: Size>(t: &T) -> u64 { t.size() + 1 }\n"
		"}\n"
		"#[no_mangle] pub fn entry(n: u32) -> u64 { shapes::generic(&shapes::Area(n)) }\n";
	static const struct {
		const char *style;
		const char *names[2];
	} styles[] = {
		{ "legacy",
		  { "<geometry::shapes::Area<u32> as geometry::shapes::Size>::size",
		    "geometry::shapes::generic" } },
		{ "v0",
		  { "<geometry::shapes::Area<u32> as geometry::shapes::Size>::size",
		    "geometry::shapes::generic::<geometry::shapes::Area<u32>>" } },
	};
	struct built_files *files;

	(void)state;
	if (!built_have("rustc"))
		skip();
	files = built_files_create();
	built_files_write(files, "geometry.rs", source);
	for (size_t i = 0; i < 2; i++) {
		char command[PATH_MAX + 64], line[1024], symbol[1000], plain[1024];
		size_t found[2] = { 0 };
		FILE *output;

		/* Which style needs the unstable options depends on the compiler's age. */
		snprintf(command, sizeof(command),
			 "RUSTC_BOOTSTRAP=1 rustc -Z unstable-options --crate-type=cdylib -C "
			 "opt-level=1 -C symbol-mangling-version=%s -o lib.so geometry.rs "
			 "2>errors",
			 styles[i].style);
		if (!built_files_run(files, command)) {
			print_message("skipped: this rustc cannot build a library with %s names\n",
				      styles[i].style);
			continue;
		}
		snprintf(command, sizeof(command), "nm '%s'", built_files_path(files, "lib.so"));
		output = popen(command, "re");
		assert_non_null(output);
		while (fgets(line, sizeof(line), output)) {
			if (sscanf(line, "%*x %*c %999s", symbol) != 1 ||
			    !demangle_name(symbol, plain, sizeof(plain)))
				continue;
			for (size_t k = 0; k < 2; k++)
				found[k] += strcmp(plain, styles[i].names[k]) == 0;
			/* Nothing of the mangling is left. */
			assert_null(strstr(plain, "$LT$"));
			assert_null(strstr(plain, "17h"));
		}
		pclose(output);
		assert_true(found[0] > 0 && found[1] > 0);
	}
	built_files_remove(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rust_names),  cmocka_unit_test(test_cxx_names),
		cmocka_unit_test(test_not_mangled), cmocka_unit_test(test_room),
		cmocka_unit_test(test_bombs),       cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_rustc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
