// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <string_view>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::format {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::array<std::string_view, 2> entries = {"anchor", "parts"};

void write_one(const std::string& path, const std::string& anchor) {
    AtomicFolder folder(path, entries);
    test::fill_file(folder.temporary() + "/anchor", anchor);
    fs::create_directory(folder.temporary() + "/parts");
    folder.commit();
}

std::string refusal_of(const std::string& path) {
    return test::message_of<InvalidFile>([&] { const AtomicFolder folder(path, entries); });
}

TEST(AtomicFolder, appears_complete_when_it_is_committed) {
    const test::TemporaryFolder around;
    {
        AtomicFolder folder(around.path("run/"), entries);
        test::fill_file(folder.temporary() + "/anchor", "new");
        EXPECT_FALSE(fs::exists(around.path("run")));
        folder.commit();
    }
    EXPECT_EQ(test::content(around.path("run/anchor")), "new");
    EXPECT_EQ(around.entries(), 1);
}

TEST(AtomicFolder, leaves_nothing_if_it_is_not_committed) {
    const test::TemporaryFolder around;
    write_one(around.path("run"), "old");
    {
        const AtomicFolder folder(around.path("run"), entries);
        test::fill_file(folder.temporary() + "/anchor", "new");
    }
    EXPECT_EQ(test::content(around.path("run/anchor")), "old");
    EXPECT_EQ(around.entries(), 1);
}

TEST(AtomicFolder, replaces_only_folders_of_its_own_kind) {
    const test::TemporaryFolder around;
    const std::string path = around.path("run");
    write_one(path, "old");
    write_one(path, "new");
    EXPECT_EQ(test::content(path + "/anchor"), "new");
    EXPECT_EQ(around.entries(), 1);
    test::fill_file(path + "/diary", "mine");
    EXPECT_THAT(refusal_of(path), HasSubstr("run: cannot be written: the existing folder "
                                            "holds 'diary', which would be lost"));
    EXPECT_EQ(test::content(path + "/diary"), "mine");
    test::fill_file(around.path("file"), "mine");
    EXPECT_THAT(refusal_of(around.path("file")),
                HasSubstr("the path is a file, expected a folder or an unused name"));
    EXPECT_EQ(test::content(around.path("file")), "mine");
}

TEST(AtomicFolder, follows_a_symbolic_link) {
    const test::TemporaryFolder around;
    write_one(around.path("run"), "old");
    fs::create_symlink("run", around.path("link"));
    write_one(around.path("link"), "new");
    EXPECT_TRUE(fs::is_symlink(around.path("link")));
    EXPECT_EQ(test::content(around.path("run/anchor")), "new");
    fs::create_symlink("missing", around.path("dangling"));
    write_one(around.path("dangling"), "new");
    EXPECT_TRUE(fs::is_symlink(around.path("dangling")));
    EXPECT_EQ(test::content(around.path("missing/anchor")), "new");
}

TEST(AtomicFolder, refuses_a_name_that_the_file_system_rejects) {
    const test::TemporaryFolder around;
    const std::string name = around.path(std::string(300, 'n'));
    EXPECT_EQ(refusal_of(name), name + ": cannot be written: File name too long");
}

TEST(AtomicFolder, requires_an_existing_parent_folder) {
    const test::TemporaryFolder around;
    EXPECT_THAT(refusal_of(around.path("none/run")), HasSubstr("none does not exist"));
}

} // namespace
} // namespace sextant::format
