// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/filter/filter_plan.hpp"
#include "sextant/machine/profile.hpp"

#include <vector>

namespace sextant::distributed {

/// The configurations that a task allows on a machine: grids for at most the task's number of ranks
/// (for exactly that number if the profile has no time for the filter kernel); scatters or
/// broadcasts if rank 0 has the image; gathers, or planes sent directly to rank 0; strided messages
/// as datatypes or (if the profile has copy rates) packed; and changes of tiles between filters.
/// For boxes of a volume that are not whole planes, only the first distribution is tried, and
/// results are sent directly.
class FilterConfigurations {
  public:
    /// Both arguments must outlive this object. Throws InvalidTask for an unknown distribution.
    FilterConfigurations(const FilterTask& task, const machine::Profile& machine);

    /// Returns every grid with every collective, for the task's number of ranks, half of this
    /// number, a quarter and so on, and for every number of ranks up to 8.
    std::vector<filtering::Configuration> first() const;
    /// Returns every grid, with the collectives of `best`, for some numbers of ranks between that
    /// of `best` and the next smaller and larger numbers in `known`. Returns nothing if `known`
    /// contains all numbers in between.
    /// Output    `known`: the numbers of ranks tried so far. The new numbers are added; if `known`
    ///           is empty, those of first() are added first.
    std::vector<filtering::Configuration> of_other_ranks(const filtering::Configuration& best,
                                                         std::vector<int>& known) const;
    /// Returns the variants of `configuration` in which consecutive filters use the tiles of one of
    /// `grids`, which have the same number of ranks. If these filters include the first or the last
    /// one, the variant also uses the grid's collective there.
    std::vector<filtering::Configuration>
    retiled(const filtering::Configuration& configuration,
            const std::vector<filtering::Configuration>& grids) const;

  private:
    void add(std::vector<filtering::Configuration>& configurations,
             const filtering::Configuration& grid) const;
    bool weighs_ranks() const;
    std::vector<filtering::Configuration> grids_of(int ranks) const;

    const FilterTask& task_;
    const machine::Profile& machine_;
    /// A null entry means that each rank reads its own tile.
    const std::vector<const collective::Algorithm*> distributions_;
};

/// Returns the collectives that the task allows for distribution; null means that each rank reads
/// its own tile.
std::vector<const collective::Algorithm*> distributions_of(const FilterTask& task);

} // namespace sextant::distributed
