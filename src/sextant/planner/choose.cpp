// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/choose.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/planner/predictor.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

/// The number of leading candidates for which all of the busiest ranks are examined. For other
/// candidates, only the first of the busiest ranks is examined. Fewer with more than `many_ranks`
/// ranks, because the program of a root is then long.
constexpr std::size_t most_refined = 24, fewer_refined = 4;

/// A candidate is evaluated if its bound is at most this fraction slower than the best, so that
/// close alternatives are shown.
constexpr double worth_showing = .1;

/// With more ranks than this, fewer messages per rank are examined.
constexpr std::int64_t many_ranks = 12'000;

/// The messages per rank of a candidate for which the load of links is estimated, and of all such
/// candidates together.
constexpr std::int64_t most_estimated_of_one = 300, most_estimated = 2'000;

std::int64_t messages_of(const Program& program) {
    return std::count_if(program.steps.begin(), program.steps.end(),
                         [](const Step& step) { return step.verb == Verb::send; });
}

Elements largest_message(const Program& program) {
    Elements largest = 0;
    for (const Step& step : program.steps) {
        if (step.verb == Verb::send)
            largest = std::max(largest, program.elements_of(step));
    }
    return largest;
}

class Choosing {
  public:
    Choosing(std::span<const Candidate> candidates, const Setting& setting)
        : candidates_(candidates), setting_(setting), predictor_(setting), loads_(setting) {}

    Choice choose() {
        weigh_ranks();
        find_same_work();
        walk();
        Choice choice = ranked(std::move(entries_), predictor_.model(), setting_.machine.name);
        const model::Oversubscription crowd = model::crowd_of(
            setting_.machine, setting_.nodes, candidates_[0].ranks, setting_.within_node);
        if (crowd.takes_turns())
            choice.reason += fmt::format("; {} ranks share {} {}", crowd.ranks, crowd.cores,
                                         crowd.cores == 1 ? "core" : "cores");
        return choice;
    }

  private:
    using Promise = std::pair<double, double>;

    const Candidate& candidate(const Entry& entry) const {
        return candidates_[entry.evaluated.candidate];
    }

    void weigh_ranks() {
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            Entry& entry = entries_.emplace_back();
            entry.evaluated.candidate = i;
            look_at(entry, candidates_[i].busiest.front());
        }
        by_expectation();
        const bool many = candidates_[0].ranks > many_ranks;
        const std::size_t refined = many ? fewer_refined : most_refined;
        for (std::size_t i = 0; i < std::min(entries_.size(), refined); ++i) {
            const std::vector<int>& busiest = candidate(entries_[i]).busiest;
            for (std::size_t r = 1; r < busiest.size(); ++r)
                look_at(entries_[i], busiest[r]);
        }
        by_expectation();
        if (setting_.wires) {
            add_contention();
            by_expectation();
        }
    }

    /// Adds the estimated effect of shared links to the expected times. Estimates the most
    /// promising candidates; the others are assumed to be affected by the usual factor.
    void add_contention() {
        const std::int64_t ranks = candidates_[0].ranks;
        std::int64_t left = most_estimated * std::min(ranks, many_ranks);
        std::vector<double> factors;
        std::vector<Entry*> others;
        for (Entry& entry : entries_) {
            if (!entry.evaluated.bound)
                continue;
            auto added = loads_.added(entry.rounds);
            if (!added && entry.messages <= std::min(left, most_estimated_of_one * ranks)) {
                left -= entry.messages;
                loads_.load(candidate(entry), entry.rounds);
                added = loads_.added(entry.rounds);
            }
            if (!added) {
                others.push_back(&entry);
                continue;
            }
            factors.push_back(1 + *added / entry.expected);
            entry.expected += *added;
        }
        for (Entry* entry : others)
            entry->expected *= factors.empty() ? 1 : median(factors);
    }

    void look_at(Entry& entry, int rank) {
        const Candidate& what = candidate(entry);
        Program program = what.program(rank);
        entry.messages = std::max(entry.messages, messages_of(program) * what.ranks);
        entry.largest = std::max(entry.largest, largest_message(program));
        if (setting_.wires && entry.rounds.keys.empty())
            entry.rounds = loads_.rounds_of(what, program, rank);
        try {
            if (!predictor_.has_model())
                predictor_.find_model(program, rank, candidates_[0].text());
            const Predictor::Single single = predictor_.single(std::move(program), rank);
            entry.evaluated.bound =
                std::max(entry.evaluated.bound.value_or(0), what.before + single.bound);
            entry.expected = std::max(entry.expected, what.before + single.expected);
        } catch (const model::CannotExpress& why) {
            if (!predictor_.has_model())
                throw;
            entry.evaluated.bound.reset();
            entry.evaluated.remark = why.what();
        }
    }

    /// Sorts by expected time; candidates that no model can describe come last.
    void by_expectation() {
        const auto key = [](const Entry& entry) {
            return std::pair(!entry.evaluated.bound, entry.expected);
        };
        std::stable_sort(entries_.begin(), entries_.end(),
                         [&](auto& a, auto& b) { return key(a) < key(b); });
    }

    /// Marks candidates that do the same work as an earlier one. Only candidates with equal
    /// expected times are compared.
    void find_same_work() {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            Entry& entry = entries_[i];
            for (std::size_t j = i; j-- > 0 && entries_[j].expected == entry.expected;) {
                if (entries_[j].repeats || !repeats(entry, entries_[j]))
                    continue;
                entry.repeats = true;
                entry.evaluated.remark = "same work as " + candidate(entries_[j]).text();
                break;
            }
        }
    }

    bool repeats(const Entry& entry, const Entry& earlier) const {
        constexpr std::int64_t worth_comparing = 4096;
        if (!entry.evaluated.bound || entry.messages > worth_comparing)
            return false;
        for (int rank = 0; rank < candidate(entry).ranks; ++rank) {
            if (!same_work(candidate(entry).program(rank), candidate(earlier).program(rank)))
                return false;
        }
        return true;
    }

    /// Predicts whole schedules, the most promising first; each prediction refines the expected
    /// times of similar candidates (kin()).
    void walk() {
        left_ = most_messages();
        std::vector<Entry*> open;
        for (Entry& entry : entries_) {
            if (!entry.repeats && entry.evaluated.bound)
                open.push_back(&entry);
        }
        while (!open.empty()) {
            most_promising_first(open);
            auto next = open.begin();
            while (next != open.end() && !consider(**next))
                ++next;
            open.erase(open.begin(), next == open.end() ? next : next + 1);
        }
    }

    void most_promising_first(std::vector<Entry*>& open) const {
        const double usual = usual_slack();
        std::vector<std::pair<Promise, Entry*>> all;
        for (Entry* entry : open)
            all.emplace_back(promise_of(*entry, usual), entry);
        std::stable_sort(all.begin(), all.end(),
                         [](auto& a, auto& b) { return a.first > b.first; });
        std::transform(all.begin(), all.end(), open.begin(), [](auto& one) { return one.second; });
    }

    /// Returns the possible gain from evaluating a candidate: per message, and in total.
    Promise promise_of(const Entry& entry, double usual_slack) const {
        const auto known = slack_.find(kin(entry));
        const double slack = known != slack_.end() ? known->second : usual_slack;
        const Seconds best = std::min(best_, 2 * entries_.front().expected);
        const Seconds gain = best - slack * entry.expected;
        const auto messages = static_cast<double>(std::max<std::int64_t>(1, entry.messages));
        return {std::max(0.0, gain) / messages, gain};
    }

    /// Returns the group of candidates that are similar to this one ("kin"): those of the same
    /// algorithm with equal largest messages. They have similar waiting times, so their predictions
    /// exceed their expected times by similar factors.
    std::pair<std::string_view, Elements> kin(const Entry& entry) const {
        return {candidate(entry).algorithm, entry.largest};
    }

    /// Returns the ratio of prediction to expected time to assume if no similar candidate was
    /// predicted. Somewhat below the median ratio; otherwise, among candidates with equal expected
    /// times, only the first group would ever be evaluated.
    double usual_slack() const {
        std::vector<double> all;
        for (const auto& [kin, slack] : slack_)
            all.push_back(slack);
        return all.empty() ? 1 : 1 + .75 * (median(all) - 1);
    }

    /// Evaluates a candidate if its lower bound is promising and the budget suffices. Returns true
    /// if it was evaluated.
    bool consider(Entry& entry) {
        if (*entry.evaluated.bound > best_ * (1 + worth_showing)) {
            entry.evaluated.remark = "not evaluated: its lower bound exceeds the best time";
        } else if (entry.messages > left_) {
            entry.evaluated.remark = "lower bound only: too many messages to evaluate";
        } else {
            left_ -= entry.messages;
            walk(entry);
            if (entry.evaluated.predicted)
                learn(entry);
            return true;
        }
        return false;
    }

    void learn(const Entry& entry) {
        const Seconds predicted = entry.evaluated.predicted->seconds;
        best_ = std::min(best_, predicted);
        if (entry.expected > 0)
            slack_[kin(entry)] = predicted / entry.expected;
    }

    /// Limits planning to milliseconds for few ranks and seconds for thousands. Bounds ignore link
    /// contention, so more messages are evaluated if the links are known and ranks are few; with
    /// many ranks, each message takes longer, and estimates select the candidates.
    std::int64_t most_messages() const {
        constexpr std::int64_t quick = 8'000, slow = 600'000;
        const std::int64_t ranks = candidates_[0].ranks,
                           more = std::max<std::int64_t>(0, ranks - many_ranks);
        const std::int64_t per_ranks = 80 * (ranks - more) + 20 * more;
        const std::int64_t usual = std::clamp(2 * ranks * ranks, quick, slow);
        const std::int64_t shared = std::min(8 * usual, std::max(8 * quick, per_ranks));
        return setting_.most_messages.value_or(setting_.wires ? shared
                                                              : std::max(usual, per_ranks));
    }

    void walk(Entry& entry) {
        try {
            entry.evaluated.predicted = predictor_.whole(candidate(entry));
        } catch (const model::CannotExpress& why) {
            entry.evaluated.bound.reset();
            entry.evaluated.remark = why.what();
        }
    }

    const std::span<const Candidate> candidates_;
    const Setting& setting_;
    Predictor predictor_;
    RoundLoads loads_;
    std::vector<Entry> entries_;
    std::int64_t left_ = 0; ///< messages that may still be evaluated
    Seconds best_ = std::numeric_limits<Seconds>::infinity();
    /// The latest ratio of prediction to expected time, by group of similar candidates.
    std::map<std::pair<std::string_view, Elements>, double> slack_;
};

} // namespace

Choice choose(std::span<const Candidate> candidates, const Setting& setting) {
    return Choosing(candidates, setting).choose();
}

namespace {

/// Returns the largest ratio of prediction to expected time.
double most_slack(const std::vector<Entry>& entries) {
    double most = 1;
    for (const Entry& entry : entries) {
        const PredictedCandidate& w = entry.evaluated;
        if (w.predicted && entry.expected > 0)
            most = std::max(most, w.predicted->seconds / entry.expected);
    }
    return most;
}

/// Returns the sort key of a candidate. Among equal predictions the one with the narrowest interval
/// comes first, then the earliest candidate.
auto place(const Entry& entry, double slack) {
    const PredictedCandidate& w = entry.evaluated;
    const int kind = !w.bound ? 3 : entry.repeats ? 2 : w.predicted ? 0 : 1;
    const model::Prediction none;
    const model::Prediction& p = w.predicted ? *w.predicted : none;
    const Seconds expected = std::max(w.bound.value_or(0), entry.expected * slack);
    return std::tuple(kind, w.predicted ? p.seconds : expected, p.high - p.low, w.candidate);
}

/// Returns the number of leading candidates whose intervals overlap that of the first one.
std::size_t rivals(const Choice& choice) {
    const Seconds high = choice.chosen().predicted->high;
    const auto apart = [&](const PredictedCandidate& w) {
        return !w.predicted || w.predicted->low > high;
    };
    const auto last = std::find_if(choice.ranking.begin() + 1, choice.ranking.end(), apart);
    return static_cast<std::size_t>(last - choice.ranking.begin());
}

int walked(const Choice& choice) {
    return static_cast<int>(
        std::count_if(choice.ranking.begin(), choice.ranking.end(),
                      [](const PredictedCandidate& w) { return w.predicted.has_value(); }));
}

} // namespace

Choice ranked(std::vector<Entry> entries, std::string_view model, std::string_view machine) {
    std::sort(entries.begin(), entries.end(), [slack = most_slack(entries)](auto& a, auto& b) {
        return place(a, slack) < place(b, slack);
    });
    Choice choice;
    choice.model = model;
    for (Entry& entry : entries)
        choice.ranking.push_back(std::move(entry.evaluated));
    if (!choice.chosen().bound)
        throw model::CannotExpress(choice.chosen().remark);
    if (choice.chosen().predicted) {
        choice.rivals = rivals(choice);
        choice.reason = reason_of(static_cast<int>(entries.size()), model, machine,
                                  static_cast<int>(choice.rivals), walked(choice));
    } else {
        choice.reason =
            fmt::format("lower bounds only: lowest of {} candidates by {} on {}; {} evaluated",
                        entries.size(), model, machine, walked(choice));
    }
    return choice;
}

std::string reason_of(int candidates, std::string_view model, std::string_view machine, int rivals,
                      int walked) {
    std::string text =
        fmt::format("fastest of {} candidates by {} on {}", candidates, model, machine);
    if (rivals > 1)
        text += fmt::format("; {} more may be as fast", rivals - 1);
    if (walked < candidates)
        text += fmt::format("; {} evaluated", walked);
    return text;
}

} // namespace sextant::planner
