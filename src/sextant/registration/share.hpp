// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sextant::registration {

/// What a rank has of so many things that lie one after another: the first, and the one after the
/// last.
struct Share {
    std::int64_t first = 0, last = 0;
    std::int64_t count() const { return last - first; }
    bool has(std::int64_t thing) const { return thing >= first && thing < last; }
};

inline Share share_of(int rank, int ranks, std::int64_t things) {
    return {things * rank / ranks, things * (rank + 1) / ranks};
}

} // namespace sextant::registration
