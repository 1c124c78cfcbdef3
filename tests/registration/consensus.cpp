// SPDX-License-Identifier: BSD-3-Clause
// Links of a series with known motions, some of them wrong.
// The separation of signal and noise of a series' frames.
#include "sextant/registration/series/consensus.hpp"

#include "sextant/registration/synthetic.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::consensus;
using registration::FrameVote;
using registration::LinkSeen;
using registration::RigidMotion;

constexpr ImageShape voters_shape{256, 256};
/// A period jump: a shift by one lattice period.
constexpr RigidMotion hop{0, 24, 0};

struct Chain {
    std::vector<RigidMotion> truth; ///< motion of each frame relative to the first
    std::vector<LinkSeen> links;

    LinkSeen& link(std::size_t reference, std::size_t moved) {
        return *std::find_if(links.begin(), links.end(), [&](const LinkSeen& one) {
            return one.reference == reference && one.moved == moved;
        });
    }
    void hop_at(std::size_t reference, std::size_t moved) {
        LinkSeen& one = link(reference, moved);
        one.motion = compose(hop, one.motion);
    }
    std::vector<FrameVote> votes() const { return consensus(truth.size(), links, voters_shape); }
};

Chain chain_of(std::size_t frames) {
    registration::NoiseSource noise(5, frames);
    const auto about = [&](double mean, double deviation) {
        return mean + deviation * noise.normal();
    };
    Chain chain;
    for (std::size_t k = 0; k < frames; ++k) {
        const RigidMotion step{about(0, .002), about(3, .5), about(-1, .5)};
        chain.truth.push_back(k == 0 ? RigidMotion() : compose(step, chain.truth.back()));
        for (std::size_t back = 1; back <= std::min<std::size_t>(3, k); ++back) {
            const RigidMotion between = compose(chain.truth[k], inverse(chain.truth[k - back]));
            chain.links.push_back(
                {k - back,
                 k,
                 {about(between.alpha, 1e-4), about(between.tx, .05), about(between.ty, .05)}});
        }
    }
    return chain;
}

void expect_right(const Chain& chain, const std::string& what) {
    const std::vector<FrameVote> votes = chain.votes();
    for (std::size_t k = 0; k < votes.size(); ++k) {
        ASSERT_TRUE(votes[k].position) << what << ": frame " << k;
        EXPECT_LT(rms_distance(*votes[k].position, chain.truth[k], voters_shape), 1.5)
            << what << ": frame " << k;
    }
}

TEST(FrameConsensus, agrees_with_consistent_links) {
    const Chain chain = chain_of(30);
    expect_right(chain, "no hop");
    for (const FrameVote& vote : chain.votes()) {
        EXPECT_EQ(vote.agreeing, vote.links);
        EXPECT_FALSE(vote.in_doubt);
    }
}

TEST(FrameConsensus, outvotes_a_period_jump_of_any_link) {
    for (std::size_t reference = 0; reference < 15; ++reference) {
        for (std::size_t moved = reference + 1; moved <= std::min<std::size_t>(15, reference + 3);
             ++moved) {
            Chain chain = chain_of(16);
            chain.hop_at(reference, moved);
            expect_right(chain, std::to_string(reference) + " to " + std::to_string(moved));
        }
    }
}

/// A chain of sixteen in which one frame is off by a lattice period relative to both neighbours.
Chain forth_and_back(std::size_t frame) {
    Chain chain = chain_of(16);
    chain.hop_at(frame - 1, frame);
    LinkSeen& back = chain.link(frame, frame + 1);
    back.motion = compose(inverse(hop), back.motion);
    return chain;
}

TEST(FrameConsensus, outvotes_a_frame_that_is_displaced_by_a_period) {
    for (std::size_t frame = 2; frame < 14; ++frame)
        expect_right(forth_and_back(frame), "frame " + std::to_string(frame));
}

TEST(FrameConsensus, doubts_a_displaced_frame_near_an_end_of_the_series_where_votes_are_equal) {
    for (const std::size_t frame : {std::size_t{1}, std::size_t{14}})
        EXPECT_TRUE(forth_and_back(frame).votes()[frame].in_doubt) << frame;
}

TEST(FrameConsensus, accepts_the_only_link_of_two_frames) {
    Chain chain = chain_of(2);
    EXPECT_FALSE(chain.votes()[1].in_doubt);
    chain.hop_at(0, 1);
    EXPECT_GT(rms_distance(*chain.votes()[1].position, chain.truth[1], voters_shape), 20);
}

TEST(FrameConsensus, doubts_a_frame_with_contradicting_links) {
    Chain chain = chain_of(3);
    chain.hop_at(0, 1);
    EXPECT_TRUE(chain.votes()[1].in_doubt || chain.votes()[0].in_doubt ||
                chain.votes()[2].in_doubt);
}

TEST(FrameConsensus, omits_unlinked_frames_and_continues_after_them) {
    for (const std::size_t stranger : {std::size_t{0}, std::size_t{7}, std::size_t{15}}) {
        Chain chain = chain_of(16);
        for (LinkSeen& link : chain.links)
            link.trusted = link.reference != stranger && link.moved != stranger;
        const std::vector<FrameVote> votes = chain.votes();
        const std::size_t first = stranger == 0 ? 1 : 0;
        for (std::size_t k = 0; k < votes.size(); ++k) {
            EXPECT_EQ(votes[k].position.has_value(), k != stranger);
            if (k != stranger) {
                EXPECT_LT(rms_distance(*votes[k].position,
                                       compose(chain.truth[k], inverse(chain.truth[first])),
                                       voters_shape),
                          1.5);
            }
        }
    }
}

TEST(FrameConsensus, uses_the_larger_of_two_unconnected_parts) {
    Chain chain = chain_of(16);
    for (LinkSeen& link : chain.links)
        link.trusted = (link.reference < 5) == (link.moved < 5);
    const std::vector<FrameVote> votes = chain.votes();
    for (std::size_t k = 0; k < votes.size(); ++k)
        EXPECT_EQ(votes[k].position.has_value(), k >= 5) << k;
}

TEST(FrameConsensus, joins_two_parts_that_only_one_later_frame_connects) {
    Chain chain = chain_of(16);
    std::erase_if(chain.links, [](const LinkSeen& link) {
        return link.moved != 15 && (link.reference + link.moved) % 2 != 0;
    });
    for (const std::size_t end : {std::size_t{13}, std::size_t{14}})
        EXPECT_EQ(chain.link(end, 15).moved, 15U);
    expect_right(chain, "odd and even frames");
}

TEST(FrameConsensus, a_clear_link_outvotes_two_that_leave_the_motion_ambiguous) {
    Chain chain = chain_of(4);
    for (const std::size_t reference : {std::size_t{1}, std::size_t{2}}) {
        chain.hop_at(reference, 3);
        chain.link(reference, 3).lead = .5;
    }
    chain.link(0, 3).lead = 6;
    expect_right(chain, "one clear link");
    for (LinkSeen& link : chain.links)
        link.lead = 6;
    EXPECT_GT(rms_distance(*chain.votes()[3].position, chain.truth[3], voters_shape), 20);
}

TEST(FrameConsensus, many_links_of_a_small_lead_that_agree_make_a_position_clear) {
    Chain chain = chain_of(16);
    for (LinkSeen& link : chain.links)
        link.lead = 1.5;
    const std::vector<FrameVote> votes = chain.votes();
    for (std::size_t frame = 3; frame < 13; ++frame) {
        EXPECT_TRUE(votes[frame].sound) << frame;
        EXPECT_GT(votes[frame].lead, 2) << frame;
        EXPECT_GT(votes[frame].lead_across, 2) << frame;
    }
    for (LinkSeen& link : chain.links)
        link.lead = .5;
    for (const FrameVote& vote : chain.votes()) {
        EXPECT_LT(vote.lead, 2);
        EXPECT_TRUE(vote.sound) << "no frame is better than the others";
        EXPECT_FALSE(vote.in_doubt) << "all links agree";
    }
}

TEST(FrameConsensus, a_bad_frame_is_not_sound_and_casts_no_doubt_on_its_neighbours) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{7}, std::size_t{15}}) {
        Chain chain = chain_of(16);
        double off = 20;
        for (LinkSeen& link : chain.links) {
            if (link.reference == bad || link.moved == bad)
                link.motion.tx += (off *= -1.3);
        }
        const std::vector<FrameVote> votes = chain.votes();
        for (std::size_t frame = 0; frame < votes.size(); ++frame) {
            EXPECT_EQ(votes[frame].sound, frame != bad) << bad << ", " << frame;
            EXPECT_EQ(votes[frame].in_doubt, frame == bad) << bad << ", " << frame;
            EXPECT_GT(votes[frame].lead_across, 2) << bad << ", " << frame;
        }
    }
}

TEST(FrameConsensus, finds_where_links_do_not_determine_the_motion_between_two_halves) {
    Chain chain = chain_of(16);
    const auto crosses = [](const LinkSeen& link) { return link.reference < 8 && link.moved >= 8; };
    int crossing = 0;
    for (LinkSeen& link : chain.links) {
        if (crosses(link) && ++crossing % 2 == 0)
            link.motion = compose(hop, link.motion);
    }
    std::vector<FrameVote> votes = chain.votes();
    for (std::size_t frame = 1; frame < votes.size(); ++frame)
        EXPECT_EQ(votes[frame].lead_across < 2, frame == 8) << frame;
    EXPECT_GT(chain_of(16).votes()[8].lead_across, 2);
}

TEST(FrameConsensus, shifts_half_of_a_series_if_most_links_to_it_say_so) {
    Chain chain = chain_of(16);
    for (LinkSeen& link : chain.links) {
        if (link.moved == 8) // placed first, with these links alone
            link.motion = compose(hop, link.motion);
    }
    for (const auto& [reference, moved] : {std::pair(6, 9), std::pair(7, 9), std::pair(7, 10)})
        chain.link(reference, moved).lead = 10;
    for (LinkSeen& link : chain.links) {
        if (link.moved == 8)
            link.lead = 5;
    }
    expect_right(chain, "the links to frame 8 are outvoted");
}

TEST(FrameConsensus, of_no_frames_is_empty) {
    EXPECT_TRUE(consensus(0, {}, voters_shape).empty());
    EXPECT_TRUE(consensus(1, {}, voters_shape)[0].position);
}

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
