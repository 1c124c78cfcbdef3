// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

namespace sextant {

/// A request that is correct, but whose data cannot fulfil it: a series of one frame, or frames of
/// noise. The command exits with code 1, as for a file that cannot be read.
class InvalidData : public InvalidTask {
  public:
    using InvalidTask::InvalidTask;
};

} // namespace sextant
