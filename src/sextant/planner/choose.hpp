// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/planner/plan.hpp"
#include "sextant/planner/predictor.hpp"
#include "sextant/planner/round_loads.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::planner {

/// A candidate with its predictions.
struct PredictedCandidate {
    std::size_t candidate = 0; ///< index of the candidate
    // All times include the time of preceding work (Candidate::before).
    std::optional<Seconds> bound;               ///< lower bound: model::least_time
    std::optional<model::Prediction> predicted; ///< for the whole schedule, if evaluated
    std::string remark; ///< why it was not evaluated, or a note for the reader
};

/// The result of comparing candidates.
struct Choice {
    std::vector<PredictedCandidate> ranking; ///< best first
    std::string model;                       ///< model used
    std::string reason;                      ///< one line for the user
    /// The number of leading candidates that may be fastest: the chosen one, and those whose
    /// intervals overlap its interval. No two of them do the same work.
    std::size_t rivals = 1;

    const PredictedCandidate& chosen() const { return ranking.front(); }
};

/// Predicts the time of each candidate and chooses the fastest. First computes bounds from the
/// programs of single ranks. Then evaluates whole schedules until no bound is close to the best
/// prediction or the budget is spent. The most promising candidates come first, judged by the time
/// of one of their ranks alone (predictor.hpp), the load of shared links (round_loads.hpp), their
/// number of messages, and how far predictions of similar candidates exceeded that time. A
/// candidate that does the same work as an earlier one is not evaluated again. Among candidates
/// with equal predictions, the one with the narrower interval wins, then the earlier.
///
/// Requires  at least one candidate. Throws model::CannotExpress if the model (or every model)
///           cannot describe any of them.
/// Cost      bounds: the steps of a few ranks of each candidate; with wires, the messages of some
///           candidates to estimate link contention; then Setting::most_messages.
/// Deterministic.
Choice choose(std::span<const Candidate> candidates, const Setting& setting);

/// Makes a plan from a choice.
/// Input     the configurations of the candidates; the machine's name.
template <class Configuration>
Plan<Configuration> plan_of(Choice choice, std::span<const Configuration> configurations,
                            const std::string& machine) {
    Plan<Configuration> plan{.configuration = configurations[choice.chosen().candidate],
                             .reason = std::move(choice.reason),
                             .model = std::move(choice.model),
                             .machine = machine,
                             .rivals = choice.rivals};
    plan.alternatives.reserve(choice.ranking.size());
    for (PredictedCandidate& each : choice.ranking) {
        Alternative<Configuration> made{.configuration = configurations[each.candidate],
                                        .bound = each.bound,
                                        .remark = std::move(each.remark)};
        if (const auto& predicted = each.predicted)
            made.expected = {predicted->seconds, predicted->low, predicted->high};
        plan.alternatives.push_back(std::move(made));
    }
    return plan;
}

/// The state of a candidate during the comparison.
struct Entry {
    PredictedCandidate evaluated;
    /// predicted time of one rank if it never waits, plus the estimated effect of shared links:
    /// close to the time of the whole schedule, but not a bound
    Seconds expected = 0;
    std::int64_t messages = 0; ///< approximate number over all ranks
    Elements largest = 0;      ///< largest message of the examined rank
    RoundLoads::Rounds rounds; ///< of the first examined rank, if links are shared
    bool repeats = false;      ///< does the same work as an earlier candidate
};

/// Sorts candidates, the best first, states the reason for the first, and counts those that may be
/// as fast. Candidates that were not evaluated come after those that were; they are assumed to
/// exceed their expected time by the largest factor seen among those that were. Candidates that
/// only repeat the work of earlier ones come next, and candidates that no model can describe last.
///
/// Requires  one entry or more. Throws model::CannotExpress if none has a bound.
Choice ranked(std::vector<Entry> entries, std::string_view model, std::string_view machine);

/// One line for the user: the fastest of `candidates` candidates, of which `walked` were evaluated;
/// `rivals` of them, the chosen one included, may be the fastest.
std::string reason_of(int candidates, std::string_view model, std::string_view machine, int rivals,
                      int walked);

} // namespace sextant::planner
