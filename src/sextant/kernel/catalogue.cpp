// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/catalogue.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/kernel/nearest.hpp"
#include "sextant/kernel/over.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace sextant::kernel {

namespace {

template <class Pixel>
void fill(std::byte* to, Elements elements, const Pixel& pixel) {
    std::fill_n(reinterpret_cast<Pixel*>(to), elements, pixel);
}

const Operator operators[] = {
    {"over", "blend premultiplied colour, front over back", rgba_f32, false, over_rgba_f32,
     [](std::byte* to, Elements elements) { fill(to, elements, RgbaF32{}); }},
    {"nearest", "keep the sample nearest to the viewer, with its colour", rgba_depth_f32, false,
     nearest_rgba_depth_f32,
     [](std::byte* to, Elements elements) {
         fill(to, elements, RgbaDepthF32{0, 0, 0, 0, std::numeric_limits<float>::infinity()});
     }},
};

} // namespace

std::span<const Operator> catalogue() {
    return operators;
}

const Operator& find(std::string_view wanted) {
    return find_by_name<Operator>("operator", wanted, operators);
}

} // namespace sextant::kernel
