// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/joined_parts.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sextant::kernel {

Label JoinedParts::add(Elements components) {
    const std::size_t begin = parents_.size();
    const Elements all = static_cast<Elements>(begin) + components;
    if (all > most_)
        throw InvalidData(fmt::format(
            "the {} have {} components before merging, expected at most {}, the largest label",
            parts_, all, most_));
    parents_.resize(static_cast<std::size_t>(all));
    std::iota(parents_.begin() + static_cast<std::ptrdiff_t>(begin), parents_.end(),
              static_cast<Label>(begin));
    return static_cast<Label>(begin);
}

Label JoinedParts::root(Elements component) {
    Label at = static_cast<Label>(component);
    const auto parent = [this](Label each) -> Label& {
        return parents_[static_cast<std::size_t>(each)];
    };
    while (parent(at) != at)
        at = parent(at) = parent(parent(at));
    return at;
}

void JoinedParts::join(Elements a, Elements b) {
    const Label x = root(a), y = root(b);
    parents_[static_cast<std::size_t>(std::max(x, y))] = std::min(x, y);
}

/// A component's parent comes before it, so one pass numbers all components.
Label JoinedParts::number() {
    Label count = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        const auto parent = static_cast<std::size_t>(parents_[i]);
        parents_[i] = parent == i ? ++count : parents_[parent];
    }
    return count;
}

} // namespace sextant::kernel
