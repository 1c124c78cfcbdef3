// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>

namespace sextant::prefix {

/// Collective parts of one operation, one after another. A rank that fails in one takes part in
/// those that follow only to say so, since others wait for it there.
class Stages {
  public:
    /// What a rank does by itself.
    template <class Run>
    void alone(Run run) {
        together(run, [](const std::exception_ptr&) {});
    }

    /// What it does with others; where it failed before, `run_failed(failure)` instead.
    template <class Run, class RunFailed>
    void together(Run run, RunFailed run_failed) {
        try {
            if (failure_)
                run_failed(failure_);
            else
                run();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    /// Throws again what went wrong, if anything did.
    void rethrow() const {
        if (failure_)
            std::rethrow_exception(failure_);
    }

  private:
    std::exception_ptr failure_;
};

} // namespace sextant::prefix
