// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <string>
#include <vector>

namespace sextant::icet {

/// The times of one rank in one frame.
struct RankTimes {
    float render = 0; ///< in the draw callback
    float read = 0;   ///< packing pixels
    float wait = 0;   ///< waiting for the rank that draws last; smallest on that rank
    float composite = 0;
};

/// The frames of a run, for the page that SEXTANT_REPORT=page.html requests.
class History {
  public:
    /// `path`: the file to write; if empty, nothing is written.
    explicit History(std::string path) : path_(std::move(path)) {}
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    struct Tile {
        std::string name, plan, reason;
        Seconds predicted = 0; ///< 0 if there is no prediction
    };
    /// Adds a frame with the times of all ranks.
    void add(std::vector<RankTimes> ranks) { frames_.push_back(std::move(ranks)); }
    void add(Tile tile) { tiles_.push_back(std::move(tile)); }

    /// Returns the page: the slowest frames, with the rank that drew last, and predictions next to
    /// measurements.
    std::string page() const;

  private:
    std::string path_;
    std::vector<std::vector<RankTimes>> frames_;
    std::vector<Tile> tiles_;
};

} // namespace sextant::icet
