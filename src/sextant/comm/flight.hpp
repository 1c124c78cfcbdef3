// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"

#include <exception>
#include <vector>

namespace sextant {

/// The runs that are under way on this rank at once. Whoever waits for one moves all of them, so
/// that ranks may wait in different orders and none holds up the others.
///
/// Executions under way at once must be on communicators of their own (Communicator::split): their
/// messages would be taken for each other's. They must outlive their runs, and be started in one
/// order on all ranks that share any two of them. Not for several threads.
class Flight {
  public:
    /// Execution::start and start_failed.
    void start(Execution& execution);
    void start_failed(Execution& execution, std::exception_ptr failure);
    /// Moves all that is under way, without waiting; whether this one's run is over.
    bool ready(Execution& execution);
    /// Until its run is over; then Execution::finish.
    void wait(Execution& execution);
    /// Execution::abandon.
    void abandon(Execution& execution);

  private:
    bool advance_all();

    std::vector<Execution*> under_way_;
};

} // namespace sextant
