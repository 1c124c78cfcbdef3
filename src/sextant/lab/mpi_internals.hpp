// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/mpi.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/lab/mpi_baselines.hpp"

#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

namespace sextant::lab {

/// An operator for MPI's reductions: an MPI_Op, and the datatype of an element. An attribute of the
/// datatype stores the operator, which must outlive this object.
class MpiUserOperator {
  public:
    explicit MpiUserOperator(const Operator& op);
    MpiUserOperator(const MpiUserOperator&) = delete;
    MpiUserOperator& operator=(const MpiUserOperator&) = delete;
    ~MpiUserOperator();

    MPI_Op op() const { return op_; }
    MPI_Datatype element() const { return element_; }

  private:
    MPI_Op op_ = MPI_OP_NULL;
    MPI_Datatype element_ = MPI_DATATYPE_NULL;
};

/// The sizes and offsets of an image's tiles, in elements, as MPI's collectives need them.
struct TileList {
    std::vector<int> counts, offsets;

    explicit TileList(const Grid& grid) {
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Tile each = tile(grid, rank);
            counts.push_back(static_cast<int>(each.elements()));
            offsets.push_back(each.elements() > 0 ? static_cast<int>(each.y * grid.width + each.x)
                                                  : 0);
        }
    }
};

/// Base class of the baselines of collectives: communicator, grid and receive buffer.
class MpiCollective : public PreparedCollective {
  public:
    MpiCollective(const Communicator& communicator, const Grid& grid)
        : comm_(to_mpi(communicator)),
          rank_(communicator.rank()),
          grid_(grid),
          pixels_(grid.width * grid.height),
          tiles_(grid),
          own_(tiles_.counts[static_cast<std::size_t>(rank_)]) {}

    std::span<const std::byte> result() const override { return received_.bytes(); }

  protected:
    bool is_root() const { return rank_ == 0; }
    void expect(Bytes bytes) { received_ = Memory(bytes); }
    /// The size of every tile, if all are equal.
    int count_of_any() const { return tiles_.counts[0]; }

    const MPI_Comm comm_;
    const int rank_;
    const Grid grid_;
    const Elements pixels_;
    const TileList tiles_;
    const int own_; ///< the size of this rank's tile
    Memory received_;
};

/// Moves tiles between rank 0's image and all ranks by MPI_Alltoallw with one datatype per tile:
/// the only MPI collective that supports tiles of different shapes.
std::unique_ptr<PreparedCollective> scatter_by_alltoallw(const Communicator& communicator,
                                                         const Grid& grid);
std::unique_ptr<PreparedCollective> gather_by_alltoallw(const Communicator& communicator,
                                                        const Grid& grid);

} // namespace sextant::lab
