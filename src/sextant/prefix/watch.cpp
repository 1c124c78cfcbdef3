// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/watch.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::prefix {

void rethrow_with_place(const std::string& place) {
    try {
        throw;
    } catch (const std::logic_error&) {
        throw;
    } catch (const Cancelled&) {
        throw;
    } catch (const InvalidData& error) {
        throw InvalidData(place + ": " + error.what());
    } catch (const InvalidTask& error) {
        throw InvalidTask(place + ": " + error.what());
    } catch (...) {
        throw Error(place + ": " + text_of_current_exception());
    }
}

namespace {

using scan::Application;
using scan::Interval;

constexpr std::size_t label_size = sizeof(Interval);

std::string elements_of(const Application& what) {
    return fmt::format("elements {} to {} with {} to {}", what.first, what.middle - 1, what.middle,
                       what.last - 1);
}

Interval label_of(const std::byte* slot) {
    Interval label;
    std::memcpy(&label, slot, label_size);
    return label;
}

} // namespace

OrderCheck::OrderCheck(Operator op, int rank, int threads, Seconds time_limit)
    : operator_(std::move(op)),
      size_(static_cast<std::size_t>(operator_.element.size)),
      rank_(rank),
      time_limit_(time_limit),
      workers_(static_cast<std::size_t>(threads)) {
    if (time_limit_ > 0)
        lookout_ = std::thread([this] { look_out(); });
}

OrderCheck::~OrderCheck() {
    if (!lookout_.joinable())
        return;
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    ended_.notify_all();
    lookout_.join();
}

Operator OrderCheck::operator_of(int thread) {
    Operator watched = operator_;
    watched.element.size += static_cast<Bytes>(label_size);
    watched.exact_when_split = false;
    watched.fold = [this, thread](FoldFunction::Sources sources, std::byte* to, Elements elements) {
        fold(thread, sources, to, elements);
    };
    return watched;
}

std::span<const std::byte> OrderCheck::begin(std::span<const std::byte> values, Elements first) {
    const std::size_t count = size_ > 0 ? values.size() / size_ : 0;
    const std::size_t rest = values.size() - count * size_; // 0 unless the size is invalid
    values_ = Memory(static_cast<Bytes>(count * (size_ + label_size) + rest));
    for (std::size_t i = 0; i < count; ++i) {
        const Interval label{first + static_cast<Elements>(i),
                             first + static_cast<Elements>(i) + 1};
        std::byte* const slot = values_.data() + i * (size_ + label_size);
        std::memcpy(slot, &label, label_size);
        std::memcpy(slot + label_size, values.data() + i * size_, size_);
    }
    for (Worker& worker : workers_)
        worker.bars.clear();
    start_ = Clock::now();
    return values_.bytes();
}

std::span<const std::byte> OrderCheck::end(std::span<const std::byte> labelled) {
    const std::size_t count = labelled.size() / (size_ + label_size);
    results_ = Memory(static_cast<Bytes>(count * size_));
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(results_.data() + i * size_,
                    labelled.data() + i * (size_ + label_size) + label_size, size_);
    }
    return results_.bytes();
}

std::vector<scan::Bar> OrderCheck::bars() const {
    std::vector<scan::Bar> all;
    for (const Worker& worker : workers_)
        all.insert(all.end(), worker.bars.begin(), worker.bars.end());
    return all;
}

Seconds OrderCheck::origin() const {
    return std::chrono::duration<double>(start_.time_since_epoch()).count();
}

void OrderCheck::fold(int thread, FoldFunction::Sources sources, std::byte* to, Elements elements) {
    std::vector<std::byte> sum; // needed because `to` may be one of the sources
    for (std::size_t at = 0; at < static_cast<std::size_t>(elements) * (size_ + label_size);
         at += size_ + label_size) {
        if (sources.size() == 1) {
            std::memmove(to + at, sources[0] + at, size_ + label_size);
            continue;
        }
        if (sources.size() == 2) {
            apply(thread, sources[0] + at, sources[1] + at, to + at);
            continue;
        }
        sum.assign(sources[0] + at, sources[0] + at + size_ + label_size);
        for (const std::byte* source : sources.subspan(1))
            apply(thread, sum.data(), source + at, sum.data());
        std::memcpy(to + at, sum.data(), sum.size());
    }
}

void OrderCheck::apply(int thread, const std::byte* left, const std::byte* right, std::byte* to) {
    const Interval a = label_of(left), b = label_of(right);
    if (a.last != b.first) {
        throw std::logic_error(fmt::format("rank {} combines elements [{}, {}) with [{}, {})",
                                           rank_, a.first, a.last, b.first, b.last));
    }
    Worker& worker = workers_[static_cast<std::size_t>(thread)];
    const Application what{a.first, a.last, b.last};
    const auto begin = Clock::now();
    set_under_way(worker, what);
    const std::array operands = {left + label_size, right + label_size};
    try {
        operator_.fold(operands, to + label_size, 1);
    } catch (...) {
        set_under_way(worker, std::nullopt);
        rethrow_with_place("combining " + elements_of(what));
    }
    set_under_way(worker, std::nullopt);
    const Interval label{a.first, b.last};
    std::memcpy(to, &label, label_size);
    const auto since = [this](Clock::time_point time) {
        return std::chrono::duration<double>(time - start_).count();
    };
    worker.bars.push_back({rank_, thread, what, since(begin), since(Clock::now())});
}

void OrderCheck::set_under_way(Worker& worker, std::optional<Application> what) {
    if (time_limit_ <= 0)
        return;
    const std::lock_guard lock(mutex_);
    worker.under_way = what;
    worker.since = Clock::now();
}

void OrderCheck::look_out() {
    const std::chrono::duration<double> limit(time_limit_);
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, std::min(limit / 4, std::chrono::duration<double>(.1)),
                            [this] { return ends_; })) {
        for (std::size_t thread = 0; thread < workers_.size(); ++thread) {
            const Worker& worker = workers_[thread];
            if (worker.under_way && Clock::now() - worker.since > limit)
                complain_of(worker, static_cast<int>(thread));
        }
    }
}

/// Ends the process, because a running operator cannot be stopped and other ranks wait for this
/// rank.
void OrderCheck::complain_of(const Worker& worker, int thread) const {
    std::fputs(
        fmt::format("sextant: rank {}, thread {}: combining {} takes longer than the limit of "
                    "{} s\n",
                    rank_, thread, elements_of(*worker.under_way), time_limit_)
            .c_str(),
        stderr);
    std::fflush(stderr);
    std::_Exit(1);
}

} // namespace sextant::prefix
