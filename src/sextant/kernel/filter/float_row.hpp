// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

namespace sextant::kernel {

/// A row of samples as floats, in vectors: of float, std::uint8_t or std::uint16_t.
template <class Sample>
void to_floats(const Sample* samples, Elements count, float* to);

} // namespace sextant::kernel
