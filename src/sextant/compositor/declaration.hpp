// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/compositor.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
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

/// Throws InvalidTask where a number is out of bounds.
void check_numbers(const CompositeOptions& options);

/// What ranks that agree blend together.
/// Requires  an order that places every rank with images (InvalidTask).
compositing::Task task_of(const std::vector<Declaration>& all, const CompositeOptions& options);

/// The ranks with images, front to back, in place of what `to` held.
/// Input     ranks front to back; how many images each rank brings. `found` is overwritten.
/// Throws    InvalidTask: an order that names a rank that does not exist, or one twice, or leaves
///           out one with images.
/// Cost      allocates nothing where `found` and `to` have room.
void list_order(std::span<const int> order, std::span<const int> layers, std::vector<int>& found,
                std::vector<int>& to);

/// What a rank asks for in a frame, as numbers that ranks compare: the background and the order,
/// without ranks that bring no image. In place of what `to` held; allocates nothing where that has
/// room for most_asked.
void list_asked(std::span<const int> order, const std::optional<RgbaF32>& background,
                std::span<const int> layers, std::vector<int>& to);
std::size_t most_asked(std::size_t ranks);
/// Instead: that this rank cannot do it.
void say_failed(std::vector<int>& asked);
std::string text_of_asked(std::span<const int> asked);

/// Does a part of a frame on every rank (comm/agreement.hpp), all of whom must ask for the same
/// frame. Throws    AgreedFailure, also where they do not: with two ranks, and what each asks for.
/// Collective.
void agree_on_frame(const Communicator& communicator, std::span<const int> asked,
                    const std::function<void()>& part);

} // namespace sextant
