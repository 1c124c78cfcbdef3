// SPDX-License-Identifier: BSD-3-Clause
// Times of messages that share links, compared with calculations by hand.
#include "sextant/model/link_contention.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::model {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// Link 0 belongs to all nodes; nodes from 10 on also use link 1, with a quarter of the capacity by
/// default.
machine::Wires wires(double seconds_of_second = 4) {
    return {
        2,
        [](int from, int, std::vector<int>& path) {
            path.push_back(0);
            if (from >= 10)
                path.push_back(1);
        },
        [=](int link, double bytes, int) { return bytes * (link == 1 ? seconds_of_second : 1); }};
}

/// A message and its start time.
struct Starting {
    MessageInFlight message;
    Seconds start = 0;
};

/// Duration of each message; start times must not decrease.
std::vector<Seconds> times(const machine::Wires& wires, const std::vector<Starting>& messages) {
    Sharing sharing(wires);
    std::vector<Seconds> times(messages.size());
    const auto pass = [&] {
        for (const Arrival& arrival : sharing.pass()) {
            const auto i = static_cast<std::size_t>(arrival.message);
            times[i] = arrival.time - messages[i].start;
        }
    };
    for (const Starting& each : messages) {
        while (sharing.next() < each.start)
            pass();
        sharing.start(each.message, each.start);
    }
    while (sharing.next() < std::numeric_limits<Seconds>::infinity())
        pass();
    return times;
}

TEST(BandwidthSharing, divides_a_link_equally_among_equal_messages) {
    EXPECT_THAT(times(wires(), {{{0, 1, 1}}}), ElementsAre(1.0));
    EXPECT_THAT(times(wires(), {{{0, 1, 1}}, {{0, 2, 1}}, {{0, 3, 1}}}),
                ElementsAre(DoubleNear(3, 1e-12), DoubleNear(3, 1e-12), DoubleNear(3, 1e-12)));
}

TEST(BandwidthSharing, gives_capacity_unused_by_a_limited_message_to_others) {
    EXPECT_THAT(times(wires(), {{{10, 1, 1}}, {{0, 1, 1}}}),
                ElementsAre(DoubleNear(4, 1e-12), DoubleNear(4. / 3, 1e-12)));
}

TEST(BandwidthSharing, weights_messages_by_the_inverse_latency_of_their_paths) {
    machine::Wires far = wires(1e-6);
    far.latency = [](int link) { return link == 1 ? 2e-6 : 1e-6; };
    // The message over both links has a quarter of link 0's capacity until the other message has
    // ended, and then all of it.
    EXPECT_THAT(times(far, {{{10, 1, 1}}, {{0, 1, 1}}}),
                ElementsAre(DoubleNear(2, 1e-12), DoubleNear(4. / 3, 1e-12)));
}

TEST(BandwidthSharing, is_recomputed_when_a_message_starts) {
    EXPECT_THAT(times(wires(), {{{0, 1, 1}, 0}, {{0, 1, 1}, .5}}),
                ElementsAre(DoubleNear(1.5, .021), DoubleNear(1.5, .021)));
    EXPECT_THAT(times(wires(), {{{0, 1, 1}, 0}, {{0, 1, 1}, 7}}),
                ElementsAre(DoubleNear(1, 1e-12), DoubleNear(1, 1e-12)));
}

TEST(BandwidthSharing, includes_the_capacity_loss_of_shared_links) {
    machine::Wires losing = wires();
    losing.busy = [](int, double bytes, int messages) { return messages > 1 ? 2 * bytes : bytes; };
    EXPECT_THAT(times(losing, {{{0, 1, 1}}, {{0, 1, 2}}}),
                ElementsAre(DoubleNear(4, 1e-12), DoubleNear(5, 1e-12)));
}

TEST(BandwidthSharing, rejects_paths_without_a_link) {
    machine::Wires none = wires();
    none.route = [](int, int, std::vector<int>&) {};
    EXPECT_FALSE(Sharing(none).has_links(0, 1));
    const machine::Wires some = wires();
    EXPECT_TRUE(Sharing(some).has_links(0, 1));
}

} // namespace
} // namespace sextant::model
