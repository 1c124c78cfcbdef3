// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <cstddef>
#include <span>

namespace sextant::kernel {

/// Turns pixels of one format into pixels of another: a channel becomes the nearest that the other
/// format has. To f16, of two equally near ones the even, and infinity from 65520 on. To u8, 255
/// times the channel, clamped to [0, 255], of two equally near ones the even, and 0 for NaN. From
/// u8, the float nearest to the quotient by 255. Depth stays, or is dropped.
///
/// Input     `pixels` of `from`.
/// Output    as many in `result`, other memory.
/// Requires  a depth in `from` where `to` has one; std::logic_error otherwise, and for elements
///           that are no colours.
void convert(const ElementFormat& from, std::span<const std::byte> pixels, const ElementFormat& to,
             std::span<std::byte> result);

} // namespace sextant::kernel
