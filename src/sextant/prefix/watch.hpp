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

/// Rethrows the current exception with `place` in front of its text: InvalidTask as InvalidTask,
/// other exceptions of user code as Error. Internal errors (std::logic_error) and Cancelled are
/// rethrown unchanged. Call only within a catch block.
[[noreturn]] void rethrow_with_place(const std::string& place);

/// Records every application of an operator in a scan (elements, thread, time), enforces the time
/// limit, and adds the element range to errors. A label of 16 bytes in front of each value
/// identifies its elements.
///
/// Throws std::logic_error if an application is out of order, which is an internal error.
class OrderCheck {
  public:
    /// Input     the operator; this rank; the number of threads that apply it; the limit in
    ///           seconds, 0 for none.
    OrderCheck(Operator op, int rank, int threads, Seconds time_limit);
    ~OrderCheck();
    OrderCheck(const OrderCheck&) = delete;
    OrderCheck& operator=(const OrderCheck&) = delete;

    /// Returns the operator on labelled values for a thread.
    Operator operator_of(int thread);

    /// Starts a run. The first of `values` is element `first` of the series. Returns the labelled
    /// values, valid until the next run.
    std::span<const std::byte> begin(std::span<const std::byte> values, Elements first);
    /// Ends the run. Returns the results without their labels, valid until the next run.
    std::span<const std::byte> end(std::span<const std::byte> labelled);

    /// The applications of the last run, thread by thread.
    std::vector<scan::Bar> bars() const;
    /// The start of the last run on the clock of this host.
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
    const std::size_t size_; ///< bytes per value
    const int rank_;
    const Seconds time_limit_;
    std::vector<Worker> workers_;
    Memory values_, results_;
    Clock::time_point start_;

    std::mutex mutex_; ///< protects Worker::under_way
    std::condition_variable ended_;
    bool ends_ = false;
    std::thread lookout_; ///< runs only if there is a time limit
};

} // namespace sextant::prefix
