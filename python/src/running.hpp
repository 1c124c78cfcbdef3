// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <thread>

#include <pybind11/pybind11.h>

namespace sextant::python {

/// A call, on any thread, that releases the GIL. Before the interpreter ends, it ends these calls.
/// Otherwise it would kill their threads inside C++ code when they acquire the GIL again, which
/// aborts the process. The constructor and the destructor require the GIL.
class RunningCall {
  public:
    /// Throws SystemExit, which ends a thread silently, if the interpreter is ending. The thread
    /// that ends the interpreter may still make calls.
    RunningCall();
    ~RunningCall();
    RunningCall(const RunningCall&) = delete;
    RunningCall& operator=(const RunningCall&) = delete;

    /// True if the call should end because the interpreter is ending.
    bool should_end() const;
    /// Throws SystemExit if the call should end. Requires the GIL.
    void check() const;

  private:
    std::atomic<int>* count_; ///< number of running calls of this process
    const std::thread::id caller_ = std::this_thread::get_id();
};

/// Lets the interpreter wait a few seconds for running calls before it ends.
void end_calls_at_exit();

} // namespace sextant::python
