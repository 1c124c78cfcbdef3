// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/tile_list.hpp"

#include "sextant/core/error.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::mosaic {
namespace {

class TileLists : public testing::Test {
  protected:
    std::string write(const std::string& text) const {
        const std::string path =
            (std::filesystem::temp_directory_path() /
             ("sextant-tiles-" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
              testing::UnitTest::GetInstance()->current_test_info()->name()))
                .string();
        std::ofstream(path) << text;
        written_.insert(path);
        return path;
    }
    void TearDown() override {
        for (const std::string& path : written_)
            std::filesystem::remove(path);
    }

    /// The message with which a list is refused; "" if it is read.
    template <class Read>
    std::string refusal(const Read& read, const std::string& text) const {
        try {
            read(write(text));
        } catch (const InvalidFile& error) {
            return error.what();
        }
        return "";
    }

  private:
    mutable std::set<std::string> written_;
};

TEST_F(TileLists, of_imagej_are_read_and_written) {
    const auto tiles = read_tile_configuration(write("# Define the number of dimensions\n"
                                                     "dim = 2\r\n\n"
                                                     "# Define the image coordinates\n"
                                                     "tile_1.tif; ; (0.0, 0.0)\r\n"
                                                     "a; b.tif; ; (460.25, -3e1)\n"));
    ASSERT_EQ(tiles.size(), 2);
    EXPECT_EQ(tiles[0], (ListedTile{.file = "tile_1.tif"}));
    EXPECT_EQ(tiles[1], (ListedTile{.file = "a; b.tif", .at = {460.25, -30}}));
    EXPECT_EQ(read_tile_configuration(write(tile_configuration(tiles))), tiles);
    const auto series = read_tile_configuration(
        write("dim = 2\nmultiseries = true\nscan.czi; 0; (0, 0)\nscan.czi; 1; (5, 0)\n"));
    EXPECT_EQ(series[1].frame, 1);
    EXPECT_EQ(read_tile_configuration(write(tile_configuration(series))), series);
}

TEST_F(TileLists, of_imagej_are_refused_with_line_and_expectation) {
    const auto read = [](const std::string& path) { return read_tile_configuration(path); };
    EXPECT_THAT(refusal(read, "dim = 2\n"), testing::HasSubstr("lists no tiles"));
    EXPECT_THAT(refusal(read, "dim = 3\na.tif; ; (0, 0, 0)\n"),
                testing::HasSubstr("line 1: \"dim = 3\": expected \"dim = 2\""));
    EXPECT_THAT(refusal(read, "a.tif; ; (0, 0)\n"),
                testing::HasSubstr("line 1: \"a.tif; ; (0, 0)\": expected \"dim = 2\" before"));
    for (const char* const line :
         {"a.tif; ; (0, 0", "a.tif; ; 0, 0)", "a.tif; (0, 0)", "a.tif; ; (0)", "a.tif; ; (0, nan)",
          "a.tif; x; (0, 0)", "a.tif; -1; (0, 0)", "; ; (0, 0)", "a.tif", "rows = 2", ";;()", ";",
          "a.tif; ; (0; 0)", "a.tif; ; )0, 0("})
        EXPECT_THAT(refusal(read, std::string("dim = 2\n") + line + "\n"),
                    testing::HasSubstr("line 2: "))
            << line;
    EXPECT_THAT(refusal(read, "dim = 2\na.tif; ; (0, 0)\na.tif; ; (5, 0)\n"),
                testing::HasSubstr("line 3"));
}

TEST_F(TileLists, may_be_tables) {
    const auto tiles = read_tile_table(write("x,y,file,channel,note\n"
                                             "1.5,-2,a.tif,0,\n"
                                             "1.5,-2,a.tif,3,\"x, \"\"y\"\"\"\n"
                                             "0,0,\"b,c.tif\",0,z\n"));
    ASSERT_EQ(tiles.size(), 3);
    EXPECT_EQ(tiles[1], (ListedTile{.file = "a.tif", .channel = 3, .at = {1.5, -2}}));
    EXPECT_EQ(tiles[2].file, "b,c.tif");
    const auto read = [](const std::string& path) { return read_tile_table(path); };
    EXPECT_THAT(refusal(read, "file,x\n"), testing::HasSubstr("line 1"));
    EXPECT_THAT(refusal(read, "file,x,y,x\n"), testing::HasSubstr("different names"));
    EXPECT_THAT(refusal(read, "file,x,y\n"), testing::HasSubstr("lists no tiles"));
    EXPECT_THAT(refusal(read, "file,x,y\na,0\n"), testing::HasSubstr("expected 3 values"));
    EXPECT_THAT(refusal(read, "file,x,y\na,0,left\n"),
                testing::HasSubstr("a number in the column \"y\""));
    EXPECT_THAT(refusal(read, "file,x,y,cycle\na,0,0,-1\n"),
                testing::HasSubstr("in the column \"cycle\""));
    EXPECT_THAT(refusal(read, "file,x,y\n\"a,0,0\n"), testing::HasSubstr("a quote"));
    EXPECT_THAT(refusal(read, "file,x,y\na,0,0\na,1,1\n"), testing::HasSubstr("line 3"));
    EXPECT_THROW(read_tile_table("no/such/file.csv"), InvalidFile);
}

TEST(TileGrid, has_positions_in_the_order_of_recording) {
    const auto columns_of = [](const GridOrder& order) {
        std::vector<std::pair<int, int>> tiles;
        for (const Point& at : grid_positions(3, 2, order, {100, 200}, .1))
            tiles.emplace_back(static_cast<int>(std::lround(at.x / 90)),
                               static_cast<int>(std::lround(at.y / 180)));
        return tiles;
    };
    using Tiles = std::vector<std::pair<int, int>>;
    EXPECT_EQ(columns_of({}), (Tiles{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}));
    EXPECT_EQ(columns_of({.snake = true}), (Tiles{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {0, 1}}));
    EXPECT_EQ(columns_of({.columns = true}),
              (Tiles{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
    EXPECT_EQ(columns_of({.snake = true, .columns = true, .from_right = true, .from_bottom = true}),
              (Tiles{{2, 1}, {2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}));
    EXPECT_THROW(grid_positions(0, 2, {}, {100, 100}, .1), InvalidTask);
    EXPECT_THROW(grid_positions(2'000'000, 1, {}, {100, 100}, .1), InvalidTask);
    EXPECT_THROW(grid_positions(2, 2, {}, {100, 100}, 1), InvalidTask);
    EXPECT_THROW(grid_positions(2, 2, {}, {100, 100}, -.1), InvalidTask);
}

TEST(TilePatterns, find_row_and_column_in_names) {
    const TilePattern pattern("img_r{r}_c{c}.tif");
    PatternNumbers numbers;
    EXPECT_TRUE(pattern.matches("img_r007_c12.tif", numbers));
    EXPECT_EQ(numbers.row, 7);
    EXPECT_EQ(numbers.column, 12);
    for (const char* const other : {"img_r7_c.tif", "img_r7_c1.tiff", "img_7_c1.tif", "",
                                    "img_r7_c1234567890.tif", "img_r7_c1", "img_r-7_c1.tif"})
        EXPECT_FALSE(pattern.matches(other, numbers)) << other;
    const TilePattern all("{cycle}/{channel}-{c}x{r}");
    EXPECT_TRUE(all.matches("2/1-30x4", numbers));
    EXPECT_EQ(numbers.cycle, 2);
    EXPECT_EQ(numbers.channel, 1);
    EXPECT_EQ(numbers.column, 30);
    EXPECT_TRUE(TilePattern::is_pattern("a{r}"));
    EXPECT_FALSE(TilePattern::is_pattern("a}r{"));
    for (const char* const wrong : {"r{r}.tif", "{r}{c}", "{r}_{c}_{r}", "{r}_{c}_{z}", "{r}_{c"})
        EXPECT_THROW(TilePattern{wrong}, InvalidTask) << wrong;
}

} // namespace
} // namespace sextant::mosaic
