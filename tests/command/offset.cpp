// SPDX-License-Identifier: BSD-3-Clause
// A large offset of samples costs no precision: a series with an offset is registered, shown,
// averaged and filtered as if it had none, and the offset is then added to the results.
#include "sextant/command/commands.hpp"
#include "sextant/command/filter/filter.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/format/catalogue.hpp"

#include <cmath>
#include <fstream>
#include <map>

#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::command {
namespace {

using testing::HasSubstr;
using Options = std::map<std::string, std::vector<std::string>>;

constexpr ImageShape shape{128, 96};
constexpr std::int64_t frames = 4;

void run(const Operation& operation, const Options& options) {
    run_command(operation, options);
}

/// Returns the samples of a frame that are stored as T, the sample type `sample`.
template <class T = double>
std::vector<double> doubles_of(const std::string& path, std::int64_t frame,
                               Sample sample = Sample::f64) {
    const auto source = format::open_frames(path);
    std::vector<T> samples(static_cast<std::size_t>(source->header().shape.elements()));
    EXPECT_EQ(source->header().sample, sample) << path;
    source->read_samples(frame, {0, source->header().shape.height},
                         std::as_writable_bytes(std::span(samples)));
    return {samples.begin(), samples.end()};
}

std::vector<float> floats_of(const std::string& path, std::int64_t frame) {
    const auto source = format::open_frames(path);
    std::vector<float> samples(static_cast<std::size_t>(source->header().shape.elements()));
    EXPECT_EQ(source->header().sample, Sample::f32) << path;
    source->read_frame(frame, samples);
    return samples;
}

class LargeOffset : public testing::Test {
  protected:
    LargeOffset() {
        run(synthesize_operation(), {{"output", {plain}},
                                     {"specimen", {"carbon"}},
                                     {"frames", {std::to_string(frames)}},
                                     {"width", {std::to_string(shape.width)}},
                                     {"height", {std::to_string(shape.height)}}});
    }

    /// Writes the series with a constant added to every sample.
    template <class T>
    void write(Sample sample, T offset) const {
        const auto source = format::open_frames(plain);
        FrameHeader header;
        header.frames = frames;
        header.shape = shape;
        header.sample = sample;
        const auto sink = format::create_frames(large, header);
        std::vector<float> floats(static_cast<std::size_t>(shape.elements()));
        std::vector<T> samples(floats.size());
        for (std::int64_t frame = 0; frame < frames; ++frame) {
            source->read_frame(frame, floats);
            for (std::size_t i = 0; i < floats.size(); ++i)
                samples[i] = static_cast<T>(offset + static_cast<T>(floats[i]));
            sink->write_samples(std::as_bytes(std::span(samples)));
        }
        sink->commit();
    }

    void register_to(const std::string& series, const std::string& out,
                     const std::string& format) const {
        run(register_operation(), {{"series", {series}},
                                   {"output", {out}},
                                   {"format", {format}},
                                   {"ranks", {"1"}},
                                   {"aligned", {"on"}},
                                   {"json", {out + ".json"}},
                                   {"reproducible", {"true"}}});
    }

    void expect_the_same_motions(const std::string& out) const {
        const SeriesTransforms expected =
            read_transforms(folder.path("plain") + "/transforms.json");
        const SeriesTransforms found = read_transforms(out + "/transforms.json");
        ASSERT_EQ(found.frames.size(), expected.frames.size());
        for (std::size_t i = 0; i < found.frames.size(); ++i) {
            EXPECT_EQ(found.frames[i].left_out, "");
            EXPECT_NEAR(found.frames[i].result.motion.tx, expected.frames[i].result.motion.tx,
                        .002);
            EXPECT_NEAR(found.frames[i].result.motion.ty, expected.frames[i].result.motion.ty,
                        .002);
        }
    }

    test::TemporaryFolder folder;
    std::string plain = folder.path("plain.npy"), large = folder.path("large.npy");
};

TEST_F(LargeOffset, does_not_prevent_registration_and_is_kept_in_averages) {
    register_to(plain, folder.path("plain"), "npy");
    // Averages are f64; the aligned stack has the sample type of the series.
    const auto expect_kept = [&]<class T>(const char* name, Sample sample, T integer_offset) {
        const auto offset = static_cast<double>(integer_offset);
        write<T>(sample, integer_offset);
        SCOPED_TRACE(name);
        const std::string out = folder.path(name);
        register_to(large, out, "npy");
        expect_the_same_motions(out);
        for (const char* image : {"average", "median"}) {
            const std::vector<double> wide = doubles_of(out + "/" + image + ".npy", 0);
            const std::vector<float> narrow =
                floats_of(folder.path("plain") + "/" + image + ".npy", 0);
            const std::vector<float> count = floats_of(out + "/count.npy", 0);
            for (std::size_t i = 0; i < wide.size(); ++i) {
                ASSERT_NEAR(wide[i] - (count[i] > 0 ? offset : 0), static_cast<double>(narrow[i]),
                            .02)
                    << image << " " << i;
            }
        }
        const std::vector<double> wide = doubles_of<T>(out + "/aligned.npy", 0, sample);
        const std::vector<float> narrow = floats_of(folder.path("plain") + "/aligned.npy", 0);
        const double rounding = std::is_integral_v<T> ? .5 : 0;
        for (std::size_t i = 0; i < wide.size(); ++i) {
            if (std::isfinite(narrow[i]) && std::isfinite(wide[i])) {
                ASSERT_NEAR(wide[i] - offset, static_cast<double>(narrow[i]), .05 + rounding) << i;
            }
        }
        std::ifstream json(out + ".json");
        EXPECT_THAT(std::string(std::istreambuf_iterator<char>(json), {}),
                    HasSubstr("added again to the results, which are f64"));
    };
    expect_kept("f64", Sample::f64, 1e9);
    expect_kept("i32", Sample::i32, std::int32_t{1} << 24);
    expect_kept("u32", Sample::u32, std::uint32_t{1} << 31);
}

TEST_F(LargeOffset, is_omitted_with_a_warning_if_floats_cannot_represent_it) {
    register_to(plain, folder.path("plain"), "tif");
    write<double>(Sample::f64, 1e9);
    const std::string out = folder.path("out");
    register_to(large, out, "tif");
    expect_the_same_motions(out);
    std::ifstream json(out + ".json");
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(json), {}),
                HasSubstr("is not added to the results: f32 cannot represent it"));
    const std::vector<float> average = floats_of(out + "/average.tif", 0);
    EXPECT_LT(std::abs(average[static_cast<std::size_t>(shape.elements() / 2)]), 30);
}

TEST_F(LargeOffset, does_not_affect_aligned_frames) {
    SeriesTransforms all;
    all.series = "large.npy";
    all.model = "rigid";
    all.shape = shape;
    all.frames.resize(frames);
    for (std::int64_t i = 0; i < frames; ++i)
        all.frames[static_cast<std::size_t>(i)].frame = i;
    all.frames[1].result.motion = {0, 3, -2};
    std::ofstream file(folder.path("transforms.json"));
    write_json(all, [&file](std::string_view part) { file << part; });
    file.close();
    write<std::uint32_t>(Sample::u32, std::uint32_t{1} << 31);
    run(apply_operation(), {{"transforms", {folder.path("transforms.json")}},
                            {"data", {large}},
                            {"output", {folder.path("shown.npy")}},
                            {"sample", {"f64"}}});
    const std::vector<double> shown = doubles_of(folder.path("shown.npy"), 1);
    const std::vector<float> counts = floats_of(plain, 1);
    for (std::int64_t y = 2; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width - 3; ++x)
            ASSERT_EQ(shown[static_cast<std::size_t>(y * shape.width + x)],
                      2147483648. +
                          static_cast<double>(
                              counts[static_cast<std::size_t>((y - 2) * shape.width + x + 3)]));
    }
}

TEST_F(LargeOffset, does_not_affect_derivatives_and_is_added_to_smoothed_images) {
    write<double>(Sample::f64, 1e9);
    const auto filter = [&](const std::string& image, const std::string& output, double border) {
        run(filter_operation(), {{"image", {image}},
                                 {"frame", {"1"}},
                                 {"output", {output}},
                                 {"sigma", {"2"}},
                                 {"derivatives", {"smooth,x,gradient-magnitude"}},
                                 {"border", {"constant"}},
                                 {"border_value", {std::to_string(border)}},
                                 {"ranks", {"2"}}});
    };
    filter(plain, folder.path("narrow.npy"), 10);
    filter(large, folder.path("wide.npy"), 1e9 + 10);
    for (const std::int64_t plane : {0, 1, 2}) {
        const std::vector<double> wide = doubles_of(folder.path("wide.npy"), plane);
        const std::vector<float> narrow = floats_of(folder.path("narrow.npy"), plane);
        for (std::size_t i = 0; i < wide.size(); ++i)
            ASSERT_NEAR(wide[i] - (plane == 0 ? 1e9 : 0), static_cast<double>(narrow[i]), 2e-5)
                << plane << " " << i;
    }
    run(filter_operation(), {{"image", {large}},
                             {"frame", {"1"}},
                             {"output", {folder.path("x.npy")}},
                             {"derivatives", {"x"}}});
    EXPECT_EQ(format::open_frames(folder.path("x.npy"))->header().sample, Sample::f64);
}

} // namespace
} // namespace sextant::command
