// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/operation/composite/compositor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant {

/// What every rank says of the images it brings and of how it wants them blended, so that all can
/// tell whether they agree.
struct Declaration {
    std::int64_t width, height;
    int layers, root;
    std::size_t options; ///< a hash of the rest
};

Declaration declare(ImageShape shape, int layers, const CompositeOptions& options);

/// Requires  declarations, by rank, that agree: the same check on the same data on every rank, so
///           that all throw InvalidTask, which names a rank and what it said, or none does.
void check_alike(const std::vector<Declaration>& all);

/// What ranks that agree blend together.
/// Requires  an order that places every rank with images (InvalidTask).
compositing::Task task_of(const std::vector<Declaration>& all, const CompositeOptions& options);

} // namespace sextant
