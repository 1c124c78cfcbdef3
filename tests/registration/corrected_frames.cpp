// SPDX-License-Identifier: BSD-3-Clause
// Corrections of samples: dark and gain images, defective pixels, and outliers of single frames.
#include "sextant/registration/correct/corrected_frames.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/comm/agreement.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using registration::CorrectedFrames;
using registration::Despike;
using registration::DetectorImages;
using registration::OpenImage;
using testing::AllOf;
using testing::HasSubstr;

constexpr float gap = std::numeric_limits<float>::quiet_NaN();
constexpr Despike no_despiking{false, {}};

/// An image in memory that has a name and owns its samples.
template <class Sample>
class Image : public FrameSource {
  public:
    Image(ImageShape shape, std::vector<Sample> samples, std::int64_t frames = 1)
        : FrameSource("image", header_of(shape, frames), {[this](auto... part) { load(part...); }}),
          samples_(std::move(samples)) {}

  private:
    static FrameHeader header_of(ImageShape shape, std::int64_t frames) {
        FrameHeader header;
        header.frames = frames;
        header.shape = shape;
        header.sample =
            std::is_same_v<Sample, double> ? sextant::Sample::f64 : sextant::Sample::f32;
        return header;
    }
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        const std::int64_t first = (frame * header().shape.height + rows.first);
        std::memcpy(to.data(), samples_.data() + first * header().shape.width, to.size());
    }

    std::vector<Sample> samples_;
};

template <class Sample = float>
OpenImage opens(ImageShape shape, const std::vector<Sample>& samples, std::int64_t frames = 1) {
    return [=] { return std::make_unique<Image<Sample>>(shape, samples, frames); };
}

std::vector<float> frame_of(FrameSource& source, std::int64_t frame) {
    std::vector<float> samples(static_cast<std::size_t>(source.header().shape.elements()));
    source.read_frame(frame, samples);
    return samples;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Inspects all frames and settles.
void settle(CorrectedFrames& frames) {
    for (std::int64_t frame = 0; frame < frames.header().frames; ++frame)
        frame_of(frames, frame);
    run_threads(1, [&](const Communicator& communicator) { frames.settle(communicator); });
}

constexpr ImageShape small{3, 2};

TEST(CorrectedFrames, subtract_the_dark_image_and_divide_by_the_gain_relative_to_its_mean) {
    const std::vector<float> samples = {10, 20, 30, 40, 50, 60, 1, 2, 3, 4, 5, 6};
    DetectorImages detector;
    detector.dark = opens(small, {1.F, 2.F, 3.F, 4.F, 5.F, gap});
    detector.gain = opens(small, {2.F, 4.F, 6.F, 0.F, -1.F, 3.F}); // the mean of usable ones is 4
    CorrectedFrames frames(std::make_unique<Image<float>>(small, samples, 2), 0, detector,
                           no_despiking);
    settle(frames);
    EXPECT_THAT(frame_of(frames, 0),
                testing::Pointwise(testing::NanSensitiveFloatEq(),
                                   std::vector<float>{18, 18, 18, gap, gap, gap}));
    EXPECT_THAT(frame_of(frames, 1),
                testing::Pointwise(testing::NanSensitiveFloatEq(),
                                   std::vector<float>{0, 0, 0, gap, gap, gap}));
    EXPECT_EQ(frames.defects(), 3);
    EXPECT_EQ(frames.recorded_gaps(0), 0) << "of the recorded samples";
    EXPECT_TRUE(frames.needed());
    EXPECT_EQ(frames.header().sample, Sample::f32);
}

TEST(CorrectedFrames, correct_frames_with_a_large_offset_without_losing_digits) {
    constexpr double offset = 1e9;
    const std::vector<float> less_offset = {1, 2, 3, 4, 5, 6}; // as a source with offset gives them
    DetectorImages detector;
    detector.gain = opens<float>(small, {1, 1, 1, 1, 1, 1});
    CorrectedFrames scaled(std::make_unique<Image<float>>(small, less_offset), offset, detector,
                           no_despiking);
    EXPECT_EQ(scaled.offset(), offset);
    EXPECT_EQ(frame_of(scaled, 0), less_offset);
    detector.dark = opens<double>(small, {1e9, 1e9 + 1, 1e9 + 2, 1e9, 1e9, 1e9});
    CorrectedFrames dark(std::make_unique<Image<float>>(small, less_offset), offset, detector,
                         no_despiking);
    EXPECT_EQ(dark.offset(), 0);
    EXPECT_EQ(frame_of(dark, 0), (std::vector<float>{1, 1, 1, 4, 5, 6}));
}

TEST(CorrectedFrames, have_gaps_at_defective_pixels_of_an_image_or_a_list) {
    const std::vector<float> samples = {1, 2, 3, 4, 5, 6};
    DetectorImages detector;
    detector.defects = opens<float>(small, {0, 1, 0, 0, 0, 255});
    detector.defective = {{0, 1}, {1, 0}};
    CorrectedFrames frames(std::make_unique<Image<float>>(small, samples), 0, detector, {});
    settle(frames);
    EXPECT_EQ(frames.defects(), 3);
    EXPECT_THAT(frame_of(frames, 0),
                testing::Pointwise(testing::NanSensitiveFloatEq(),
                                   std::vector<float>{1, gap, 3, gap, 5, gap}));
}

/// The lines above and below a bright specimen in a dark field have little noise in all frames,
/// but the specimen moves.
TEST(CorrectedFrames, have_no_gaps_beside_a_bright_specimen) {
    constexpr ImageShape shape{64, 64};
    constexpr std::size_t frames = 6, pixels = 64 * 64;
    std::vector<float> samples(frames * pixels);
    registration::NoiseSource noise(1, 0);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::size_t frame = i / pixels, y = i % pixels / 64;
        const bool bright = y >= 6 * frame && y < 6 * frame + 24;
        samples[i] = static_cast<float>(noise.poisson(bright ? 100 : .5));
    }
    CorrectedFrames corrected(std::make_unique<Image<float>>(shape, samples, frames), 0, {}, {});
    settle(corrected);
    for (std::int64_t frame = 0; frame < static_cast<std::int64_t>(frames); ++frame)
        EXPECT_EQ(corrected.blank(frame), 0) << frame;
}

TEST(CorrectedFrames, have_gaps_at_lines_that_are_blank_in_few_frames) {
    constexpr ImageShape shape{32, 32};
    constexpr std::size_t frames = 5, pixels = 32 * 32;
    std::vector<float> samples(frames * pixels);
    registration::NoiseSource noise(1, 0);
    for (float& sample : samples)
        sample = static_cast<float>(10 + noise.normal());
    const auto darken = [&](std::size_t frame, std::size_t first, std::size_t last, double sigma) {
        for (std::size_t i = frame * pixels + first * 32; i < frame * pixels + last * 32; ++i)
            samples[i] = static_cast<float>(sigma * noise.normal());
    };
    darken(1, 20, 32, 0);
    for (const std::size_t frame : {0U, 2U, 4U}) // as if the specimen were dark there
        darken(frame, 0, 9, .05);
    CorrectedFrames corrected(std::make_unique<Image<float>>(shape, samples, frames), 0, {}, {});
    settle(corrected);
    EXPECT_TRUE(corrected.needed());
    EXPECT_EQ(corrected.blank(1), 12 * 32);
    EXPECT_EQ(corrected.recorded_gaps(1), 0);
    for (const std::int64_t frame : {0, 2, 3, 4}) {
        EXPECT_EQ(corrected.blank(frame), 0) << frame;
        const auto first = samples.begin() + frame * static_cast<std::ptrdiff_t>(pixels);
        EXPECT_TRUE(
            same_bits(frame_of(corrected, frame),
                      std::vector<float>(first, first + static_cast<std::ptrdiff_t>(pixels))))
            << frame;
    }
    std::vector<float> rows(32 * 4);
    corrected.read_rows(1, {18, 22}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(std::isnan(rows[i]), i >= 64) << i;
}

/// Returns the error message of a series with a wrong image of the detector.
std::string failure(const DetectorImages& detector) {
    return test::message_of<InvalidTask>([&] {
        CorrectedFrames frames(std::make_unique<Image<float>>(small, std::vector<float>(6, 1)), 0,
                               detector, {});
    });
}

TEST(CorrectedFrames, refuse_images_that_do_not_fit_the_series) {
    EXPECT_EQ(failure({opens<float>({4, 2}, std::vector<float>(8, 1)), {}, {}, {}}),
              "image has 4x2 pixels, expected 3x2 as in the frames of image");
    EXPECT_EQ(failure({{}, opens<float>({2, 3}, std::vector<float>(6, 1)), {}, {}}),
              "image has 2x3 pixels, expected 3x2 as in the frames of image");
    EXPECT_EQ(failure({{}, opens<float>(small, std::vector<float>(12, 1), 2), {}, {}}),
              "image has 2 frames, expected one image of 3x2 pixels");
    EXPECT_THAT(failure({opens<float>(small, std::vector<float>(6, gap)), {}, {}, {}}),
                HasSubstr("image: no pixel can be used"));
    EXPECT_THAT(failure({{}, opens<float>(small, {0, -1, gap, 0, 0, 0}), {}, {}}),
                HasSubstr("expected a finite dark image and a positive finite gain"));
    EXPECT_THAT(failure({{}, {}, opens<float>(small, std::vector<float>(6, 1)), {}}),
                HasSubstr("all 6 pixels of the detector are listed as defective"));
    EXPECT_THAT(failure({{}, {}, {}, {{3, 0}}}),
                AllOf(HasSubstr("defective pixel (3, 0)"), HasSubstr("column from 0 to 2")));
}

/// Frames with a streak in frame 1, hot pixels in all frames, and gaps.
FramesMade faulty_frames() {
    FramesMade frames = make_series(7).frames;
    for (kernel::FloatPlane& frame : frames) {
        frame.row(100)[30] = 400;
        frame.row(3)[5] += 30; // too weak to be found in one frame
    }
    for (int i = 0; i < 12; ++i)
        frames[1].row(40 + i)[60 + i / 2] = 3000 + static_cast<float>(10 * i);
    frames[2].row(7)[8] = gap;
    frames[2].row(100)[31] = 2500;
    return frames;
}

TEST(CorrectedFrames, find_outliers_of_frames_and_defects_of_the_detector_on_any_ranks) {
    const FramesMade made = faulty_frames();
    for (const int ranks : {1, 2, 3, 9}) {
        run_threads(ranks, [&](const Communicator& communicator) {
            CorrectedFrames frames(std::make_unique<MadeSource>(made), 0, {}, {});
            const int rank = communicator.rank();
            for (std::int64_t frame = 7 * rank / ranks; frame < 7 * (rank + 1) / ranks; ++frame) {
                frame_of(frames, frame);
                frame_of(frames, frame); // reading twice changes nothing
            }
            frames.settle(communicator);
            EXPECT_TRUE(frames.needed());
            EXPECT_EQ(frames.defects(), 2);
            for (std::int64_t frame = 7 * rank / ranks; frame < 7 * (rank + 1) / ranks; ++frame) {
                const registration::OutlierSummary& found = frames.outliers(frame);
                EXPECT_EQ(found.count, frame == 1 ? 12 : frame == 2 ? 1 : 0) << frame;
                EXPECT_EQ(frames.recorded_gaps(frame), frame == 2 ? 1 : 0);
                const char* const expected = frame == 1
                                                 ? "12 outliers, the largest 3110 at (65, 51)"
                                             : frame == 2 ? "a hot pixel of 2500 at (31, 100)"
                                                          : "";
                EXPECT_EQ(describe(found), expected);
            }
            for (std::int64_t frame = 0; frame < 7; ++frame) {
                const std::vector<float> samples = frame_of(frames, frame);
                const auto gaps = std::count_if(samples.begin(), samples.end(),
                                                [](float s) { return std::isnan(s); });
                EXPECT_EQ(gaps, frame == 1 ? 14 : frame == 2 ? 4 : 2) << frame;
                EXPECT_TRUE(std::isnan(samples[100 * 128 + 30]));
                EXPECT_TRUE(std::isnan(samples[3 * 128 + 5]));
                std::vector<float> rows(3 * 128);
                for (std::int64_t first = 0; first + 3 <= 128; first += 3) {
                    frames.read_rows(frame, {first, first + 3}, rows);
                    EXPECT_TRUE(
                        same_bits(rows, std::span(samples).subspan(
                                            static_cast<std::size_t>(first) * 128, rows.size())));
                }
            }
        });
    }
}

TEST(CorrectedFrames, give_a_clean_series_back_unchanged) {
    const FramesMade made = make_series(4).frames;
    CorrectedFrames frames(std::make_unique<MadeSource>(made), 0, {}, {});
    settle(frames);
    EXPECT_FALSE(frames.needed());
    EXPECT_EQ(frames.defects(), 0);
    const auto source = std::move(frames).release();
    EXPECT_EQ(source->path(), "made");
}

TEST(CorrectedFrames, do_not_take_a_small_bright_particle_that_never_moves_for_a_defect) {
    FramesMade made = make_series(8, {}, {}).frames;
    for (kernel::FloatPlane& frame : made)
        for (int y = 0; y < 128; ++y)
            for (int x = 0; x < 128; ++x)
                frame.row(y)[x] += static_cast<float>(
                    300 * std::exp(-((x - 70.4) * (x - 70.4) + (y - 31.6) * (y - 31.6)) / 1.28));
    CorrectedFrames frames(std::make_unique<MadeSource>(made), 0, {}, {});
    settle(frames);
    EXPECT_EQ(frames.defects(), 0);
}

} // namespace
} // namespace sextant::test
