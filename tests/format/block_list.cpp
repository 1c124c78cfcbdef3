// SPDX-License-Identifier: BSD-3-Clause
// Lists of blocks in CSV.
#include "sextant/format/block_list.hpp"

#include "sextant/core/error.hpp"

#include <fstream>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

format::BlockList read(const TemporaryFolder& folder, const std::string& text) {
    const std::string path = folder.path("blocks.csv");
    std::ofstream(path, std::ios::binary) << text;
    return format::read_block_list(path);
}

TEST(BlockList, columns_may_have_any_order_and_cells_may_be_quoted) {
    const TemporaryFolder folder;
    const format::BlockList list =
        read(folder, "\xEF\xBB\xBF"
                     "x, y ,file,z\r\n\r\n1,2,a.npy,3\r\n4,5,\"b, \"\"c\"\".tif\" ,6");
    EXPECT_FALSE(list.of_images);
    ASSERT_EQ(list.blocks.size(), 2U);
    EXPECT_EQ(list.blocks[0].file, folder.path("a.npy"));
    EXPECT_THAT(list.blocks[0].position, ElementsAre(3, 2, 1));
    EXPECT_EQ(list.blocks[1].file, folder.path("b, \"c\".tif"));
    EXPECT_THAT(list.blocks[1].position, ElementsAre(6, 5, 4));
}

TEST(BlockList, images_have_no_planes_and_names_may_be_absolute) {
    const TemporaryFolder folder;
    const format::BlockList list = read(folder, "file,y,x\n/data/a.h5::labels,0,7\n");
    EXPECT_TRUE(list.of_images);
    EXPECT_EQ(list.blocks[0].file, "/data/a.h5::labels");
    EXPECT_THAT(list.blocks[0].position, ElementsAre(0, 0, 7));
}

TEST(BlockList, errors_name_the_line) {
    const TemporaryFolder folder;
    const auto refuses = [&](const std::string& text, const char* what) {
        EXPECT_THAT([&] { read(folder, text); }, ThrowsMessage<InvalidFile>(HasSubstr(what)))
            << text;
    };
    refuses("", "has no blocks");
    refuses("a.npy,0,0,0\n", "line 1: \"a.npy,0,0,0\", expected the names of the columns");
    refuses("file,z,y,x,t\n", "expected the names of the columns");
    refuses("file,x,y,y\n", "expected the names of the columns");
    refuses("file,z,x\n", "expected the names of the columns");
    refuses("file,y,x\na,0\n", "line 2: \"a,0\", expected a file, y and x");
    refuses("file,y,x\n\"a\"b,0,0\n", "line 2");
    refuses("file,y,x\n,0,0\n", "expected the name of a file");
    refuses("file,z,y,x\na,0,0,1.5\n", "expected x to be a whole number, 0 or more");
    std::string many = "file,y,x\n";
    for (int i = 0; i <= 1000000; ++i)
        many += "a,0,0\n";
    EXPECT_THAT([&] { read(folder, many); },
                ThrowsMessage<InvalidFile>(HasSubstr("has more than 1000000 blocks")));
}

} // namespace
} // namespace sextant::test
