// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::planner {

/// Where candidates would run, and on what.
struct Setting {
    const machine::Profile& machine;
    Bytes element_size = 0;
    std::string operator_name = {}; ///< of folds
    std::string element_name = "f32";
    bool folds_at_once = false;                     ///< as in model::Question
    std::span<const model::KernelUse> kernels = {}; ///< likewise
    std::span<const int> nodes = {};                ///< likewise; of the first so many ranks
    const machine::Wires* wires = nullptr;          ///< likewise
    machine::Link within_node = machine::Link::same_node;
    double density = 1;
    bool coded = false;     ///< likewise
    bool timeline = false;  ///< as in model::Question
    std::string model = {}; ///< empty: the richest that the profile has parameters for
    /// How many messages are walked in all before the rest is ranked by bounds alone; default: what
    /// takes some ten milliseconds for 64 ranks, and a few seconds for thousands.
    std::optional<std::int64_t> most_messages = {};
};

/// A candidate, weighed.
struct Weighed {
    std::size_t candidate = 0; ///< which
    // With what passes before: Candidate::before.
    std::optional<Seconds> bound;               ///< below every prediction: model::least_time
    std::optional<model::Prediction> predicted; ///< of the whole schedule, where it was walked
    std::string remark;                         ///< why not, or what the reader should know
};

/// Candidates weighed against each other.
struct Choice {
    std::vector<Weighed> ranking; ///< the chosen first
    std::string model;            ///< that predicted
    std::string reason;           ///< for people, a line
    /// How many of the first might be as fast as the chosen: their intervals meet its own. They do
    /// different work.
    std::size_t rivals = 1;

    const Weighed& chosen() const { return ranking.front(); }
};

/// Predicts what candidates would take and chooses the fastest. First bounds, from the programs of
/// single ranks; then whole schedules, until no bound is near the best prediction or enough was
/// walked: the most promising first, by what a rank of it takes alone (alone.hpp), its messages,
/// and how far the predictions of its kin lay above that. A candidate that does what an earlier one
/// does is not walked again. Of candidates that cannot be told apart, the one with the narrower
/// interval, then the earlier.
///
/// Requires  at least one candidate. Throws model::CannotExpress where the model, or every model,
///           has no words for any of them.
/// Cost      bounds: the steps of a few ranks of each candidate; then Setting::most_messages.
/// Deterministic.
Choice choose(std::span<const Candidate> candidates, const Setting& setting);

/// A candidate that is being weighed among others.
struct Entry {
    Weighed weighed;
    Seconds expected = 0;      ///< what a rank alone is predicted to take: near it, but no bound
    std::int64_t messages = 0; ///< about so many, of all ranks
    Elements largest = 0;      ///< message of the rank that is looked at
    bool repeats = false;      ///< an earlier candidate
};

/// Orders candidates that were weighed, the best first, and says why the first was chosen and which
/// might be as fast. What was not walked is placed as if it lay above what is expected of it as far
/// as any that was; what repeats another, and what no model has words for, comes last.
///
/// Requires  one entry or more; throws model::CannotExpress if none of them has a bound.
Choice ranked(std::vector<Entry> entries, std::string_view model, std::string_view machine);

/// A line for people: the fastest of so many, which `rivals` with itself might be, by predictions
/// of so many.
std::string reason_of(int candidates, std::string_view model, std::string_view machine, int rivals,
                      int walked);

} // namespace sextant::planner
