// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/registered_frame.hpp"

#include <span>

namespace sextant::report {

/// How far and how much each frame of a series was moved and turned against the reference, with
/// deviations; below, which frames have a flag or were left out, and why.
///
/// Input     the frames of a series in order, numbered from 0; the size of a pixel where it is
///           known ("0.2 nm").
Section drift_section(std::span<const RegisteredFrame> frames, std::int64_t reference,
                      const std::string& pixel);

} // namespace sextant::report
