// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/programs.hpp"

namespace sextant::calibrate {

/// Runs that read, or write anew, about `cell.elements` bytes of a file that nobody else sees: what
/// that takes while the system keeps the file in memory. A disk that must be waited for takes
/// longer, by what no profile knows.
/// Throws    std::system_error where there is no room for such a file.
Timed timed_reading(const Cell& cell);
Timed timed_writing(const Cell& cell);

} // namespace sextant::calibrate
