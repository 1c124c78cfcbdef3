// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/border.hpp"

#include <algorithm>

namespace sextant::kernel {

namespace {

Elements mirrored(Elements at, Elements size) {
    const Elements period = std::max<Elements>(1, 2 * (size - 1));
    const Elements within = (at % period + period) % period;
    return std::min(within, period - within);
}

} // namespace

std::optional<Elements> seen_at(Border border, Elements at, Elements size) {
    if (at >= 0 && at < size)
        return at;
    switch (border) {
    case Border::replicate:
        return std::clamp<Elements>(at, 0, size - 1);
    case Border::mirror:
        return mirrored(at, size);
    case Border::constant:
        break;
    }
    return std::nullopt;
}

} // namespace sextant::kernel
