// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/composite/compositor.hpp"
#include "sextant/operation/operation.hpp"

namespace sextant::operation {

/// How a compositor is to blend images of a format, from what the user asked for.
/// Throws    InvalidTask for what does not go together.
CompositeOptions composite_options(const Values& values, const ElementFormat& element);

} // namespace sextant::operation
