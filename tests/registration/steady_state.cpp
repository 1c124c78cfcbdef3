// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/nonrigid.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <algorithm>

#include "tests/registration/made_series.hpp"
#include "tests/registration/trials.hpp"
#include "tests/support/counting_new.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Rigid, allocates_nothing_when_repeated) {
    Trial trial;
    trial.shape = {200, 150};
    const Pair pair = make_pair(trial);
    Registrar registrar(trial.shape);
    const kernel::SampleView reference = pair.reference.samples(), moved = pair.moved.samples();
    registrar.align(reference, moved);
    const long before = allocations;
    const RigidMotion found = registrar.align(reference, moved).motion;
    registrar.registration.refine(registrar.reference, registrar.moved, found);
    EXPECT_EQ(allocations - before, 0);
}

TEST(Nonrigid, allocates_nothing_when_repeated) {
    Trial trial;
    trial.shape = {200, 150};
    const Pair pair = make_pair(trial);
    registration::NonrigidRegistration registration(trial.shape);
    const kernel::SampleView reference = pair.reference.samples(), moved = pair.moved.samples();
    registration.run(reference, moved, usual_motion);
    const long before = allocations;
    registration.run(reference, moved, usual_motion);
    EXPECT_EQ(allocations - before, 0);
}

/// The bytes of a float for each pixel of a frame.
long plane_of(const FramesMade& frames) {
    return static_cast<long>(frames.front().shape().elements()) * static_cast<long>(sizeof(float));
}

TEST(Combined, uses_the_same_memory_in_every_pass) {
    const FramesMade frames = make_series(4).frames;
    MadeSource source(frames);
    const std::vector<std::int64_t> all{0, 1, 2, 3};
    registration::CombineOptions options;
    options.halves = true;
    const auto shift = [](std::int64_t frame) {
        return registration::Transform(RigidMotion{0, .3 * static_cast<double>(frame), .7});
    };
    constexpr long mean_median_count_and_halves = 5;
    const long results = mean_median_count_and_halves * plane_of(frames);
    run_threads(1, [&](const Communicator& communicator) {
        for (const Bytes rows_per_pass : {64, 16}) {
            options.memory = rows_per_pass *
                             registration::least_memory(4, frames.front().shape().width, options);
            const long before = allocated_bytes;
            registration::combine(communicator, source, all, shift, options);
            // Besides these, a pass allocates positions in a row for each thread.
            EXPECT_LT(allocated_bytes - before,
                      results + 2 * static_cast<long>(options.memory) + 2 * plane_of(frames))
                << rows_per_pass << " rows per pass";
        }
    });
}

/// Counts the rows that are read.
class CountedSource : public MadeSource {
  public:
    CountedSource(const FramesMade& frames, std::int64_t& rows) : MadeSource(frames), rows_(rows) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        rows_ += rows.count();
        MadeSource::load(frame, rows, to);
    }

    std::int64_t& rows_;
};

TEST(SeriesRegistration, reads_each_frame_of_a_pair_once_before_it_averages_them) {
    const FramesMade frames = make_series(2).frames;
    const std::int64_t height = frames.front().shape().height;
    std::int64_t rows = 0;
    long allocated = 0;
    run_threads(1, [&](const Communicator& communicator) {
        const long before = allocated_bytes;
        SeriesRegistration(communicator, {}).run(std::make_unique<CountedSource>(frames, rows));
        allocated = allocated_bytes - before;
    });
    constexpr std::int64_t frames_read = 2, to_register = 1, to_average = 1, margin = 8;
    // Of larger frames, few rows in the middle are examined for an offset; of these, all.
    constexpr std::int64_t samples_examined = 1 << 14;
    const std::int64_t to_examine =
        std::min(height, samples_examined / frames.front().shape().width);
    EXPECT_LE(rows, frames_read * ((to_register + to_average) * height + to_examine + margin));
    // The results are five planes; a median needs as many numbers as ten planes, and the search for
    // a static pattern as 30.
    constexpr long planes = 62;
    EXPECT_LT(allocated, planes * plane_of(frames));
}

} // namespace
} // namespace sextant::test
