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

/// Whether anything follows from a registration. Steps that did not end are no reason against: they
/// may go to and fro by less than matters.
inline bool trusted(const RigidResult& result) {
    constexpr double least_overlap = .1;
    return !result.unrelated && result.overlap >= least_overlap;
}

/// What refined a motion, or the motion itself where that cannot be trusted, with the doubt that
/// there was about it.
inline RigidResult refined_from(const RigidMotion& start, RigidResult refined, bool ambiguous) {
    if (!trusted(refined)) {
        refined.motion = start;
        refined.unrelated = true;
    }
    refined.ambiguous = ambiguous;
    return refined;
}

} // namespace sextant::registration
