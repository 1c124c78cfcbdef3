// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/race.hpp"

#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::planner {

Race::Race(int contestants, int rounds) : contestants_(contestants), rounds_(rounds) {
    if (contestants < 2 || contestants > most_contestants || rounds < 1 || rounds > most_rounds)
        throw std::logic_error(fmt::format("a race of {} candidates in {} rounds is not supported",
                                           contestants, rounds));
}

int Race::contestant_of(int frame) const {
    const int round = frame / contestants_, turn = frame % contestants_;
    return round % 2 == 0 ? turn : contestants_ - 1 - turn;
}

void Race::finish(Seconds took) {
    times_[static_cast<std::size_t>(done_++)] = took;
}

std::optional<Seconds> Race::median_of(int contestant, std::span<const Times> ranks) const {
    std::vector<Seconds> slowest;
    for (int frame = contestants_; frame < frames(); ++frame) {
        if (contestant_of(frame) != contestant)
            continue;
        const auto at = static_cast<std::size_t>(frame);
        const auto [least, most] = std::minmax_element(
            ranks.begin(), ranks.end(), [&](auto& a, auto& b) { return a[at] < b[at]; });
        if ((*least)[at] != failed)
            slowest.push_back((*most)[at]);
    }
    return slowest.empty() ? std::nullopt : std::optional(median(slowest));
}

Race::Outcome Race::judge(std::span<const Times> ranks) const {
    Outcome outcome{0, frames(), {}};
    for (int contestant = 0; contestant < contestants_; ++contestant) {
        outcome.medians.push_back(median_of(contestant, ranks));
        const auto& best = outcome.medians[static_cast<std::size_t>(outcome.winner)];
        const auto& own = outcome.medians.back();
        if (own && (!best || *own < *best))
            outcome.winner = contestant;
    }
    return outcome;
}

RacingOrder racing_order(const CompositingPlan& plan, int frames) {
    constexpr double predictions_err = .25;
    constexpr int least_rounds = 3, share_of_frames = 4;
    RacingOrder order;
    if (plan.alternatives.empty() || !plan.alternatives.front().expected)
        return order;
    const Expected& best = *plan.alternatives.front().expected;
    const int affordable = frames / share_of_frames / (least_rounds + 1);
    const int most = std::min(Race::most_contestants, affordable);
    for (const auto& each : plan.alternatives) {
        const bool close =
            each.expected && (each.expected->low <= best.high ||
                              each.expected->seconds <= best.seconds * (1 + predictions_err));
        if (close && static_cast<int>(order.configurations.size()) < most)
            order.configurations.push_back(each.configuration);
    }
    if (order.configurations.size() < 2)
        return {};
    const int contestants = static_cast<int>(order.configurations.size());
    order.rounds = std::min(Race::most_rounds, frames / share_of_frames / contestants - 1);
    return order;
}

std::string scores_of(std::span<const std::string> names, const Race::Outcome& outcome,
                      std::string_view runs) {
    std::string text = fmt::format("raced over {} {}", outcome.frames, runs);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::optional<Seconds>& own = outcome.medians[i];
        text += fmt::format("{} {} {}", i == 0 ? ":" : ";", names[i],
                            own ? fmt::format("{:.4g} ms", *own * 1e3) : "failed");
    }
    return text;
}

} // namespace sextant::planner
