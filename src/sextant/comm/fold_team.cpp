// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/fold_team.hpp"

#include "sextant/comm/waiting.hpp"

#include <algorithm>
#include <utility>

namespace sextant {

namespace {

/// The least that a thread is woken for.
constexpr Bytes smallest_part = Bytes{16} << 10;

/// Until a value is no longer `old`; slices follow one another within microseconds.
template <class Value>
void wait_while(const std::atomic<Value>& value, Value old) {
    constexpr int patience = 2000;
    for (int i = 0; i < patience; ++i) {
        if (value.load(std::memory_order_acquire) != old)
            return;
        pause_briefly();
    }
    value.wait(old, std::memory_order_acquire);
}

} // namespace

FoldTeam::FoldTeam(int threads) : sources_(static_cast<std::size_t>(std::max(1, threads))) {
    for (int member = 1; member < threads; ++member)
        helpers_.emplace_back([this, member] { help(member); });
}

FoldTeam::~FoldTeam() {
    over_ = true;
    passes_.fetch_add(1, std::memory_order_release);
    passes_.notify_all();
    for (std::thread& helper : helpers_)
        helper.join();
}

void FoldTeam::fold(const FoldFunction& fold, FoldFunction::Sources sources, std::byte* to,
                    Bytes size, Elements elements, Elements of) {
    if (helpers_.empty() || elements * size < smallest_part * threads())
        return fold(sources, to, elements, of);
    pass_ = {&fold, sources, to, size, elements, of};
    failure_ = nullptr;
    working_.store(static_cast<int>(helpers_.size()), std::memory_order_relaxed);
    passes_.fetch_add(1, std::memory_order_release);
    passes_.notify_all();
    do_part(0);
    for (int left = working_.load(std::memory_order_acquire); left > 0;
         left = working_.load(std::memory_order_acquire))
        wait_while(working_, left);
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

void FoldTeam::help(int member) {
    for (std::uint32_t seen = 0;; ++seen) {
        wait_while(passes_, seen);
        if (over_)
            return;
        do_part(member);
        if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            working_.notify_one();
    }
}

void FoldTeam::do_part(int member) noexcept {
    try {
        fold_part(member, sources_[static_cast<std::size_t>(member)]);
    } catch (...) {
        const std::lock_guard lock(failed_);
        failure_ = std::current_exception();
    }
}

void FoldTeam::fold_part(int member, std::vector<const std::byte*>& sources) {
    const Elements first = pass_.elements * member / threads();
    const Elements last = pass_.elements * (member + 1) / threads();
    sources.assign(pass_.sources.begin(), pass_.sources.end());
    for (const std::byte*& source : sources)
        source += first * pass_.size;
    (*pass_.fold)(sources, pass_.to + first * pass_.size, last - first, pass_.of);
}

Operator folded_by(FoldTeam& team, Operator op) {
    op.fold = [&team, fold = std::move(op.fold), size = op.element.size](
                  FoldFunction::Sources sources, std::byte* to, Elements elements, Elements of) {
        team.fold(fold, sources, to, size, elements, of);
    };
    return op;
}

} // namespace sextant
