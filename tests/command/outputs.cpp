// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/outputs.hpp"

#include "sextant/core/error.hpp"

#include "tests/format/temporary_folder.hpp"
#include <gtest/gtest.h>

namespace sextant::command {
namespace {

using test::TemporaryFolder;
using Paths = std::vector<std::string>;

TEST(OutputFiles, are_the_named_files_in_order) {
    EXPECT_EQ(files_named({"-", "", "a.json"}), (Paths{"-", "a.json"}));
    EXPECT_EQ(files_named({""}), Paths{});
}

TEST(OutputFiles, require_an_extension_of_a_writable_format) {
    EXPECT_NO_THROW(check_picture_name("a.exr"));
    EXPECT_NO_THROW(check_picture_name("folder/a.PNG"));
    for (const char* name : {"a.jpg", "a", "-", "exr"})
        EXPECT_THROW(check_picture_name(name), InvalidTask) << name;
}

TEST(OutputFiles, are_checked_without_creating_files) {
    const TemporaryFolder folder;
    EXPECT_NO_THROW(check_outputs(Paths{folder.path("a.exr"), folder.path("b.json"), "-"}));
    EXPECT_EQ(folder.entries(), 0);
    EXPECT_THROW(check_outputs(Paths{folder.path("a.exr"), folder.path("none/b")}), InvalidFile);
}

TEST(OutputFiles, must_be_distinct_files) {
    const TemporaryFolder folder;
    const std::string path = folder.path("a");
    EXPECT_THROW(check_outputs(Paths{path, path}), InvalidTask);
    EXPECT_THROW(check_outputs(Paths{path, folder.path("./x/../a")}), InvalidTask);
    EXPECT_THROW(check_outputs(Paths{"-", "-"}), InvalidTask);
    std::filesystem::create_symlink(path, folder.path("link"));
    test::fill_file(path, "old");
    EXPECT_THROW(check_outputs(Paths{path, folder.path("link")}), InvalidTask);
    EXPECT_EQ(test::content(path), "old");
}

} // namespace
} // namespace sextant::command
