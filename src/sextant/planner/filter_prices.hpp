// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/planner/filter_choice.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sextant::planner {

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
