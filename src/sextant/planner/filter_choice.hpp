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

/// A filter program to be planned.
struct FilterQuestion {
    filtering::Task task;
    Bytes element_size = 4;
    /// The greatest number of ranks. All of them are used if the work per filter is unknown;
    /// otherwise any number up to 64, and above that each a sixteenth less than the one before.
    int ranks = 1;
    int columns = 0, rows = 0;            ///< grid of tiles; 0: to be chosen
    std::vector<std::string> collectives; ///< names to choose from; empty: all
    Seconds work = 0;                     ///< of one filter on one pixel, by one rank; 0: unknown
    std::string model = {};               ///< empty: the richest that the profile supports
    std::vector<int> nodes = {};          ///< as in model::Question
    machine::Link within_node = machine::Link::same_node;

    bool knows_work() const { return work > 0; }
    /// True if rank 0 may do everything.
    bool may_be_alone() const { return knows_work() && columns * rows <= 1; }
};

/// A configuration with the predicted times of its parts, each alone and one after another.
struct FilterCandidate {
    filtering::Way way;
    Seconds distribute = 0, exchange = 0, work = 0, collect = 0;
    /// True if `distribute` is only a lower bound: it was not evaluated, since it cannot pay.
    bool at_least = false;

    Seconds seconds() const { return distribute + exchange + work + collect; }
};

/// The location of the image between two parts of the program.
struct FilterState {
    enum class Kind { at_root, everywhere, tiles, anywhere };
    Kind kind = Kind::at_root;
    int columns = 1, rows = 1; ///< of tiles; for `everywhere`, the product is the number of ranks

    std::string text() const;
};

/// A transition between two states, repeated `times` times.
struct FilterTransition {
    FilterState from, to;
    std::string how;
    Seconds seconds = 0; ///< of one repetition
    int times = 1;
};

struct FilterChoice {
    std::string model, machine;
    std::vector<FilterCandidate> candidates; ///< fastest first
    /// Grids of fewer ranks that were not evaluated, because their lower bound exceeds the time of
    /// the fastest candidate.
    struct PassedOver {
        filtering::Way grid;
        Seconds at_least = 0;
    };
    std::vector<PassedOver> passed_over;
    /// The cheapest path through the states; it may change tiles on the way.
    std::vector<FilterTransition> path;
    Seconds path_seconds = 0;
    /// The predicted time of the first candidate's program as one schedule, in which parts overlap,
    /// plus its work; nothing if it is too large to evaluate.
    std::optional<Seconds> played;
    std::vector<std::string> remarks; ///< of the model

    const FilterCandidate& best() const { return candidates.front(); }
};

/// Chooses distribution, ranks, tiles and collectives for a whole filter program by their total
/// time. Each part is a schedule that a cost model predicts; the parts are added. Choosing part by
/// part would be wrong, since tiles whose borders are cheap to exchange may be expensive to
/// distribute and collect.
///
/// Requires  at least one valid configuration (InvalidTask); a model that can describe all parts
///           (CannotExpress).
/// Deterministic.
/// Source    the scheduler of Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 2
FilterChoice choose_filter(const FilterQuestion& question, const machine::Profile& machine);

/// A collective and its price on one grid of tiles.
struct PricedCollective {
    const collective::Algorithm* row = nullptr;
    Seconds seconds = 0;
    bool at_least = false; ///< `seconds` is a lower bound, from rank 0 alone, and already too much
};

/// The prices of all parts on one grid of tiles.
struct GridPrices {
    filtering::Way grid;
    /// Cheapest first. All-gathers and broadcasts that cannot pay have only a lower bound.
    std::vector<PricedCollective> scatter = {}, broadcast = {}, gather = {}, all_gather = {};
    std::map<Elements, Seconds> exchange = {}; ///< by margin
    Seconds work = 0;                          ///< of one filter on the largest tile

    /// The time of the exchanges of all filters.
    Seconds exchanges(const filtering::Task& task) const;
};

/// Prices the parts of filter programs by a cost model, each as a schedule of its own.
class FilterPrices {
  public:
    /// Keeps references to its arguments.
    FilterPrices(const FilterQuestion& question, const machine::Profile& machine);

    /// The predicted time of a schedule. Throws model::CannotExpress if no model can describe it.
    Seconds of(const Schedule& schedule);
    GridPrices on(const filtering::Way& grid);

    /// From the tiles of one grid to those of another.
    Seconds redistribution(const filtering::Way& from, const filtering::Way& to);

    /// A lower bound for all programs on this grid: the filters' work, and the time that rank 0
    /// alone needs to distribute and collect.
    Seconds least(const filtering::Way& grid);
    /// The time of one filter: on the largest tile, and on the whole image on rank 0.
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
