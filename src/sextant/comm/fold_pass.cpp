// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/fold_pass.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sextant {

FoldPass::FoldPass(const Program& program, const Operator& op, const Places& places,
                   const ExecuteOptions& options, std::size_t most_operands,
                   std::function<void()> progress)
    : program_(program),
      operator_(op),
      places_(places),
      slice_((Bytes{128} << 10) * std::max(1, options.fold_threads)),
      progress_(std::move(progress)) {
    items_.reserve(most_operands);
    stretches_.reserve(most_operands);
    sources_.reserve(most_operands);
    if (options.sparse)
        patches_ = Patches(op, most_operands);
}

void FoldPass::add_operand(std::uint32_t region) {
    const Places::Lent& lent = places_.lent(region);
    if (lent.code)
        items_.push_back(
            {.code = kernel::SparseCursor(*lent.code, lent.first), .first = lent.first});
    else
        add(lent.data, program_.regions[region]);
}

/// Each slice is contiguous in all that is read.
void FoldPass::run(const Region& to, std::byte* in_one_piece) {
    const Bytes size = places_.element_size(to.buffer);
    const Elements slice = std::max<Elements>(1, slice_ / size);
    const Elements elements = to.elements();
    Elements since_progress = 0;
    for (Elements e = 0; e < elements;) {
        Elements count = std::min(slice, elements - e);
        if (!in_one_piece)
            count = std::min(count, to.run_left(e));
        count = look(e, count);
        gather(count);
        std::byte* const there = in_one_piece ? in_one_piece + e * size : places_.at(to, e);
        // To write past the caches takes longer to begin with than a short slice would.
        operator_.fold(sources_, there, count, 16 * count < slice ? count : elements);
        e += count;
        since_progress += count;
        if (since_progress >= slice && e < elements) {
            progress_();
            since_progress = 0;
        }
    }
}

/// What the items are from an element on; for how many elements they stay so, at most `count`.
Elements FoldPass::look(Elements element, Elements count) {
    stretches_.clear();
    for (Item& item : items_) {
        const kernel::Stretch next = stretch(item, element);
        count = std::min(count, next.count);
        if (!next.data || next.equal)
            count = std::min(count, patches_.elements());
        stretches_.push_back(next);
    }
    return count;
}

kernel::Stretch FoldPass::stretch(Item& item, Elements element) const {
    if (item.code)
        return item.code->at(item.first + element);
    if (!item.data)
        return {places_.at(*item.region, element), item.region->run_left(element)};
    const Bytes size = places_.element_size(item.region->buffer);
    return {item.data + element * size, std::numeric_limits<Elements>::max()};
}

/// Neighbours that are nothing count once, which gives the same bits (Operator::fill_identity).
void FoldPass::gather(Elements count) {
    sources_.clear();
    const std::byte* const nothing = patches_.nothing();
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        const kernel::Stretch& each = stretches_[i];
        if (each.data)
            sources_.push_back(each.equal ? patches_.repeated(i, each.data, count) : each.data);
        else if (sources_.empty() || sources_.back() != nothing)
            sources_.push_back(nothing);
    }
}

} // namespace sextant
