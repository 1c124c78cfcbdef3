// SPDX-License-Identifier: BSD-3-Clause
// The table of motions: written, read again, and refused if inconsistent.
#include "sextant/command/series/transforms.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant::command {
namespace {

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
        return test::message_of<InvalidFile>([&] { read(text); });
    }
    void refuses(const std::string& text, const std::string& message) {
        EXPECT_THAT(refusal(text), HasSubstr(message));
    }
    /// The text of a valid file with one part replaced.
    static std::string with(const std::string& part, const std::string& other) {
        std::string text = text_of(write_json, three_frames());
        return text.replace(text.find(part), part.size(), other);
    }

    test::TemporaryFolder folder;
    std::string path = folder.path("transforms.json");
};

TEST_F(Transforms, are_read_back_as_written) {
    SeriesTransforms written = three_frames();
    written.model = "nonrigid";
    written.fields = FieldFile{"fields.npy", 8, {9, 7}};
    written.stages = 3;
    written.frames[2].field = FieldFit{.9, .25, 12};
    written.frames[2].result.uncertainty.tx = std::numeric_limits<double>::quiet_NaN();
    const SeriesTransforms all = read(text_of(write_json, written));
    EXPECT_EQ(all.series, written.series);
    EXPECT_EQ(all.model, "nonrigid");
    EXPECT_EQ(all.stages, 3);
    EXPECT_EQ(all.pixel, written.pixel);
    EXPECT_EQ(all.shape, written.shape);
    ASSERT_EQ(all.frames.size(), 3U);
    EXPECT_EQ(all.frames[1].left_out, written.frames[1].left_out);
    EXPECT_EQ(all.frames[2].result.motion.alpha, .1);
    EXPECT_EQ(all.frames[2].result.motion.tx, -2.5);
    EXPECT_EQ(all.frames[2].result.motion.ty, 4);
    ASSERT_TRUE(all.fields);
    EXPECT_EQ(all.fields->nodes, (ImageShape{9, 7}));
}

TEST_F(Transforms, of_affine_motions_have_a_matrix) {
    SeriesTransforms written = three_frames();
    written.model = "affine";
    written.frames[0].affine = registration::AffineMotion();
    written.frames[2].affine = registration::AffineMotion{1.01, -.02, .03, .99, -2.5, 4};
    const std::string json = text_of(write_json, written);
    const SeriesTransforms all = read(json);
    EXPECT_EQ(all.model, "affine");
    EXPECT_EQ(all.frames[2].affine, written.frames[2].affine);
    EXPECT_EQ(all.frames[0].affine, written.frames[0].affine);
    EXPECT_EQ(nlohmann::json::parse(json)["frames"][2]["matrix"],
              (nlohmann::json{{1.01, -.02}, {.03, .99}}));
    std::istringstream csv(text_of(write_csv, written));
    std::vector<std::string> lines;
    for (std::string line; std::getline(csv, line);) {
        if (!line.starts_with('#'))
            lines.push_back(line);
    }
    for (const std::string& line : lines)
        EXPECT_EQ(std::count(line.begin(), line.end(), ','), 19) << line;
    EXPECT_THAT(lines.back(), HasSubstr(",1.01000000,-0.02000000,0.03000000,0.99000000"));
}

TEST_F(Transforms, of_scanned_rows_name_their_file) {
    SeriesTransforms written = three_frames();
    written.rows = RowFile{"rows.npy", 48, 5};
    written.frames[2].row_fit = RowFitSummary{.5, 1.25, -.5, .125};
    const std::string json = text_of(write_json, written);
    const SeriesTransforms all = read(json);
    ASSERT_TRUE(all.rows);
    EXPECT_EQ(all.rows->path, "rows.npy");
    EXPECT_EQ(all.rows->rows, 48);
    EXPECT_EQ(all.rows->flyback, 5);
    EXPECT_EQ(nlohmann::json::parse(json)["frames"][2]["rows"]["drift_x"], 1.25);
    written.rows->rows = 47;
    refuses(text_of(write_json, written), "expected 48, the height");
    written.rows->rows = 48;
    written.model = "affine";
    refuses(text_of(write_json, written), "expected none, because the model is affine");
}

TEST_F(Transforms, with_a_matrix_that_is_not_two_by_two_or_has_no_inverse_are_refused) {
    const std::string part = "\"tx\": -2.5";
    refuses(with(part, "\"matrix\": [[1, 2]], " + part), "expected two rows of two numbers");
    refuses(with(part, "\"matrix\": [[1, 2], [2, 4]], " + part),
            "expected a matrix that has an inverse");
}

TEST_F(Transforms, contain_physical_shifts_flags_and_optional_times) {
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

TEST_F(Transforms, without_frames_are_valid_json) {
    SeriesTransforms none = three_frames();
    none.frames.clear();
    EXPECT_TRUE(nlohmann::json::parse(text_of(write_json, none))["frames"].empty());
}

TEST_F(Transforms, have_one_csv_line_per_frame_with_equal_column_counts) {
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

TEST_F(Transforms, with_errors_are_refused_naming_the_position) {
    refuses("{", path + ": is not JSON");
    refuses("{}", ": is not of kind \"sextant transforms\"");
    refuses(with("\"width\": 64", "\"width\": 0"), ": width is 0");
    refuses(with("\"alpha\": 0.1", "\"alpha\": \"up\""), ": frames[2].alpha is \"up\"");
    refuses(with("\"alpha\": 0.1", "\"alpha\": true"), ": frames[2].alpha is true");
    refuses(with("\"tx\": -2.5,", ""), ": frames[2].tx is missing");
    refuses(with("\"frames\"", "\"frame\""),
            ": has the unknown field 'frame'; did you mean frames?");
    refuses(with("\"frames\": [", "\"frames\": 5, \"fields\": ["),
            ": fields is an array of 3, expected none, because the model is rigid");
}

/// The text of a valid file with another value in a field of frame 2.
std::string with_frame_field(const std::string& name, const nlohmann::json& value) {
    nlohmann::json file = nlohmann::json::parse(text_of(write_json, three_frames()));
    file["frames"][2][name] = value;
    return file.dump();
}

TEST_F(Transforms, with_an_invalid_model_or_reference_are_refused) {
    refuses(with("\"model\": \"rigid\"", "\"model\": \"nonRigid\""),
            ": model is \"nonRigid\", expected one of \"rigid\", \"nonrigid\", \"translation\", "
            "\"similarity\", \"affine\"");
    refuses(with("\"model\": \"rigid\"", "\"model\": \"auto\""),
            ": model is \"auto\", expected one of");
    refuses(with("\"model\": \"rigid\"", "\"model\": \"nonrigid\""), ": fields is missing");
    refuses(with("\"reference\": 0", "\"reference\": 7"),
            ": reference is 7, expected one of the 3 frames in the file");
    refuses(with("\"reference\": 0", "\"reference\": 1.5"), ": reference is 1.5");
    refuses(with("\"reference\": 0", "\"reference\": 18446744073709551615"),
            ": reference is 18446744073709551615");
    refuses(with("\"reference\"", "\"referense\""),
            ": has the unknown field 'referense'; did you mean reference?");
    refuses(with("\"stages\": 1", "\"stages\": 0.5"), ": stages is 0.5");
    refuses(with("\"unit\": \"nm\"", "\"unites\": \"nm\""),
            ": pixel has the unknown field 'unites'; did you mean unit?");
    refuses(with_frame_field("frame", .5), ": frames[2].frame is 0.5");
    refuses(with_frame_field("frame", -1), ": frames[2].frame is -1");
    refuses(with_frame_field("frame", 0), ": lists frame 0 twice");
    refuses(with_frame_field("alhpa", 0),
            ": frames[2] has the unknown field 'alhpa'; did you mean alpha?");
    refuses(with_frame_field("ty", nullptr), ": frames[2].ty is null");
    refuses(with_frame_field("overlap", "all"), ": frames[2].overlap is \"all\"");
    refuses(with_frame_field("iterations", 2.5), ": frames[2].iterations is 2.5");
    refuses(with_frame_field("flags", {"mendet"}),
            ": frames[2].flags[0] is \"mendet\", expected one of \"ambiguous\", ");
    refuses(with_frame_field("flags", {5}), ": frames[2].flags[0] is 5, expected one of");
    refuses(with_frame_field("left_out", "dark"),
            ": frames[2] has the unknown field 'alpha'; expected one of frame, left_out");
    refuses(with("\"left_out\": \"every sample is \\\"0\\\"\"", "\"left_out\": 0"),
            ": frames[1].left_out is 0");
}

} // namespace
} // namespace sextant::command
