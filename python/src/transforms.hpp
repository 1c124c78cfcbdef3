// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>
#include <map>

#include <fmt/format.h>
#include <pybind11/pybind11.h>

namespace sextant::python {

/// The transforms of the frames of a series.
struct Transforms {
    ImageShape shape;
    registration::PixelArea area; ///< area of aligned frames, in the coordinates of the reference
    std::int64_t flyback = 0;
    double row_shift = 0; ///< displacement of odd rows before they are aligned, pixels
    std::map<std::int64_t, registration::Transform>
        of; ///< by frame; frames that were left out are missing

    const registration::Transform& at(std::int64_t frame) const {
        const auto found = of.find(frame);
        if (found == of.end())
            throw InvalidTask(fmt::format("frame {} was left out, or is not in the series", frame));
        return found->second;
    }
};

/// Functions that apply transforms to frames, points and arrays.
void bind_apply(pybind11::module_& module);

} // namespace sextant::python
