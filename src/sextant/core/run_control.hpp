// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
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

} // namespace sextant
