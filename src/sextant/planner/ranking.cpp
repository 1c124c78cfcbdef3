// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/ranking.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

/// By how much predictions lie above what was expected, at the most.
double most_slack(const std::vector<Entry>& entries) {
    double most = 1;
    for (const Entry& entry : entries) {
        const Weighed& w = entry.weighed;
        if (w.predicted && entry.expected > 0)
            most = std::max(most, w.predicted->seconds / entry.expected);
    }
    return most;
}

/// Of equal predictions the surest first, then the earliest.
auto place(const Entry& entry, double slack) {
    const Weighed& w = entry.weighed;
    const int kind = !w.bound ? 2 : entry.repeats ? 1 : 0;
    const model::Prediction none;
    const model::Prediction& p = w.predicted ? *w.predicted : none;
    const Seconds expected = std::max(w.bound.value_or(0), entry.expected * slack);
    return std::tuple(kind, w.predicted ? p.seconds : expected, p.high - p.low, w.candidate);
}

/// Those whose intervals meet that of the first.
std::size_t rivals(const Choice& choice) {
    const Seconds high = choice.chosen().predicted->high;
    const auto apart = [&](const Weighed& w) { return !w.predicted || w.predicted->low > high; };
    const auto last = std::find_if(choice.ranking.begin() + 1, choice.ranking.end(), apart);
    return static_cast<std::size_t>(last - choice.ranking.begin());
}

int walked(const Choice& choice) {
    return static_cast<int>(
        std::count_if(choice.ranking.begin(), choice.ranking.end(),
                      [](const Weighed& w) { return w.predicted.has_value(); }));
}

} // namespace

Choice ranked(std::vector<Entry> entries, std::string_view model, std::string_view machine) {
    std::sort(entries.begin(), entries.end(), [slack = most_slack(entries)](auto& a, auto& b) {
        return place(a, slack) < place(b, slack);
    });
    Choice choice;
    choice.model = model;
    for (Entry& entry : entries)
        choice.ranking.push_back(std::move(entry.weighed));
    if (!choice.chosen().bound)
        throw model::CannotExpress(choice.chosen().remark);
    if (choice.chosen().predicted) {
        choice.rivals = rivals(choice);
        choice.reason = reason_of(static_cast<int>(entries.size()), model, machine,
                                  static_cast<int>(choice.rivals), walked(choice));
    } else {
        choice.reason = fmt::format("bound only: the lowest of {} by {} on {}; {} walked",
                                    entries.size(), model, machine, walked(choice));
    }
    return choice;
}

std::string reason_of(int candidates, std::string_view model, std::string_view machine, int rivals,
                      int walked) {
    std::string text = fmt::format("fastest of {} by {} on {}", candidates, model, machine);
    if (rivals > 1)
        text += fmt::format("; {} may be as fast", rivals - 1);
    if (walked < candidates)
        text += fmt::format("; {} walked", walked);
    return text;
}

} // namespace sextant::planner
