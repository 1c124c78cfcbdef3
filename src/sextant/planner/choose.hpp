// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/candidate.hpp"

#include <optional>
#include <span>
#include <string>
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

} // namespace sextant::planner
