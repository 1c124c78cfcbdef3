// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/operator.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sextant {

/// A reduction of the ranks' elements, in rank order, that is prepared once and run often: what
/// schedules are measured against.
class Reduction {
  public:
    virtual ~Reduction() = default;
    /// Input     this rank's elements, as many as prepared for.
    /// Collective.
    virtual void run(std::span<const std::byte> elements) = 0;
    /// After a run: the whole at the root, or this rank's piece i of p where there is no root.
    virtual std::span<const std::byte> result() const = 0;
};

/// A way to reduce without a schedule: one row each.
struct Baseline {
    std::string_view name;
    std::string_view summary;
    /// Input     the root, or -1 to leave the pieces where they are.
    /// Collective.
    std::unique_ptr<Reduction> (*prepare)(const Communicator& communicator, const Operator& op,
                                          Elements elements, int root);
};

/// What MPI offers: its reductions with our kernel as the user operator, and direct send as one
/// writes it over MPI_Alltoallv or with non-blocking calls. Empty where a communicator runs on
/// threads. These calls block, and may spin: for benchmarks, not for use.
std::span<const Baseline> mpi_baselines(const Communicator& communicator);

} // namespace sextant
