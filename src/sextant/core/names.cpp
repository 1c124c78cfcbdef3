// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/names.hpp"

#include "sextant/core/printable.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace sextant {

namespace {

/// How many letters to insert, delete, replace or swap with a neighbour to get from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped)
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(above, row);
    }
    return above[b.size()];
}

void append(std::string& list, std::string_view name) {
    if (!list.empty())
        list.append(", ");
    list.append(name);
}

} // namespace

std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string_view> names) {
    constexpr std::size_t longest = 100; // beyond, it is like none, and is not worth comparing
    std::string near, all;
    for (std::string_view name : names) {
        const bool alike =
            wanted.size() <= longest &&
            (edit_distance(wanted, name) <= std::max<std::size_t>(2, name.size() / 3) ||
             (wanted.size() > 2 && name.find(wanted) != name.npos));
        if (alike)
            append(near, name);
        append(all, name);
    }
    std::string message = "unknown ";
    message.append(kind).append(" '").append(shortened(wanted, longest)).append("'; ");
    return near.empty() ? message.append("known are ").append(all)
                        : message.append("did you mean ").append(near).append("?");
}

} // namespace sextant
