// SPDX-License-Identifier: BSD-3-Clause
// Times of messages that share links, compared with calculations by hand.
#include "sextant/model/link_contention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>

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
std::vector<Seconds> times(const machine::Wires& wires, const std::vector<Starting>& messages,
                           double together = .02) {
    Sharing sharing(wires, together);
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

TEST(BandwidthSharing, concerns_only_messages_whose_path_has_a_link) {
    machine::Wires none = wires();
    none.route = [](int, int, std::vector<int>&) {};
    const machine::Wires some = wires();
    const Schedule schedule;
    const machine::Profile machine;
    EXPECT_FALSE(Traffic({.schedule = schedule, .machine = machine}).takes(0, 1));
    EXPECT_FALSE(Traffic({.schedule = schedule, .machine = machine, .wires = &none}).takes(0, 1));
    EXPECT_TRUE(Traffic({.schedule = schedule, .machine = machine, .wires = &some}).takes(0, 1));
}

/// One-way rings of `ring` nodes each; link i leads from node i to the next node of its ring.
machine::Wires rings(int ring, int count) {
    const auto route = [ring](int from, int to, std::vector<int>& path) {
        for (int at = from; at != to; at = at / ring * ring + (at + 1) % ring)
            path.push_back(at);
    };
    return {ring * count, route, [](int, double bytes, int) { return bytes; },
            [](int) { return 1e-7; }};
}

/// Messages between random nodes of the rings, in the order of their start times.
std::vector<Starting> random_messages(int ring, int count, int messages) {
    std::mt19937 random(7);
    std::vector<Starting> starting;
    for (int i = 0; i < messages; ++i) {
        const int first = static_cast<int>(random() % static_cast<unsigned>(count)) * ring;
        const int from = static_cast<int>(random() % static_cast<unsigned>(ring));
        const int hops = 1 + static_cast<int>(random() % static_cast<unsigned>(ring - 1));
        starting.push_back({{first + from, first + (from + hops) % ring, 1. + random() % 100 / 10.},
                            random() % 200 / 4.});
    }
    std::ranges::sort(starting, {}, &Starting::start);
    return starting;
}

/// The rates of all messages that have bytes left, by filling the whole network link by link.
std::vector<double> reference_rates(const machine::Wires& wires,
                                    const std::vector<std::vector<int>>& paths,
                                    const std::vector<bool>& in_flight) {
    std::vector<double> rates(paths.size(), 0), free(static_cast<std::size_t>(wires.links), 1);
    std::vector<bool> open = in_flight;
    const auto weight = [&](std::size_t i) { return 1. / static_cast<double>(paths[i].size()); };
    while (std::ranges::find(open, true) != open.end()) {
        std::vector<double> weights(free.size(), 0);
        for (std::size_t i = 0; i < paths.size(); ++i) {
            for (const int link : paths[i])
                weights[static_cast<std::size_t>(link)] += open[i] ? weight(i) : 0;
        }
        double level = std::numeric_limits<double>::infinity();
        std::size_t fullest = 0;
        for (std::size_t link = 0; link < free.size(); ++link) {
            if (weights[link] > 1e-12 && free[link] / weights[link] < level) {
                level = free[link] / weights[link];
                fullest = link;
            }
        }
        for (std::size_t i = 0; i < paths.size(); ++i) {
            if (!open[i] ||
                std::ranges::find(paths[i], static_cast<int>(fullest)) == paths[i].end())
                continue;
            open[i] = false;
            rates[i] = level * weight(i);
            for (const int link : paths[i])
                free[static_cast<std::size_t>(link)] -= rates[i];
        }
    }
    return rates;
}

/// Duration of each message if the rates in the whole network are recomputed at every event.
std::vector<Seconds> reference_times(const machine::Wires& wires,
                                     const std::vector<Starting>& messages) {
    std::vector<std::vector<int>> paths(messages.size());
    std::vector<double> left(messages.size());
    std::vector<bool> in_flight(messages.size(), false);
    std::vector<Seconds> times(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        wires.route(messages[i].message.from, messages[i].message.to, paths[i]);
        left[i] = messages[i].message.bytes;
    }
    Seconds now = 0;
    std::size_t started = 0, ended = 0;
    while (ended < messages.size()) {
        const std::vector<double> rates = reference_rates(wires, paths, in_flight);
        Seconds next = started < messages.size() ? messages[started].start
                                                 : std::numeric_limits<Seconds>::infinity();
        for (std::size_t i = 0; i < started; ++i) {
            if (in_flight[i])
                next = std::min(next, now + left[i] / rates[i]);
        }
        for (std::size_t i = 0; i < started; ++i) {
            if (!in_flight[i])
                continue;
            left[i] -= rates[i] * (next - now);
            if (left[i] < 1e-9) {
                in_flight[i] = false;
                times[i] = next - messages[i].start;
                ++ended;
            }
        }
        now = next;
        for (; started < messages.size() && messages[started].start <= now; ++started)
            in_flight[started] = true;
    }
    return times;
}

TEST(BandwidthSharing, gives_the_times_of_recomputing_the_whole_network_at_every_event) {
    const machine::Wires wires = rings(9, 4);
    const std::vector<Starting> messages = random_messages(9, 4, 300);
    const std::vector<Seconds> reference = reference_times(wires, messages);
    const std::vector<Seconds> exact = times(wires, messages, 1e-10);
    const std::vector<Seconds> batched = times(wires, messages, .005);
    double sum = 0;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        EXPECT_NEAR(exact[i] / reference[i], 1, 1e-6) << i;
        EXPECT_NEAR(batched[i] / reference[i], 1, .1) << i;
        sum += std::abs(batched[i] / reference[i] - 1);
    }
    EXPECT_LT(sum / static_cast<double>(messages.size()), .005);
}

TEST(BandwidthSharing, times_do_not_depend_on_messages_that_share_no_links) {
    const std::vector<Starting> messages = random_messages(9, 4, 300);
    const std::vector<Seconds> together = times(rings(9, 4), messages);
    for (int ring = 0; ring < 4; ++ring) {
        std::vector<Starting> own;
        std::vector<Seconds> expected;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (messages[i].message.from / 9 != ring)
                continue;
            own.push_back(messages[i]);
            expected.push_back(together[i]);
        }
        EXPECT_EQ(times(rings(9, 4), own), expected) << "ring " << ring; // the same bits
    }
}

} // namespace
} // namespace sextant::model
