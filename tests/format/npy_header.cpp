// SPDX-License-Identifier: BSD-3-Clause
// Headers of NPY files according to NumPy's rules; tests/peers/npy.py compares with NumPy.
#include "sextant/core/error.hpp"
#include "sextant/format/npy.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/message_of.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text, int version = 1) {
    return test::message_of<InvalidFile>([&] { parse_npy_header("a.npy", text, version); });
}

std::string header(const std::string& type, const std::string& order = "False",
                   const std::string& shape = "(3, 4)") {
    return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
}

std::string with_shape(const std::string& shape) {
    return header("'<u2'", "False", shape);
}

TEST(NpyHeader, contains_type_order_and_shape) {
    const NpyHeader big = parse_npy_header("a.npy", header("'>f4'", "True", "(2, 3, 4)"), 1);
    EXPECT_EQ(big.sample, Sample::f32);
    EXPECT_TRUE(big.big_endian);
    EXPECT_TRUE(big.fortran);
    EXPECT_THAT(big.shape, ElementsAre(2, 3, 4));
    EXPECT_FALSE(parse_npy_header("a.npy", header("'<f4'"), 1).big_endian);
}

TEST(NpyHeader, may_be_written_as_any_equivalent_python_dictionary) {
    const std::string plain = header("'<u2'");
    std::string quoted = plain;
    std::replace(quoted.begin(), quoted.end(), '\'', '"');
    for (const std::string& text : std::vector<std::string>{
             quoted, " \t" + plain + "\n\n", plain + " # end",
             "{'shape':(3,4),'descr':'<u2','fortran_order':False}", header("u'<u2'"),
             header("'''<u2'''"), header("'<' 'u2'"), header("('<u2')"), with_shape("(3\n,\n 4)"),
             with_shape("(3, # rows\n 4,)"), with_shape("(0x3, 1_0)"), with_shape("(+3, 4)"),
             with_shape("((3, 4))"),
             "{'descr': '<f4', 'descr': '<u2', 'fortran_order': False, 'shape': (3, 4)}"}) {
        EXPECT_EQ(refusal(text), "") << text;
        EXPECT_EQ(parse_npy_header("a.npy", text, 3).sample, Sample::u16) << text;
    }
}

TEST(NpyHeader, accepts_exactly_the_type_names_that_numpy_accepts) {
    for (const char* type :
         {"<u2", "=u2", "|u2", "u2", "H", "<H", "uint16", "ushort", "u02", "u+2", "u 2"})
        EXPECT_EQ(parse_npy_header("a.npy", header(fmt::format("'{}'", type)), 1).sample,
                  Sample::u16)
            << type;
    EXPECT_EQ(parse_npy_header("a.npy", header("'?'"), 1).sample, Sample::u8);
    EXPECT_EQ(parse_npy_header("a.npy", header("'half'"), 1).sample, Sample::f16);
    for (const char* type : {"!u2", "xf4", "<uint16", "Uint16", "<<u2", " u2", "u2 ", "u3", "b2",
                             "f16", "c8", "", "<", "u", "u-2", "O", "U4"})
        EXPECT_THAT(refusal(header(fmt::format("'{}'", type))), HasSubstr("has elements of type"))
            << type;
    EXPECT_THAT(refusal(header("[('a', '<u2')]")), HasSubstr("structured elements"));
    EXPECT_THAT(refusal(header("b'<u2'")), HasSubstr("has bytes where a string is expected"));
}

TEST(NpyHeader, requires_a_shape_that_is_a_tuple_of_numbers) {
    for (const char* shape :
         {"(3, 4 5)", "(3,, 4)", "(, 3)", "(3 4)", "[3, 4]", "(3.0, 4)", "(03, 4)", "(0, 4)",
          "(-3, 4)", "('3', 4)", "(True, 5)", "(None, 4)", "(3)", "3, 4", "(1__2, 3)", "(--3, 4)",
          "(3, 99999999999999999999)", "(3, 4"})
        EXPECT_NE(refusal(with_shape(shape)), "") << shape;
}

TEST(NpyHeader, allows_the_integer_suffix_L_up_to_version_2) {
    EXPECT_EQ(refusal(with_shape("(3L, 4 L)"), 2), "");
    EXPECT_NE(refusal(with_shape("(3L, 4)"), 3), "");
}

TEST(NpyHeader, requires_fortran_order_to_be_true_or_false) {
    for (const char* order : {"1", "0", "None", "'False'", "(False,)"})
        EXPECT_THAT(refusal(header("'<u2'", order)), HasSubstr("not True or False")) << order;
    EXPECT_NE(refusal(header("'<u2'", "false")), "");
}

TEST(NpyHeader, requires_exactly_three_keys) {
    EXPECT_THAT(refusal("{'descr': '<u2', 'shape': (3, 4)}"), HasSubstr("has no 'fortran_order'"));
    EXPECT_THAT(refusal("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), 'more': 1}"),
                HasSubstr("has 'more' in its NPY header"));
    for (const std::string& text : std::vector<std::string>{
             std::string(), std::string("{}"), std::string("{,}"), header("'<u2'") + "x",
             "[" + header("'<u2'") + "]", header("'<u2").substr(0, 60),
             std::string("dict(descr='<u2')"), "{'descr': " + std::string(5000, '(')})
        EXPECT_NE(refusal(text), "") << text.substr(0, 80);
}

} // namespace
} // namespace sextant::format
