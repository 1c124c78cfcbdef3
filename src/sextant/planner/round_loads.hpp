// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/planner/predictor.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sextant::planner {

/// Estimates the time that shared links add to candidates, without a replay: in each round, the
/// time of the busiest link beyond the time that one rank's own messages need on their links.
/// Rounds of candidates in which this rank has the same messages are assumed to be equal, so that
/// the rounds of many candidates are computed once. An estimate, not a bound.
class RoundLoads {
  public:
    /// Keeps a reference to the setting, which must have wires.
    explicit RoundLoads(const Setting& setting) : setting_(setting) {}

    /// The rounds of a candidate, seen from one rank. Rounds in which the rank sends nothing that
    /// it has received count as one with the round before.
    struct Rounds {
        std::vector<int> group_of; ///< [round]: index into the following lists
        std::vector<std::uint64_t> keys;
        std::vector<Seconds> own; ///< time of the rank's own messages on their busiest link
    };
    Rounds rounds_of(const Candidate& candidate, const Program& program, int rank) const;

    /// The estimate; empty until each round was loaded with this candidate or a similar one.
    std::optional<Seconds> added(const Rounds& rounds) const;

    /// Computes the busiest link of each of the candidate's rounds.
    /// Cost      the messages of all ranks times the links of their paths; the memory of one
    ///           program, and 16 bytes per link and round.
    void load(const Candidate& candidate, const Rounds& rounds);

  private:
    struct Load {
        double bytes = 0;
        int messages = 0;
    };
    double bytes_of(const Program& program, const Step& message) const;

    const Setting& setting_;
    std::map<std::uint64_t, Seconds> busiest_; ///< [key]: time of the busiest link
};

} // namespace sextant::planner
