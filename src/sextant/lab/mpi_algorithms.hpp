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

// MPI's own algorithms for collective operations, selected one by one through MPI's interface for
// tools (MPI_T), so that one launch times all of them in turn.
namespace sextant::lab {

/// Lets Open MPI select algorithms when a communicator is made. Must be called before MPI is
/// initialised.
void allow_mpi_algorithms();

/// The algorithms that this MPI has for an operation, each with several sizes of segments if it
/// divides messages.
/// Throws    InvalidTask, which states why, if this MPI does not let its algorithms be selected.
std::vector<MpiAlgorithm> mpi_algorithms(const TunedOperation& operation);

/// A collective operation of MPI with a selected algorithm.
class MpiOperation {
  public:
    /// Input     the algorithm; number 0 leaves the choice to MPI, and selects nothing.
    /// Collective.
    MpiOperation(const Communicator& communicator, const TunedOperation& operation,
                 const MpiAlgorithm& algorithm);
    MpiOperation(MpiOperation&&) noexcept;
    MpiOperation& operator=(MpiOperation&&) = delete;
    ~MpiOperation();

    /// Runs the operation with rank 0 as root. `size` is the number of bytes of the message, or of
    /// the block of a rank or pair of ranks. Operations that combine add floats. A broadcast uses
    /// only `receive`.
    /// Throws    CommunicationFailed with MPI's error: some algorithms need two ranks, for example.
    /// Collective.
    void run(Bytes size, std::span<const std::byte> send, std::span<std::byte> receive) const;

    /// False if this rank finds that an operation that combines does not respect the order of
    /// ranks, as MPI requires for operators that do not commute. Some algorithms do not.
    /// Collective.
    bool keeps_order(Bytes size) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace sextant::lab
