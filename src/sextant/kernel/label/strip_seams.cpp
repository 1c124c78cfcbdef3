// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/strip_seams.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sextant::kernel {

void StripSeams::add(Label components, const SeamRow& first, const SeamRow& last) {
    const std::size_t begin = parents_.size();
    const auto all = static_cast<Elements>(begin) + components;
    if (all > most_)
        throw InvalidTask(fmt::format(
            "the strips have {} components before merging, expected at most {}, the largest label",
            all, most_));
    parents_.resize(static_cast<std::size_t>(all));
    std::iota(parents_.begin() + static_cast<std::ptrdiff_t>(begin), parents_.end(),
              static_cast<Label>(begin));
    if (!begins_.empty())
        join_with_above(first, static_cast<Label>(begin));
    begins_.push_back(begin);
    above_.resize(last.labels.size());
    std::ranges::transform(last.labels, above_.begin(), [begin](Label label) {
        return label == 0 ? -1 : static_cast<Label>(begin) + label - 1;
    });
    values_above_.assign(last.values.begin(), last.values.end());
}

void StripSeams::join_with_above(const SeamRow& row, Label begin) {
    const auto width = static_cast<Elements>(row.labels.size());
    const Elements reach = connection_.neighbours == Neighbours::eight ? 1 : 0;
    const bool by_value = connection_.sameness == Sameness::value;
    for (Elements x = 0; x < width; ++x) {
        const auto here = static_cast<std::size_t>(x);
        if (row.labels[here] == 0)
            continue;
        for (Elements i = std::max<Elements>(x - reach, 0); i <= std::min(x + reach, width - 1);
             ++i) {
            const auto there = static_cast<std::size_t>(i);
            const bool same = !by_value || (values_above_[there] == row.values[here] &&
                                            row.values[here] != unequal_code);
            if (above_[there] >= 0 && same)
                join(above_[there], begin + row.labels[here] - 1);
        }
    }
}

Label StripSeams::root(Label component) {
    const auto parent = [this](Label of) -> Label& {
        return parents_[static_cast<std::size_t>(of)];
    };
    while (parent(component) != component)
        component = parent(component) = parent(parent(component));
    return component;
}

void StripSeams::join(Label a, Label b) {
    a = root(a);
    b = root(b);
    parents_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

/// A component's parent comes before it, so one pass numbers all components.
Label StripSeams::finish() {
    Label count = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        const auto parent = static_cast<std::size_t>(parents_[i]);
        parents_[i] = parent == i ? ++count : parents_[parent];
    }
    return count;
}

std::span<const Label> StripSeams::numbers(std::size_t strip) const {
    const std::size_t begin = begins_[strip];
    const std::size_t end = strip + 1 < begins_.size() ? begins_[strip + 1] : parents_.size();
    return {parents_.data() + begin, end - begin};
}

} // namespace sextant::kernel
