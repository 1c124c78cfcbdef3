// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/samples.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// The samples of an extended line, from 5 before its start to 5 after its end; `v` stands for the
/// constant border value.
std::string seen(kernel::Border border, const std::string& line) {
    std::string all;
    const auto size = static_cast<Elements>(line.size());
    for (Elements at = -5; at < size + 5; ++at) {
        const auto sample = kernel::seen_at(border, at, size);
        all += sample ? line.at(static_cast<std::size_t>(*sample)) : 'v';
    }
    return all;
}

TEST(Border, repeats_the_last_sample_or_the_image_mirrors_it_or_is_constant) {
    EXPECT_EQ(seen(kernel::Border::replicate, "abcdefg"), "aaaaaabcdefgggggg");
    EXPECT_EQ(seen(kernel::Border::mirror, "abcdefg"), "fedcbabcdefgfedcb");
    EXPECT_EQ(seen(kernel::Border::reflect, "abcdefg"), "edcbaabcdefggfedc");
    EXPECT_EQ(seen(kernel::Border::constant, "abcdefg"), "vvvvvabcdefgvvvvv");
    EXPECT_EQ(seen(kernel::Border::wrap, "abcdefg"), "cdefgabcdefgabcde");
    EXPECT_EQ(seen(kernel::Border::wrap, "abc"), "bcabcabcabcab");
}

TEST(Border, mirrors_small_images_repeatedly) {
    EXPECT_EQ(seen(kernel::Border::mirror, "abc"), "babcbabcbabcb");
    EXPECT_EQ(seen(kernel::Border::mirror, "ab"), "babababababa");
    EXPECT_EQ(seen(kernel::Border::mirror, "a"), "aaaaaaaaaaa");
    EXPECT_EQ(seen(kernel::Border::reflect, "abc"), "bccbaabccbaab");
    EXPECT_EQ(seen(kernel::Border::reflect, "ab"), "aabbaabbaabb");
    EXPECT_EQ(seen(kernel::Border::reflect, "a"), "aaaaaaaaaaa");
    EXPECT_EQ(seen(kernel::Border::replicate, "a"), "aaaaaaaaaaa");
}

} // namespace
} // namespace sextant::test
