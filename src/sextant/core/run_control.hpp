// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

namespace sextant {

/// A long operation was cancelled by its caller (RunControl::cancelled). Thrown on every rank; the
/// communicator stays usable, and no output is left.
class Cancelled : public Error {
  public:
    Cancelled() : Error("cancelled") {}
};

/// Callbacks to follow and to cancel a long operation. Both may be empty.
struct RunControl {
    /// Called on rank 0 with the name of a part of the work and its progress: `done` of `all`
    /// steps.
    std::function<void(std::string_view part, std::int64_t done, std::int64_t all)> progress = {};
    /// Called on every rank between steps of the work, by the thread that runs the operation. If it
    /// returns true on any rank, the operation throws Cancelled on every rank.
    std::function<bool()> cancelled = {};

    /// Throws Cancelled if the caller cancelled the operation on this rank; agree()
    /// (comm/agreement.hpp) then throws it on all ranks.
    void check() const {
        if (cancelled && cancelled())
            throw Cancelled();
    }
    void report(std::string_view part, std::int64_t done, std::int64_t all) const {
        if (progress)
            progress(part, done, all);
    }
};

/// Adds the run time of a part of an operation to `sum`.
template <class Part>
void timed(Seconds& sum, Part&& part) {
    const auto begin = std::chrono::steady_clock::now();
    part();
    sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Cancellation within the steps of an operation: long loops call check_cancelled() without knowing
// to which operation they belong.

/// The state that check_cancelled() uses on a thread.
struct Cancellation {
    const RunControl* control = nullptr; ///< null: the operation cannot be cancelled
    /// True where a failure is reported to all ranks (agree()). Elsewhere nothing may be thrown,
    /// because other ranks would wait for this one.
    bool may_throw = false;
    std::mutex* one_at_a_time = nullptr; ///< held during calls of `control`; null: one thread
    Elements work = 0;                   ///< operations since the last call of `control`
};

/// The cancellation state of this thread.
Cancellation& cancellation_here();

/// Sets the cancellation state of this thread while this object exists.
class CancellationScope {
  public:
    explicit CancellationScope(const Cancellation& cancellation);
    /// Makes an operation on this number of ranks cancellable. A single rank may throw anywhere.
    /// Keeps a reference.
    CancellationScope(const RunControl& control, int ranks)
        : CancellationScope(Cancellation{&control, ranks == 1}) {}
    ~CancellationScope();
    CancellationScope(const CancellationScope&) = delete;
    CancellationScope& operator=(const CancellationScope&) = delete;

  private:
    Cancellation outer_;
};

/// The number of operations after which check_cancelled() calls RunControl::cancelled.
inline constexpr Elements much_work = Elements{1} << 16;

/// Called by long loops. `work`: the operations since the last call, such as the samples of a row.
/// Throws    Cancelled if the caller cancelled the operation.
/// Cost      an addition; after `much_work`, a call of RunControl::cancelled.
void check_cancelled(Elements work);

} // namespace sextant
