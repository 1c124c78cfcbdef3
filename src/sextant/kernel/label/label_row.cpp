// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/labels.hpp"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/label/label_row.cpp"
#include "sextant/kernel/lanes-inl.hpp"

#ifndef SEXTANT_KERNEL_LABEL_ROW_COUNTS
#define SEXTANT_KERNEL_LABEL_ROW_COUNTS
namespace sextant::kernel {

/// [bits][i]: the number of bits set among bits 0 … i.
struct CountsOfBits {
    std::uint8_t counts[256][8] = {};
    constexpr CountsOfBits() {
        for (unsigned bits = 0; bits < 256; ++bits) {
            for (unsigned i = 0, count = 0; i < 8; ++i)
                counts[bits][i] = static_cast<std::uint8_t>(count += bits >> i & 1);
        }
    }
};
static constexpr CountsOfBits counts_of_bits;

} // namespace sextant::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

using Labels = hn::ScalableTag<Label>;
constexpr Elements label_lanes = hn::MaxLanes(Labels());

#if HWY_TARGET != HWY_SCALAR

/// The labels of as many pixels as a vector has lanes. Lane i has the label that comes after that
/// of lane 0 by the number of runs that start in lanes 1 … i, so one vector holds them all.
HWY_INLINE hn::Vec<Labels> labels_of(std::uint64_t inside, std::uint64_t starts,
                                     const Label* labels) {
    const Labels d;
    constexpr std::size_t lanes = hn::MaxLanes(Labels());
    labels += starts & 1;
    starts &= ~std::uint64_t{1};
    alignas(16) std::uint8_t counts[16];
    for (std::size_t i = 0; i < lanes; i += 8)
        std::memcpy(counts + i, counts_of_bits.counts[starts >> i & 255], 8);
    const hn::Rebind<std::uint8_t, Labels> bytes;
    auto index = hn::PromoteTo(d, hn::Load(bytes, counts));
    if constexpr (lanes == 16) {
        const auto below = static_cast<Label>(counts[7]);
        index = hn::Add(index, hn::IfThenElse(hn::FirstN(d, 8), hn::Zero(d), hn::Set(d, below)));
    }
    const auto all = hn::TableLookupLanes(hn::LoadU(d, labels), hn::IndicesFromVec(d, index));
    const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&inside));
    return hn::IfThenElseZero(mask, all);
}

/// Writes the pixels of one word, in whole vectors up to `count`; returns the number written.
HWY_INLINE Elements write_word(std::uint64_t inside, std::uint64_t starts, const Label* labels,
                               Label* to, Elements count, bool stream) {
    const Labels d;
    constexpr std::uint64_t lane_bits = (std::uint64_t{1} << label_lanes) - 1;
    const bool one_run = starts == 0 && (inside == 0 || ~inside == 0);
    const auto one = inside == 0 ? hn::Zero(d) : hn::Set(d, labels[0]);
    Elements i = 0;
    for (; i + label_lanes <= count; i += label_lanes) {
        if (one_run) {
            store(one, d, to + i, stream);
            continue;
        }
        const std::uint64_t begun = starts >> i & lane_bits;
        store(labels_of(inside >> i & lane_bits, begun, labels), d, to + i, stream);
        labels += counts_of_bits.counts[begun & 255][7];
        if constexpr (label_lanes == 16)
            labels += counts_of_bits.counts[begun >> 8][7];
    }
    return i;
}

#endif

void write_labels(const LabelRow& row) {
    const Label* labels = row.labels;
    for (Elements first = 0; first < row.width; first += 64) {
        const std::uint64_t inside = row.inside[first / 64], starts = row.starts[first / 64];
        const Elements left = row.width - first, count = left < 64 ? left : 64;
        Elements i = 0;
#if HWY_TARGET != HWY_SCALAR
        i = write_word(inside, starts, labels, row.to + first, count, row.stream);
#endif
        for (; i < count; ++i) {
            const auto begun = hwy::PopCount(starts & (~std::uint64_t{0} >> (63 - i)));
            row.to[first + i] = inside >> i & 1 ? labels[begun] : 0;
        }
        labels += hwy::PopCount(starts);
    }
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(write_labels);

void write_labels(const LabelRow& row) {
    HWY_DYNAMIC_DISPATCH(write_labels)(row);
}

} // namespace sextant::kernel
#endif
