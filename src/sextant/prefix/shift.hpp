// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/units.hpp"
#include "sextant/scan/strategies.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace sextant::prefix {

/// Shifts a series of values that is distributed over the ranks of a communicator by one position:
/// position i receives value i − 1, and the last value is dropped (scan/shift.hpp).
class Shift {
  public:
    /// Input     the number of this rank's values, 0 or more; bytes per value.
    /// Requires  the same size on all ranks. If anything fails on any rank, every rank throws
    ///           AgreedFailure.
    /// Collective.
    Shift(Communicator communicator, Elements values, Bytes size);

    /// Input     this rank's values, contiguous.
    /// Output    the values that precede them: as many, but one less on the first rank that has
    ///           values. Valid until the next run.
    /// Throws    AgreedFailure on every rank if a rank passes a different number of bytes.
    /// Collective.
    std::span<const std::byte> run(std::span<const std::byte> values);

    /// The position of this rank's first value in the series.
    Elements first() const { return first_; }
    /// True if this rank has the first value of the series.
    bool leads() const { return values_ > 0 && first_ == 0; }
    /// The number of values that a run returns.
    Elements received() const { return leads() ? values_ - 1 : values_; }

  private:
    void check_and_run(std::span<const std::byte> values);

    Communicator communicator_;
    Elements values_, first_ = 0;
    Bytes size_;
    std::optional<Execution> execution_;
};

} // namespace sextant::prefix
