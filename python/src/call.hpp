// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "running.hpp"
#include <pybind11/pybind11.h>

namespace sextant {
class StopNotices;
}

namespace sextant::python {

/// A Python function that the library called has raised an exception.
class PythonFailed : public Error {
  public:
    using Error::Error;
};

/// The number, size and samples of frames.
using FramesSummary = std::array<std::int64_t, 5>;
FramesSummary summary_of(const FrameHeader& header);
std::string text_of(const FramesSummary& frames);

/// Checks that all ranks have the same frames, according to their headers, and read the same frame
/// as an image. Collective. Throws AgreedFailure on every rank.
void require_same_frames(const Communicator& communicator, const FrameHeader& header,
                         std::int64_t frame = 0);

/// Throws InvalidTask unless `comm` is an mpi4py communicator for the MPI library of this build.
void check_comm(const pybind11::object& comm);

/// The number of times that operations of this process have checked for cancellation.
std::int64_t times_asked();

/// A call of an operation from Python. The operation runs without the GIL. Ctrl-C and exceptions of
/// Python functions that the operation calls end it on all ranks, and are then raised unchanged.
/// Other processes raise RunFailed with the text of such an exception and the rank that raised it.
///
/// Ranks are those of an mpi4py communicator or, without one, threads. With several threads, the
/// calling thread only waits and checks for signals. Otherwise the calling thread runs the rank,
/// and checks for signals whenever the operation checks for cancellation or waits for other
/// processes. In both cases it checks at most every 50 ms.
class Call {
  public:
    /// Input     a callable with the arguments part, done, all, or None; an mpi4py communicator or
    ///           None; the number of threads, which has no effect with `comm`. `has_threads`: true
    ///           if a rank has its own threads, which call Python functions.
    /// Throws    the same exceptions as check_comm().
    Call(pybind11::object progress, const pybind11::object& comm, int ranks,
         bool has_threads = false);

    /// The callbacks to pass to the operation. The operation must end before this object is
    /// destroyed.
    RunControl control();

    /// Runs `body` on every rank. Requires the GIL, and releases it while the body runs. Throws the
    /// exceptions of `body` or of a Python function, or KeyboardInterrupt.
    void run(const std::function<void(const Communicator&)>& body);

    /// Runs a part that uses Python, with the GIL, on any thread. Throws Cancelled if the part
    /// raises KeyboardInterrupt, and PythonFailed for other exceptions.
    template <class Part>
    decltype(auto) python(Part&& part) {
        const pybind11::gil_scoped_acquire gil;
        try {
            return part();
        } catch (pybind11::error_already_set& error) {
            const std::string text = keep(error);
            stop();
            if (error.matches(PyExc_KeyboardInterrupt))
                throw Cancelled();
            throw PythonFailed(text);
        }
    }

  private:
    std::string keep(const pybind11::error_already_set& error);
    void stop();
    void notify_ranks();
    bool interrupted();
    bool ends();
    std::string reason();
    void check_signals();
    void run_over_mpi(const std::function<void(const Communicator&)>& body);
    void run_threads_and_wait(const std::function<void(const Communicator&)>& body);

    const RunningCall running_;
    pybind11::object progress_;
    void* comm_ = nullptr; ///< MPI_Comm*
    int ranks_ = 1;
    bool waits_ = false; ///< the calling thread only waits
    std::thread::id caller_ = std::this_thread::get_id();
    StopNotices* notices_ = nullptr; ///< not null while the operation runs over MPI
    bool notified_ = false;
    std::atomic<bool> stops_{false};
    std::atomic<std::chrono::steady_clock::rep> checked_{0};
    std::mutex failure_mutex_;
    std::optional<pybind11::error_already_set> failure_; ///< the first Python exception
    std::string reason_; ///< the reason why this or another rank has failed; empty if interrupted
};

} // namespace sextant::python
