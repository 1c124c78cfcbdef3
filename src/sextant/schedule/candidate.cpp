// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/candidate.hpp"

#include <algorithm>

namespace sextant {

namespace {

bool same_step(const Step& a, const Step& b) {
    return a.verb == b.verb && a.peer == b.peer && a.count == b.count && a.to == b.to;
}

/// Rounds bind only where there is a window.
bool same_rounds(const Program& a, const Program& b) {
    if (a.window != b.window)
        return false;
    return a.window == 0 || std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(),
                                       [](auto& s, auto& t) { return s.round == t.round; });
}

} // namespace

bool same_work(const Program& a, const Program& b) {
    return a.steps.size() == b.steps.size() && a.regions == b.regions && a.result == b.result &&
           std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), same_step) &&
           same_rounds(a, b);
}

} // namespace sextant
