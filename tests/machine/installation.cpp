// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/installation.hpp"

#include "tests/support/source_dir.hpp"
#include <gmock/gmock.h>

namespace sextant::machine {
namespace {

using testing::Contains;

namespace filesystem = std::filesystem;

TEST(Installation, is_found_relative_to_a_program_before_the_configured_path) {
    const Installation found = installation_of("/opt/moved/bin/sextant");
    ASSERT_GE(found.data.size(), 2u);
    EXPECT_NE(found.data.front(), found.data.back());
    EXPECT_EQ(found.data.front().string().rfind("/opt/moved/", 0), 0u) << found.data.front();
    EXPECT_EQ(found.programs.front().string().rfind("/opt/moved/", 0), 0u)
        << found.programs.front();
    EXPECT_TRUE(found.data.back().is_absolute());
    EXPECT_NE(found.data.back().string().rfind("/opt/moved/", 0), 0u) << found.data.back();
}

TEST(Installation, is_found_relative_to_a_shared_library) {
    const filesystem::path data = installation_of("/opt/moved/bin/sextant").data.front();
    std::vector<filesystem::path> found;
    for (const char* libraries :
         {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
        const Installation one =
            installation_of(filesystem::path("/opt/moved") / libraries / "libviewer.so");
        found.insert(found.end(), one.data.begin(), one.data.end());
    }
    EXPECT_THAT(found, Contains(data));
}

TEST(Installation, of_a_program_in_the_build_tree_is_the_source_and_build_tree) {
    const Installation found = installation();
    ASSERT_EQ(found.data.size(), 1u);
    EXPECT_EQ(filesystem::canonical(found.data[0]), filesystem::canonical(test::source_dir()));
    EXPECT_EQ(found.programs.size(), 1u);
}

} // namespace
} // namespace sextant::machine
