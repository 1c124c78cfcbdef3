// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/ledger.hpp"
#include "sextant/registration/rigid.hpp"

#include <chrono>

namespace sextant::registration {

/// A result, and how long it took.
struct TimedResult {
    RigidResult result;
    Seconds seconds = 0;
};

/// A registration that is looked up in a ledger first.
template <class Register>
TimedResult timed_result(Ledger* ledger, const EntryName& name, const Register& registered) {
    return found_or_made(ledger, name, [&] {
        const auto begin = std::chrono::steady_clock::now();
        TimedResult timed{registered()};
        timed.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return timed;
    });
}

} // namespace sextant::registration
