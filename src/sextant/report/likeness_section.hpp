// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/page.hpp"
#include "sextant/report/registered_frame.hpp"

#include <span>
#include <string>

namespace sextant::report {

/// How alike each frame of a series is to what it was registered to, before and after, what of it
/// that leaves unexplained, and how sure its place is.
///
/// Input     the frames of a series in order, numbered from 0; what "before" is: "as they are", or
/// by
///           motions alone where what follows are fields.
Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before);

} // namespace sextant::report
