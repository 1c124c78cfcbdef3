// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"
#include "sextant/distributed/image.hpp"
#include "sextant/kernel/label/values.hpp"

namespace sextant::distributed {

/// Where samples in memory begin, as kernels see them. Throws InvalidTask for elements that are not
/// gray_f32, gray_u8 or gray_u16.
kernel::SampleView samples_of(const ElementFormat& element, const std::byte* first);

/// This rank's tile of an image.
kernel::SampleView sample_view(const Image& image);

/// The same of samples that are compared: of value_u32, value_u64 and value_f64 too.
kernel::ValueView values_of(const ElementFormat& element, const std::byte* first);
kernel::ValueView value_view(const Image& image);

} // namespace sextant::distributed
