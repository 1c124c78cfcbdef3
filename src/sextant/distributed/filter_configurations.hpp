// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/filter_plan.hpp"
#include "sextant/machine/profile.hpp"

#include <vector>

namespace sextant::distributed {

/// The configurations allowed by a task on a machine: grids for up to this many ranks (exactly as
/// many if the profile has no time for the filter kernel); scatters or broadcasts if rank 0 has the
/// image; gathers, or sending planes directly to rank 0; strided messages as datatypes or packed
/// (if the profile has copy rates); and changes of tiles between filters.
class FilterConfigurations {
  public:
    /// Both must outlive this. Throws InvalidTask for an unknown distribution.
    FilterConfigurations(const FilterTask& task, const machine::Profile& machine);

    /// Every grid with every collective, for all ranks, half, a quarter and so on, and any number
    /// up to 8.
    std::vector<filtering::Configuration> first() const;
    /// Every grid, with the collectives of `best`, for some numbers of ranks between the best and
    /// its known neighbours. Empty if all of these are known.
    /// Output    `known`: the numbers tried are added; if empty, those of `first` are added before.
    std::vector<filtering::Configuration> of_other_ranks(const filtering::Configuration& best,
                                                         std::vector<int>& known) const;
    /// `configuration` with any sequence of filters moved to the tiles of any of `grids`, which
    /// have as many ranks. If the sequence contains the first or the last filter, it also takes the
    /// grid's collectives.
    std::vector<filtering::Configuration>
    retiled(const filtering::Configuration& configuration,
            const std::vector<filtering::Configuration>& grids) const;

  private:
    void add(std::vector<filtering::Configuration>& configurations,
             const filtering::Configuration& grid) const;
    bool weighs_ranks() const;

    const FilterTask& task_;
    const machine::Profile& machine_;
    const std::vector<const collective::Algorithm*> distributions_; ///< null: each reads its own
};

/// The collectives that the task allows for distribution; null means that each rank reads its tile.
std::vector<const collective::Algorithm*> distributions_of(const FilterTask& task);

} // namespace sextant::distributed
