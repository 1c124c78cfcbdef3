// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/lab/tuning_rules.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

// MPI's own algorithms for collective operations. Algorithms are selected one by one through MPI's
// tool interface (MPI_T), so that one launch measures all of them in turn.
namespace sextant::lab {

/// Allows the selection of algorithms when Open MPI creates a communicator. Must be called before
/// MPI is initialised.
void allow_mpi_algorithms();

/// Returns the algorithms that this MPI has for an operation; algorithms that divide messages are
/// listed with several segment sizes.
/// Throws    InvalidTask, with the reason, if the algorithms of this MPI cannot be selected.
std::vector<MpiAlgorithm> mpi_algorithms(const TunedOperation& operation);

/// A collective operation of MPI with a selected algorithm.
class MpiOperation {
  public:
    /// Input     the algorithm; with number 0, MPI chooses the algorithm.
    /// Collective.
    MpiOperation(const Communicator& communicator, const TunedOperation& operation,
                 const MpiAlgorithm& algorithm);
    MpiOperation(MpiOperation&&) noexcept;
    MpiOperation& operator=(MpiOperation&&) = delete;
    ~MpiOperation();

    /// Runs the operation with rank 0 as root. `size` is the number of bytes of the message, or of
    /// the block of a rank or pair of ranks. Reductions add floats. A broadcast uses only
    /// `receive`.
    /// Throws    CommunicationFailed with MPI's error; some algorithms need two ranks, for example.
    /// Collective.
    void run(Bytes size, std::span<const std::byte> send, std::span<std::byte> receive) const;

    /// Returns false if this rank finds that a reduction does not respect the order of ranks. MPI
    /// requires this order for operators that do not commute, but some algorithms violate it.
    /// Collective.
    bool keeps_order(Bytes size) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace sextant::lab
