// SPDX-License-Identifier: BSD-3-Clause
// The separation of signal and noise of a series' frames.
#include "sextant/registration/series/consensus.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::ContrastLink;
using registration::contrasts_of;
using registration::FrameContrast;

struct Frames {
    std::vector<double> signals, noises;

    std::vector<double> deviations() const {
        std::vector<double> all;
        for (std::size_t i = 0; i < signals.size(); ++i)
            all.push_back(std::hypot(signals[i], noises[i]));
        return all;
    }
    /// Links of each frame to `farthest` previous frames, with the NCC of signals and noises.
    std::vector<ContrastLink> links(std::size_t farthest) const {
        const std::vector<double> deviation = deviations();
        std::vector<ContrastLink> all;
        for (std::size_t moved = 1; moved < signals.size(); ++moved) {
            for (std::size_t back = 1; back <= std::min(farthest, moved); ++back) {
                const std::size_t other = moved - back;
                all.push_back(
                    {other, moved,
                     signals[other] * signals[moved] / (deviation[other] * deviation[moved])});
            }
        }
        return all;
    }
};

constexpr double close = 5e-3; // relative

TEST(Contrast, of_fading_frames_with_constant_noise_is_found) {
    const Frames frames{{4, 3.5, 3, 2.5, 2, 1.5, 1}, {1, 1, 1, 1, 1, 1, 1}};
    const auto found = contrasts_of(frames.deviations(), frames.links(3));
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i].signal, frames.signals[i] / 2.5, close * frames.signals[i]);
        EXPECT_NEAR(found[i].noise, frames.noises[i] / 2.5, 4 * close);
        EXPECT_NEAR(found[i].weight(), frames.signals[i] * frames.signals[i],
                    8 * close * found[i].weight());
    }
}

TEST(Contrast, of_one_frame_with_more_noise_is_that_of_the_others_at_less_weight) {
    const Frames frames{{2, 2, 2, 2, 2}, {1, 1, 4, 1, 1}};
    const auto found = contrasts_of(frames.deviations(), frames.links(3));
    EXPECT_NEAR(found[2].signal, 1, close);
    EXPECT_NEAR(found[2].weight() / found[1].weight(), 1. / 16, 1e-3);
}

TEST(Contrast, of_pairs_and_chains_is_shared_equally_by_linked_frames) {
    const Frames pair{{2, 2}, {1, 1}}, chain{{2, 2, 2, 2}, {1, 2, 1, 2}};
    for (const Frames& frames : {pair, chain}) {
        for (const FrameContrast& one : contrasts_of(frames.deviations(), frames.links(1)))
            EXPECT_NEAR(one.signal, 1, close);
    }
}

TEST(Contrast, of_a_frame_without_links_is_typical) {
    const Frames frames{{4, 2, 2, 2, 1}, {1, 1, 1, 1, 1}};
    std::vector<ContrastLink> links = frames.links(2);
    std::erase_if(links, [](const ContrastLink& link) { return link.reference == 0; });
    const auto found = contrasts_of(frames.deviations(), links);
    EXPECT_EQ(found[0].signal, 1);
    EXPECT_GT(found[0].noise, 1);
    for (const FrameContrast& one : contrasts_of(frames.deviations(), {}))
        EXPECT_EQ(one.weight(), 1);
}

TEST(Contrast, of_frames_without_noise_has_finite_weights) {
    const Frames frames{{1, 1, 1}, {0, 0, 0}};
    for (const FrameContrast& one : contrasts_of(frames.deviations(), frames.links(2)))
        EXPECT_NEAR(one.weight(), 400, 1);
}

} // namespace
} // namespace sextant::test
