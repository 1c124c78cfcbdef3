// SPDX-License-Identifier: BSD-3-Clause
// The memory of a run does not grow with the length of the series, except for stored motions.
#include "sextant/command/commands.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/registration/synthetic.hpp"

#include <iostream>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::command {
namespace {

constexpr ImageShape shape{96, 96};

/// Writes a series in which a few frames are repeated; only its length matters.
void write_series(const std::string& path, std::int64_t frames) {
    constexpr int made = 16;
    registration::SeriesPlan plan;
    plan.shape = shape;
    plan.frames = made;
    plan.wander = .5;
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    const registration::SyntheticSeries series(
        plan, registration::find_specimen("carbon").make(specimen));
    FrameHeader header;
    header.frames = frames;
    header.shape = shape;
    const auto sink = format::create_frames(path, header);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        const kernel::FloatPlane image = series.counted(static_cast<int>(frame % made));
        for (std::int64_t y = 0; y < shape.height; ++y)
            sink->write({image.image().row(y), static_cast<std::size_t>(shape.width)});
    }
    sink->commit();
}

class RegisterMemory : public testing::TestWithParam<const char*> {
  protected:
    /// Peak memory of registering a series of this length.
    Bytes peak_of(std::int64_t frames) {
        const std::string path = folder.path(std::to_string(frames) + ".mrc");
        write_series(path, frames);
        EXPECT_TRUE(test::forget_peak_memory());
        run_command(register_operation(), {{"series", {path}},
                                           {"output", {folder.path("out")}},
                                           {"model", {GetParam()}},
                                           {"memory", {"1"}},
                                           {"ranks", {"2"}},
                                           {"report", {folder.path("page.html")}},
                                           {"json", {folder.path("run.json")}}});
        return Bytes{test::peak_memory()} << 10;
    }
    test::TemporaryFolder folder;
};

TEST_P(RegisterMemory, grows_only_by_the_transforms_of_additional_frames) {
    if (!test::forget_peak_memory())
        GTEST_SKIP() << "the system cannot reset the peak of memory";
    const bool fields = std::string(GetParam()) == "nonrigid";
    const std::int64_t few = 100, many = fields ? 1000 : 700;
    peak_of(few); // the first run allocates memory that is kept
    const Bytes first = peak_of(few), last = peak_of(many);
    const Bytes grown = (last - first) / (many - few);
    std::cout << grown << " bytes a frame\n";
    const Bytes frame = shape.elements() * static_cast<Bytes>(sizeof(float));
    EXPECT_LT(grown, frame / 3) << "bytes a frame, of which each has " << frame;
}

INSTANTIATE_TEST_SUITE_P(OfModels, RegisterMemory, testing::Values("rigid", "nonrigid"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace
} // namespace sextant::command
