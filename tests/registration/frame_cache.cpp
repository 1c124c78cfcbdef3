// SPDX-License-Identifier: BSD-3-Clause
// The cache of frames that readers share.
#include "sextant/registration/series/pair_reader.hpp"

#include <memory>

#include "tests/registration/frames_in_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::FrameCache;
using registration::PairReader;
using registration::RigidResult;

/// A source that counts reads.
class Counted : public MadeSource {
  public:
    using MadeSource::MadeSource;
    int reads = 0;

  protected:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        ++reads;
        MadeSource::load(frame, rows, to);
    }
};

FramesMade frames_of_carbon(int frames, ImageShape shape) {
    registration::SeriesPlan plan;
    plan.shape = shape;
    plan.frames = frames;
    plan.dose = 20;
    plan.drift = {0, 1.3, -.7};
    const registration::SyntheticSeries series(plan, specimen_of(plan));
    return counted_frames(series);
}

constexpr double prefilter = registration::usual_prefilter;

TEST(FrameCache, keeps_the_frames_that_were_used_last) {
    const FramesMade frames = frames_of_carbon(4, {64, 64});
    Counted source(frames);
    const auto cache = std::make_shared<FrameCache>(2);
    PairReader reader(source, {}, prefilter, cache), other(source, {}, prefilter, cache);
    reader.align(0, 1);
    reader.align(0, 1);
    other.align(0, 1);
    EXPECT_EQ(source.reads, 2);
    reader.align(0, 2); // drops 1
    other.align(2, 0);
    EXPECT_EQ(source.reads, 3);
    other.align(3, 1);
    EXPECT_EQ(source.reads, 5);
}

/// Pyramids that a full cache drops are filled again, also those of one reader by another one.
TEST(FrameCache, results_do_not_depend_on_its_size) {
    const FramesMade frames = frames_of_carbon(5, {64, 96});
    for (const int finest : {0, 1}) {
        Counted source(frames);
        PairReader with_all(source, {}, prefilter, std::make_shared<FrameCache>(5, finest));
        const auto small = std::make_shared<FrameCache>(1, finest);
        PairReader one(source, {}, prefilter, small), other(source, {}, prefilter, small);
        for (std::int64_t frame = 1; frame < 5; ++frame) {
            const RigidResult expected = with_all.align(frame - 1, frame);
            EXPECT_EQ((frame % 2 == 0 ? one : other).align(frame - 1, frame).motion,
                      expected.motion);
            EXPECT_EQ(one.refine(frame - 1, frame, expected.motion).motion,
                      with_all.refine(frame - 1, frame, expected.motion).motion);
            EXPECT_EQ(one.statistics(frame).deviation, with_all.statistics(frame).deviation);
        }
    }
}

/// An empty cache for another source has the same size.
TEST(FrameCache, is_as_large_for_another_source) {
    const FramesMade frames = frames_of_carbon(3, {32, 32});
    Counted source(frames);
    PairReader reader(source, {}, prefilter, FrameCache(3, 1).another(0));
    reader.align(0, 1);
    reader.align(1, 2);
    reader.align(2, 0);
    EXPECT_EQ(source.reads, 3);
}

} // namespace
} // namespace sextant::test
