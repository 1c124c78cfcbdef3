// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/strip_seams.hpp"

#include <algorithm>

namespace sextant::kernel {

void StripSeams::add(Label components, const SeamRow& first, const SeamRow& last) {
    const Label begin = joined_.add(components);
    if (!begins_.empty())
        join_with_above(first, begin);
    begins_.push_back(static_cast<std::size_t>(begin));
    above_.resize(last.labels.size());
    std::ranges::transform(last.labels, above_.begin(),
                           [begin](Label label) { return label == 0 ? -1 : begin + label - 1; });
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
                joined_.join(above_[there], begin + row.labels[here] - 1);
        }
    }
}

std::span<const Label> StripSeams::numbers(std::size_t strip) const {
    const std::span<const Label> all = joined_.numbers();
    const std::size_t begin = begins_[strip];
    const std::size_t end = strip + 1 < begins_.size() ? begins_[strip + 1] : all.size();
    return all.subspan(begin, end - begin);
}

} // namespace sextant::kernel
