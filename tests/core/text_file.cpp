// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace sextant {
namespace {

class TextFile : public testing::Test {
  protected:
    std::string path(const std::string& name) const { return folder_.path(name); }
    std::string written(const std::string& content) const {
        std::ofstream(path("text"), std::ios::binary) << content;
        return path("text");
    }

    test::TemporaryFolder folder_;
};

/// The error message without the path.
std::string refusal(const std::string& path) {
    try {
        read_text(path, 10);
    } catch (const InvalidFile& error) {
        return std::string(error.what()).substr(path.size() + 2);
    }
    return "";
}

TEST_F(TextFile, is_read_completely) {
    for (const std::string& content :
         {std::string(), std::string("a\0\n\xff", 4), std::string(9000, 'x')})
        EXPECT_EQ(read_text(written(content), 9000), content);
}

TEST_F(TextFile, is_refused_if_it_is_too_long) {
    EXPECT_EQ(refusal(written("0123456789")), "");
    EXPECT_EQ(refusal(written("0123456789a")), "has 11 bytes, expected at most 10");
    EXPECT_EQ(refusal("/proc/self/maps"), "has more than 10 bytes") << "a file that states no size";
}

TEST_F(TextFile, is_refused_without_waiting_if_it_is_not_a_regular_file) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(refusal(path("pipe")), "is not a regular file");
    EXPECT_EQ(refusal("/dev/zero"), "is not a regular file");
    EXPECT_EQ(refusal(folder_.path()), "is a folder, expected a file");
    EXPECT_EQ(refusal(path("none")), "no such file");
}

} // namespace
} // namespace sextant
