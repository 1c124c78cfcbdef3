// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/filtering/filter_task.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/model/model.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sextant::planner {

/// A whole program of filters to be planned.
struct FilterQuestion {
    filtering::Task task;
    Bytes element_size = 4;
    /// At most so many ranks; all of them where nothing is known of the filter's own work.
    /// Otherwise any number of up to 64, of more each a sixteenth less than the one before.
    int ranks = 1;
    int columns = 0, rows = 0;            ///< of tiles; 0: to be chosen
    std::vector<std::string> collectives; ///< to choose from, by name; empty: every one
    Seconds work = 0;                     ///< of one filter on one pixel, by one rank; 0: unknown
    std::string model = {};               ///< empty: the richest that the profile feeds
    std::vector<int> nodes = {};          ///< as in model::Question
    machine::Link within_node = machine::Link::same_node;

    bool knows_work() const { return work > 0; }
    /// Whether rank 0 might do everything.
    bool may_be_alone() const { return knows_work() && columns * rows <= 1; }
};

/// A way to do it, with what its parts are predicted to take: alone, one after another.
struct FilterCandidate {
    filtering::Way way;
    Seconds distribute = 0, exchange = 0, work = 0, collect = 0;
    /// It takes at least that: distributing was not walked, since it cannot pay.
    bool at_least = false;

    Seconds seconds() const { return distribute + exchange + work + collect; }
};

/// Where the image is between two parts of the program.
struct FilterState {
    enum class Kind { at_root, everywhere, tiles, anywhere };
    Kind kind = Kind::at_root;
    int columns = 1, rows = 1; ///< of tiles; everywhere: columns × 1 are the ranks

    std::string text() const;
};

/// What brings it from one state to another, so many times.
struct FilterTransition {
    FilterState from, to;
    std::string how;
    Seconds seconds = 0; ///< once
    int times = 1;
};

struct FilterChoice {
    std::string model, machine;
    std::vector<FilterCandidate> candidates; ///< the fastest first
    /// Grids of fewer ranks of which nothing was walked: what must be done alone takes longer than
    /// the fastest.
    struct PassedOver {
        filtering::Way grid;
        Seconds at_least = 0;
    };
    std::vector<PassedOver> passed_over;
    /// The cheapest path through the states, which may change tiles on the way.
    std::vector<FilterTransition> path;
    Seconds path_seconds = 0;
    /// The program of the first candidate as one schedule, in which parts overlap, with its work
    /// added; nothing where it has too many messages to be walked.
    std::optional<Seconds> played;
    std::vector<std::string> remarks; ///< of the model

    const FilterCandidate& best() const { return candidates.front(); }
};

/// Chooses distribution, ranks, tiles and collectives for a whole program of filters by what they
/// take together. Every part, as a schedule, is predicted by a cost model; parts are added. One
/// part at a time would be chosen wrongly: tiles whose borders are cheap to exchange may be dear to
/// distribute and collect.
///
/// Requires  at least one way (InvalidTask); a model with words for all parts (CannotExpress).
/// Deterministic.
/// Source    the scheduler of Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 2
FilterChoice choose_filter(const FilterQuestion& question, const machine::Profile& machine);

/// A collective with its price on some tiles.
struct PricedCollective {
    const collective::Algorithm* row = nullptr;
    Seconds seconds = 0;
    bool at_least = false; ///< the price of rank 0 alone, which is more than the rest is worth
};

/// What parts take on one grid of tiles.
struct GridPrices {
    filtering::Way grid;
    /// The cheapest first; of all-gathers and broadcasts those that cannot pay by a bound.
    std::vector<PricedCollective> scatter = {}, broadcast = {}, gather = {}, all_gather = {};
    std::map<Elements, Seconds> exchange = {}; ///< by margin
    Seconds work = 0;                          ///< of one filter, the largest tile

    /// Of all filters.
    Seconds exchanges(const filtering::Task& task) const;
};

/// What parts of programs of filters take, by a cost model, each as a schedule of its own.
class FilterPrices {
  public:
    /// Both must outlive this.
    FilterPrices(const FilterQuestion& question, const machine::Profile& machine);

    /// Throws model::CannotExpress where no model has words for it.
    Seconds of(const Schedule& schedule);
    GridPrices on(const filtering::Way& grid);

    /// From tiles of one grid to those of another.
    Seconds redistribution(const filtering::Way& from, const filtering::Way& to);

    /// No program on this grid takes less: filters' work, and what rank 0 does alone to distribute
    /// and to collect.
    Seconds least(const filtering::Way& grid);
    /// Of one filter, the largest tile; of an image on rank 0.
    Seconds work_on(const filtering::Way& grid) const;
    Seconds work_alone() const;

    std::string model() const { return model_ ? std::string(model_->name) : question_.model; }
    std::vector<std::string> remarks() const { return {remarks_.begin(), remarks_.end()}; }

  private:
    model::Prediction predict(const model::Model& model, const Schedule& schedule,
                              std::span<const int> nodes) const;
    std::span<const int> first_nodes(std::size_t ranks) const;
    void find_model(const Schedule& schedule);
    Seconds least(const collective::Algorithm& row, const Grid& grid);
    Seconds least(std::initializer_list<Collective> kinds, const Grid& grid);
    std::vector<const collective::Algorithm*> rows(Collective what) const;
    std::vector<PricedCollective> price(Collective what, const Grid& grid, Seconds worth);

    const machine::Profile& machine_;
    const FilterQuestion& question_;
    const filtering::Task& task_;
    const model::Model* model_ = nullptr;
    std::set<std::string> remarks_;
};

} // namespace sextant::planner
