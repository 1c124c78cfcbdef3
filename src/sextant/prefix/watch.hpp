// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/scan/operator_times.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace sextant::prefix {

/// Throws the exception at hand again, with where it happened in front of its text: InvalidTask as
/// such, what else a user's code may throw as Error. Bugs of ours (std::logic_error) pass as they
/// are. Only within a catch.
[[noreturn]] void rethrow_with_place(const std::string& place);

/// Watches every application of an operator in a scan: which elements it combined, on which thread,
/// when; that none exceeds a time limit; and that errors name the elements. To know its elements a
/// value travels with a label, 16 bytes in front of it.
///
/// An application out of order is our bug (std::logic_error).
class Watch {
  public:
    /// Input     the operator; this rank; threads that apply it; seconds, 0 for no limit.
    Watch(Operator op, int rank, int threads, Seconds time_limit);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// On labelled values, for one of the threads.
    Operator operator_of(int thread);

    /// A run begins, now; the first of `values` is number `first` of the series. The labelled
    /// values, valid until the next run.
    std::span<const std::byte> begin(std::span<const std::byte> values, Elements first);
    /// It has ended. The results without their labels, valid until the next run.
    std::span<const std::byte> end(std::span<const std::byte> labelled);

    /// The applications of the last run, thread by thread.
    std::vector<scan::Bar> bars() const;
    /// When the last run began, on the clock of this host.
    Seconds origin() const;

  private:
    using Clock = std::chrono::steady_clock;

    struct Worker {
        std::vector<scan::Bar> bars;
        std::optional<scan::Application> under_way;
        Clock::time_point since;
    };

    void fold(int thread, FoldFunction::Sources sources, std::byte* to, Elements elements);
    void apply(int thread, const std::byte* left, const std::byte* right, std::byte* to);
    void set_under_way(Worker& worker, std::optional<scan::Application> what);
    void look_out();
    void complain_of(const Worker& worker, int thread) const;

    const Operator operator_;
    const std::size_t size_; ///< of a value
    const int rank_;
    const Seconds time_limit_;
    std::vector<Worker> workers_;
    Memory values_, results_;
    Clock::time_point start_;

    std::mutex mutex_; ///< of what is under way
    std::condition_variable ended_;
    bool ends_ = false;
    std::thread lookout_; ///< where there is a limit
};

} // namespace sextant::prefix
