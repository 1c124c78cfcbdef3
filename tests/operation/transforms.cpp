// SPDX-License-Identifier: BSD-3-Clause
// The table of where frames lie: written, read again, and refused where it makes no sense.
#include "sextant/operation/series/transforms.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {
namespace {

using registration::FramePlace;
using testing::ElementsAre;
using testing::HasSubstr;

SeriesTransforms three_frames() {
    SeriesTransforms all;
    all.series = "movie \"1\".mrc";
    all.model = "rigid";
    all.shape = {64, 48};
    all.pixel = {.5, .25, "nm"};
    all.frames.resize(3);
    for (std::size_t i = 0; i < 3; ++i)
        all.frames[i].frame = static_cast<std::int64_t>(i);
    all.frames[0].result.converged = true;
    all.frames[1].left_out = "every sample is \"0\"";
    all.frames[2].result.motion = {.1, -2.5, 4};
    all.frames[2].result.converged = true;
    all.frames[2].result.ambiguous = true;
    all.frames[2].gaps = 7;
    return all;
}

std::string text_of(void (*write)(const SeriesTransforms&, const TextSink&),
                    const SeriesTransforms& transforms) {
    std::string text;
    write(transforms, [&text](std::string_view part) { text += part; });
    return text;
}

class Transforms : public testing::Test {
  protected:
    SeriesTransforms read(const std::string& text) {
        std::ofstream(path) << text;
        return read_transforms(path);
    }
    std::string refusal(const std::string& text) {
        try {
            read(text);
        } catch (const InvalidFile& error) {
            return error.what();
        }
        return "nothing was thrown";
    }
    /// The file with a part of it replaced.
    static std::string with(const std::string& part, const std::string& other) {
        std::string text = text_of(write_json, three_frames());
        return text.replace(text.find(part), part.size(), other);
    }

    test::TemporaryFolder folder;
    std::string path = folder.path("transforms.json");
};

TEST_F(Transforms, AreReadAsTheyWereWritten) {
    SeriesTransforms written = three_frames();
    written.fields = FieldFile{"fields.npy", 8, {9, 7}};
    const SeriesTransforms all = read(text_of(write_json, written));
    EXPECT_EQ(all.series, written.series);
    EXPECT_EQ(all.shape, written.shape);
    ASSERT_EQ(all.frames.size(), 3U);
    EXPECT_EQ(all.frames[1].left_out, written.frames[1].left_out);
    EXPECT_EQ(all.frames[2].result.motion.alpha, .1);
    EXPECT_EQ(all.frames[2].result.motion.tx, -2.5);
    EXPECT_EQ(all.frames[2].result.motion.ty, 4);
    ASSERT_TRUE(all.fields);
    EXPECT_EQ(all.fields->nodes, (ImageShape{9, 7}));
}

TEST_F(Transforms, TellPhysicalShiftsAndFlagsAndNoSecondsWhereTheyAreToBeCompared) {
    SeriesTransforms written = three_frames();
    const auto frame = [&] {
        return nlohmann::json::parse(text_of(write_json, written))["frames"][2];
    };
    EXPECT_EQ(frame()["tx_physical"], -1.25);
    EXPECT_EQ(frame()["ty_physical"], 1);
    EXPECT_EQ(frame()["flags"], (nlohmann::json{"ambiguous", "gaps"}));
    EXPECT_TRUE(frame().contains("seconds"));
    written.with_seconds = false;
    EXPECT_FALSE(frame().contains("seconds"));
}

TEST_F(Transforms, OfASeriesWithoutFramesAreJsonToo) {
    SeriesTransforms none = three_frames();
    none.frames.clear();
    EXPECT_TRUE(nlohmann::json::parse(text_of(write_json, none))["frames"].empty());
}

TEST_F(Transforms, HaveALineAFrameAndAsManyCellsInEach) {
    std::istringstream csv(text_of(write_csv, three_frames()));
    std::vector<std::ptrdiff_t> commas;
    for (std::string line; std::getline(csv, line);) {
        if (!line.starts_with('#'))
            commas.push_back(std::count(line.begin(), line.end(), ','));
    }
    EXPECT_THAT(commas, ElementsAre(15, 15, 15, 15));
    EXPECT_THAT(csv.str(), HasSubstr("tx_nm"));
    EXPECT_THAT(csv.str(), HasSubstr("\"left out: every sample is '0'\""));
    EXPECT_THAT(csv.str(), HasSubstr("\n2,5.7295780,-2.50000,4.00000,-1.25,1,"));
}

TEST_F(Transforms, ThatMakeNoSenseAreRefusedWithThePlace) {
    EXPECT_THAT(refusal("{"), HasSubstr(path + ": is not JSON"));
    EXPECT_EQ(refusal("[1, 2]"), path + ": is not of kind \"sextant transforms\"");
    EXPECT_EQ(refusal(with("\"version\": 1", "\"version\": 9")),
              path + ": is of version 9, expected 1");
    EXPECT_THAT(refusal(with("\"width\": 64", "\"width\": 0")),
                HasSubstr("width x height: 0x48, expected 1 to"));
    EXPECT_THAT(refusal(with("\"alpha\": 0.1", "\"alpha\": \"up\"")),
                HasSubstr("alpha: not as expected"));
    EXPECT_THAT(refusal(with("\"frames\"", "\"pictures\"")), HasSubstr("frames: is missing"));
    EXPECT_EQ(refusal(with("\"frames\": [", "\"frames\": 5, \"others\": [")),
              path + ": frames: is no list");
    EXPECT_THAT(refusal(""), HasSubstr("is not JSON"));
}

} // namespace
} // namespace sextant::operation
