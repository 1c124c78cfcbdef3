// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/float_plane.hpp"

#include "sextant/kernel/filter/weighted_lines.hpp"

namespace sextant::kernel {

FloatPlane::FloatPlane(ImageShape shape)
    : shape_(shape),
      stride_((shape.width + line_unit - 1) / line_unit * line_unit),
      memory_((stride_ * shape.height + line_unit) * static_cast<Bytes>(sizeof(float))) {}

} // namespace sextant::kernel
