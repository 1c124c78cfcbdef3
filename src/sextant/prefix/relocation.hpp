// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/scan/series.hpp"

#include <exception>
#include <span>

namespace sextant::prefix {

/// Carries the values of a series to the ranks that scan them, and the results back: see
/// scan/redistribution.hpp.
class Relocation {
  public:
    /// Input     how many values lie at each rank; how many each scans; the operator, for the size
    ///           of an element.
    Relocation(const Communicator& communicator, const scan::Series& lies,
               const scan::Series& scanned, const Operator& op);

    /// Output    valid until the next run. Both are collective, and throw PeerFailed where a rank
    ///           that values come from failed.
    std::span<const std::byte> there(std::span<const std::byte> values);
    std::span<const std::byte> back(std::span<const std::byte> results);

    /// Instead, on a rank that failed before: throws its failure again. Collective.
    void there_failed(std::exception_ptr failure) { there_.run_failed(std::move(failure)); }
    void back_failed(std::exception_ptr failure) { back_.run_failed(std::move(failure)); }

  private:
    Execution there_, back_;
};

} // namespace sextant::prefix
