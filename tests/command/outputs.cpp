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
    std::filesystem::create_directories(folder.path("a.zarr"));
    std::filesystem::create_directories(folder.path("a.tif"));
    EXPECT_NO_THROW(check_outputs(Paths{folder.path("a.zarr")}));
    EXPECT_THROW(check_outputs(Paths{folder.path("a.tif")}), InvalidFile);
}

TEST(OutputFiles, are_no_archives_of_otf2) {
    EXPECT_THROW(check_outputs(Paths{"run.otf2"}), InvalidTask);
}

TEST(OutputFiles, do_not_replace_a_folder_in_which_an_input_is) {
    const TemporaryFolder folder;
    const std::string store = folder.path("a.zarr"), inside = store + "/raw";
    std::filesystem::create_directories(inside);
    test::fill_file(inside + "/a.tif", "frames");
    EXPECT_THROW(keep_inputs(Paths{store}, Paths{store + "/"}), InvalidTask);
    EXPECT_THROW(keep_inputs(Paths{inside + "/a.tif"}, Paths{store}), InvalidTask);
    EXPECT_THROW(keep_inputs(Paths{store}, Paths{inside}), InvalidTask);
    EXPECT_NO_THROW(keep_inputs(Paths{store}, Paths{store + "/labels.zarr"}));
    EXPECT_NO_THROW(keep_inputs(Paths{store}, Paths{folder.path("b.zarr")}));
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
