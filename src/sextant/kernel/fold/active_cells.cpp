// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/sparse_code.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/fold/active_cells.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

/// Sets bit i if cell i differs from `nothing`. A cell has 16 elements of 4, 8, ... bytes, so it
/// consists of whole vectors of any size up to 64 bytes.
std::uint64_t differing_cells(const std::uint8_t* from, int cells, const std::uint8_t* nothing,
                              std::size_t bytes) {
    const hn::CappedTag<std::uint8_t, 64> d;
    constexpr std::size_t lanes = hn::MaxLanes(d);
    std::uint64_t differing = 0;
    for (int cell = 0; cell < cells; ++cell, from += bytes) {
        auto difference = hn::Zero(d);
        for (std::size_t i = 0; i < bytes; i += lanes) {
            const auto here = hn::Xor(hn::LoadU(d, from + i), hn::LoadU(d, nothing + i));
            difference = hn::Or(difference, here);
        }
        const bool same = hn::AllTrue(d, hn::Eq(difference, hn::Zero(d)));
        differing |= static_cast<std::uint64_t>(!same) << cell;
    }
    return differing;
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(differing_cells);

ActiveCells::ActiveCells(std::span<const std::byte> nothing) {
    for (Elements i = 0; i < cell_elements; ++i)
        cell_.insert(cell_.end(), nothing.begin(), nothing.end());
}

std::uint64_t ActiveCells::operator()(const std::byte* from, Elements elements) const {
    const auto whole = static_cast<int>(elements / cell_elements);
    std::uint64_t active = HWY_DYNAMIC_DISPATCH(differing_cells)(
        reinterpret_cast<const std::uint8_t*>(from), whole,
        reinterpret_cast<const std::uint8_t*>(cell_.data()), cell_.size());
    const auto rest = static_cast<std::size_t>(elements % cell_elements * element_size());
    const std::byte* const behind = from + static_cast<std::size_t>(whole) * cell_.size();
    if (rest > 0 && std::memcmp(behind, cell_.data(), rest) != 0)
        active |= std::uint64_t{1} << whole;
    return active;
}

} // namespace sextant::kernel
#endif
