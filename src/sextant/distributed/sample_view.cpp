// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/sample_view.hpp"

#include "sextant/core/error.hpp"

#include <fmt/format.h>

namespace sextant::distributed {

kernel::SampleView samples_of(const ElementFormat& element, const std::byte* first) {
    kernel::SampleView view;
    if (element == gray_u8)
        view.first = reinterpret_cast<const std::uint8_t*>(first);
    else if (element == gray_u16)
        view.first = reinterpret_cast<const std::uint16_t*>(first);
    else if (element == gray_f32)
        view.first = reinterpret_cast<const float*>(first);
    else
        throw InvalidTask(
            fmt::format("expected samples of f32, u8 or u16; these are {}", element.name));
    return view;
}

kernel::SampleView sample_view(const Image& image) {
    kernel::SampleView view = samples_of(image.element(), image.bytes().data());
    view.tile = image.tile();
    view.stride = view.tile.width;
    view.image = image.shape();
    return view;
}

kernel::ValueView values_of(const ElementFormat& element, const std::byte* first) {
    kernel::ValueView view;
    if (element == value_u32)
        view.first = reinterpret_cast<const std::uint32_t*>(first);
    else if (element == value_u64)
        view.first = reinterpret_cast<const std::uint64_t*>(first);
    else if (element == value_f64)
        view.first = reinterpret_cast<const double*>(first);
    else
        view = samples_of(element, first);
    return view;
}

kernel::ValueView value_view(const Image& image) {
    kernel::ValueView view = values_of(image.element(), image.bytes().data());
    view.tile = image.tile();
    view.stride = view.tile.width;
    view.image = image.shape();
    return view;
}

} // namespace sextant::distributed
