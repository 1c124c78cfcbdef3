// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/filter_plan.hpp"
#include "sextant/machine/profile.hpp"

#include <vector>

namespace sextant::distributed {

/// The ways that a task leaves open on a machine: grids of so many ranks or fewer (of all of them
/// where the profile does not know what filters take), scatters or broadcasts where rank 0 has the
/// image, gathers and sending planes straight to rank 0, strided messages as datatypes and packed
/// (where the profile knows what copies take), and other tiles for some of several filters.
class FilterWays {
  public:
    /// Both must outlive this.
    /// Throws InvalidTask where there is no such distribution.
    FilterWays(const FilterTask& task, const machine::Profile& machine);

    /// Of all ranks, half, a quarter and so on, and of any few: every grid with every collective.
    std::vector<filtering::Way> first() const;
    /// Of some numbers of ranks between the best way's and those next to it that are known: every
    /// grid with the collectives of that way. Nothing where all of these are known.
    /// Output    `known`: these too; of none, first those of `first`.
    std::vector<filtering::Way> of_other_ranks(const filtering::Way& best,
                                               std::vector<int>& known) const;
    /// As this way, but for a stretch of the filters, which has other tiles, each of a grid of
    /// `grids` that has as many. Where the first filter's change, or the last one's, with the
    /// collectives that these grids have.
    std::vector<filtering::Way> retiled(const filtering::Way& way,
                                        const std::vector<filtering::Way>& grids) const;

  private:
    void add(std::vector<filtering::Way>& ways, const filtering::Way& grid) const;
    bool weighs_ranks() const;

    const FilterTask& task_;
    const machine::Profile& machine_;
    const std::vector<const collective::Algorithm*> distributions_; ///< null: each reads its own
};

/// Rows of collectives that a task takes to distribute; null where each rank reads its own.
std::vector<const collective::Algorithm*> distributions_of(const FilterTask& task);

} // namespace sextant::distributed
