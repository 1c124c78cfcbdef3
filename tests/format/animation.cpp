// SPDX-License-Identifier: BSD-3-Clause
// Animated pictures. tests/command/test_register.py reads them with Pillow.
#include "sextant/format/animation.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sextant::format {
namespace {

/// Decodes the LZW data of the only picture of a GIF file; independent of the encoder.
std::vector<int> decoded(const std::string& gif) {
    std::size_t at = 6 + 7 + 64 * 3 + 19 + 8 + 10;
    EXPECT_EQ(gif[at], 6);
    std::string data;
    for (++at; gif[at] != 0; at += 1 + static_cast<unsigned char>(gif[at]))
        data += gif.substr(at + 1, static_cast<unsigned char>(gif[at]));
    EXPECT_EQ(gif.substr(at), std::string("\0;", 2));
    std::vector<std::vector<int>> table;
    std::vector<int> levels, before;
    int bits = 7;
    const auto reset = [&] {
        table.assign(66, {});
        for (int level = 0; level < 64; ++level)
            table[static_cast<std::size_t>(level)] = {level};
        bits = 7;
        before.clear();
    };
    for (std::size_t bit = 0;;) {
        std::size_t code = 0;
        for (int i = 0; i < bits; ++i, ++bit)
            code |= static_cast<std::size_t>(
                        static_cast<unsigned char>(data.at(bit / 8)) >> bit % 8 & 1)
                    << i;
        if (code == 65)
            return levels;
        if (code == 64) {
            reset();
            continue;
        }
        std::vector<int> entry = code < table.size() ? table[code] : before;
        if (code >= table.size())
            entry.push_back(before.front());
        levels.insert(levels.end(), entry.begin(), entry.end());
        if (!before.empty() && table.size() < 4096) {
            before.push_back(entry.front());
            table.push_back(before);
            if (table.size() == std::size_t{1} << bits && bits < 12)
                ++bits;
        }
        before = entry;
    }
}

TEST(Gif, has_the_levels_of_the_picture) {
    for (const Elements width : {1, 2, 64, 65, 300, 1000}) {
        for (const int kind : {0, 1, 2}) { // constant, periodic, noise
            Animation animation{{width, 70}, 100, {{}}};
            std::uint32_t random = 1;
            std::vector<int> expected;
            for (Elements i = 0; i < animation.shape.elements(); ++i) {
                random = random * 1664525 + 1013904223;
                const int level = kind == 0   ? 63
                                  : kind == 1 ? static_cast<int>(i % 37)
                                              : static_cast<int>(random >> 26);
                expected.push_back(level);
                animation.pictures[0].push_back(static_cast<std::uint8_t>(level));
            }
            EXPECT_EQ(decoded(encode_gif(animation)), expected) << width << " " << kind;
        }
    }
}

TEST(Animation, has_pictures_of_its_shape) {
    EXPECT_THROW(encode_apng({{2, 2}, 100, {}}), std::logic_error);
    EXPECT_THROW(encode_apng({{2, 2}, 100, {{1, 2, 3}}}), std::logic_error);
    EXPECT_THROW(encode_gif({{65536, 1}, 100, {std::vector<std::uint8_t>(65536)}}),
                 std::logic_error);
    EXPECT_THROW(encode_gif({{0, 0}, 100, {{}}}), std::logic_error);
}

} // namespace
} // namespace sextant::format
