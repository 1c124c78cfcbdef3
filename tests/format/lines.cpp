// SPDX-License-Identifier: BSD-3-Clause
// Files of contours: the same lines in each format.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/line_formats.hpp"

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::test {
namespace {

using testing::HasSubstr;

/// A ring of four pixels, a line of two and a point, in 5x3 pixels.
ContourLines some_lines() {
    return {{5, 3}, {0, 1, 6, 5, 3, 4, 14}, {{0, 4, true}, {4, 2, false}, {6, 1, false}}};
}

class LineFiles : public testing::Test {
  protected:
    std::string written(const std::string& name, const ContourLines& lines = some_lines()) {
        path = folder.path(name);
        LinesInMemory reader(lines);
        format::line_format_of(path).write(path, reader);
        return content(path);
    }
    TemporaryFolder folder;
    std::string path;
};

TEST_F(LineFiles, as_geojson_repeat_the_first_point_of_closed_contours) {
    const auto json = nlohmann::json::parse(written("out.geojson"));
    ASSERT_EQ(json["features"].size(), 3U);
    const auto ring = json["features"][0];
    EXPECT_EQ(ring["properties"],
              nlohmann::json({{"contour", 0}, {"points", 4}, {"closed", true}}));
    EXPECT_EQ(ring["geometry"]["coordinates"].dump(), "[[0,0],[1,0],[1,1],[0,1],[0,0]]");
    EXPECT_EQ(json["features"][1]["geometry"].dump(),
              R"({"coordinates":[[3,0],[4,0]],"type":"LineString"})");
    EXPECT_EQ(json["features"][2]["geometry"].dump(), R"({"coordinates":[4,2],"type":"Point"})");
}

TEST_F(LineFiles, as_geojson_without_contours_are_an_empty_collection) {
    const auto json = nlohmann::json::parse(written("out.geojson", {{5, 3}, {}, {}}));
    EXPECT_EQ(json["type"], "FeatureCollection");
    EXPECT_TRUE(json["features"].empty());
}

TEST_F(LineFiles, as_svg_are_paths_over_the_pixels) {
    const std::string text = written("out.SVG");
    EXPECT_THAT(text, HasSubstr("viewBox=\"0 0 5 3\""));
    EXPECT_THAT(text, HasSubstr("<path d=\"M0.5 0.5l1 0 0 1 -1 0z\"/>"));
    EXPECT_THAT(text, HasSubstr("<path d=\"M3.5 0.5l1 0\"/>"));
    EXPECT_THAT(text, HasSubstr("<path d=\"M4.5 2.5l0 0\"/>"));
}

TEST_F(LineFiles, as_csv_have_one_row_per_point) {
    EXPECT_EQ(written("out.csv"), "contour,rank,x,y\n0,0,0,0\n0,1,1,0\n0,2,1,1\n0,3,0,1\n"
                                  "1,0,3,0\n1,1,4,0\n2,0,4,2\n");
}

TEST_F(LineFiles, as_npy_contain_the_same_numbers) {
    written("out.npy");
    const auto source = format::open_frames(path);
    EXPECT_EQ(source->header().shape, (ImageShape{4, 7}));
    EXPECT_EQ(source->header().sample, Sample::i64);
    std::vector<float> numbers(28);
    source->read_frame(0, numbers);
    EXPECT_THAT(std::vector<float>(numbers.begin() + 20, numbers.end()),
                testing::ElementsAre(1, 1, 4, 0, 2, 0, 4, 2));
}

TEST_F(LineFiles, with_unknown_extensions_or_empty_arrays_are_refused) {
    EXPECT_THAT([] { format::line_format_of("out.png"); },
                testing::ThrowsMessage<InvalidTask>(
                    HasSubstr("out.png: contours are written as .geojson, .svg")));
    EXPECT_THROW(written("none.npy", {{5, 3}, {}, {}}), InvalidFile);
    EXPECT_EQ(folder.entries(), 0);
}

} // namespace
} // namespace sextant::test
