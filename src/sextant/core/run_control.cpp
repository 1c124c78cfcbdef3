// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/run_control.hpp"

#include <utility>

namespace sextant {

Cancellation& cancellation_here() {
    thread_local Cancellation here;
    return here;
}

CancellationScope::CancellationScope(const Cancellation& cancellation)
    : outer_(std::exchange(cancellation_here(), cancellation)) {
    cancellation_here().work = outer_.work;
}

CancellationScope::~CancellationScope() {
    outer_.work = cancellation_here().work;
    cancellation_here() = outer_;
}

void check_cancelled(Elements work) {
    Cancellation& here = cancellation_here();
    here.work += work;
    if (here.work < much_work || !here.may_throw || !here.control)
        return;
    here.work = 0;
    if (!here.one_at_a_time)
        return here.control->check();
    const std::lock_guard lock(*here.one_at_a_time);
    here.control->check();
}

} // namespace sextant
