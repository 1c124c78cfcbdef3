// SPDX-License-Identifier: BSD-3-Clause
// Peak memory of a registering thread, in frames, derived from its growth with the frame size. Each
// case runs in a separate process.
#include "sextant/command/commands.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/registration/synthetic.hpp"

#include <iostream>
#include <limits>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/support/peak_memory.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr Bytes kibibyte = 1024;
constexpr int ranks = 2;

/// A warped series; with a mask, a corner of each frame is NaN.
void write_series(const std::string& path, ImageShape shape, bool masked) {
    registration::SeriesPlan plan;
    plan.shape = shape;
    plan.frames = 8;
    plan.drift = {0, -1.2, .7};
    plan.warp = 2;
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    const registration::SyntheticSeries series(
        plan, registration::find_specimen("carbon").make(specimen));
    FrameHeader header;
    header.frames = plan.frames;
    header.shape = shape;
    const auto sink = format::create_frames(path, header);
    for (int frame = 0; frame < plan.frames; ++frame) {
        kernel::FloatPlane image = series.counted(frame);
        for (Elements y = 0; y < shape.height; ++y) {
            if (masked && y < shape.height / 4)
                std::fill_n(image.row(y), shape.width / 4, std::numeric_limits<float>::quiet_NaN());
            sink->write({image.row(y), static_cast<std::size_t>(shape.width)});
        }
    }
    sink->commit();
}

Bytes peak_of_registering(const TemporaryFolder& folder, const char* model, ImageShape shape,
                          bool masked) {
    const std::string path = folder.path("series.mrc");
    peak_memory_of([&] { write_series(path, shape, masked); });
    return kibibyte * peak_memory_of([&] {
               command::run_command(command::register_operation(),
                                    {{"series", {path}},
                                     {"output", {folder.path("out")}},
                                     {"model", {model}},
                                     {"memory", {"1"}},
                                     {"ranks", {std::to_string(ranks)}},
                                     {"json", {folder.path("run.json")}}});
           });
}

/// Growth of the memory per thread, divided by the growth of a frame, between two frame sizes that
/// are not powers of two.
double frames_a_thread(const char* model, bool masked) {
    const TemporaryFolder folder;
    const ImageShape small{384, 384}, large{768, 768};
    const Bytes more = peak_of_registering(folder, model, large, masked) -
                       peak_of_registering(folder, model, small, masked);
    const Bytes frame = (large.elements() - small.elements()) * static_cast<Bytes>(sizeof(float));
    return static_cast<double>(more) / static_cast<double>(ranks * frame);
}

class FramesPerThread : public testing::TestWithParam<const char*> {};

TEST_P(FramesPerThread, are_at_most_twelve_at_peak_memory_use) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    for (const bool masked : {false, true}) {
        const double frames = frames_a_thread(GetParam(), masked);
        std::cout << frames << " frames a thread" << (masked ? ", masked\n" : "\n");
        EXPECT_LE(frames, 12.2);
        EXPECT_GE(frames, 3) << "a frame and the pyramids of two at least";
    }
}

INSTANTIATE_TEST_SUITE_P(Of, FramesPerThread, testing::Values("rigid", "nonrigid"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace
} // namespace sextant::test
