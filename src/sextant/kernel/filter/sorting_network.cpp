// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/sorting_network.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/kernel/filter/sorting_network.cpp"
#include "sextant/kernel/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernel::HWY_NAMESPACE {

void apply_network(const Exchange* network, std::size_t exchanges, float* values) {
    const hn::CappedTag<float, sorted_together> d;
    for (std::size_t i = 0; i < exchanges; ++i) {
        float* const low = values + network[i].low * sorted_together;
        float* const high = values + network[i].high * sorted_together;
        for (std::size_t k = 0; k < sorted_together; k += hn::Lanes(d)) {
            const auto one = hn::LoadU(d, low + k), other = hn::LoadU(d, high + k);
            hn::StoreU(hn::Min(one, other), d, low + k);
            hn::StoreU(hn::Max(one, other), d, high + k);
        }
    }
}

} // namespace sextant::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernel {

HWY_EXPORT(apply_network);

void apply_network(std::span<const Exchange> network, float* values) {
    HWY_DYNAMIC_DISPATCH(apply_network)(network.data(), network.size(), values);
}

} // namespace sextant::kernel
#endif
