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

/// The shape and number of a rank's images. Ranks exchange and compare declarations when a
/// compositor is created.
struct Declaration {
    std::int64_t width, height;
    int layers;
    std::uint64_t image_order = 0; ///< a hash of CompositeOptions::image_order
};
std::uint64_t hash_of(std::span<const ImageOfRank> image_order);

/// Throws InvalidTask, naming a rank and its value, if a declaration is invalid or image shapes
/// differ. `all` is indexed by rank. All ranks check the same data, so either all throw or none.
void check_alike(const std::vector<Declaration>& all);

/// Throws InvalidTask if an option is out of range.
void check_numbers(CompositeOptions& options);
/// Throws InvalidTask if a channel of a background is not finite.
void check_background(const std::optional<RgbaF32>& background);

/// Returns the task described by the declarations of all ranks.
/// Requires  declarations that `check_alike` accepts.
/// Throws    InvalidTask unless the order names every rank with images.
compositing::Task task_of(const std::vector<Declaration>& all, const CompositeOptions& options);

/// Sets `to` to the ranks with images, front to back.
/// Input     ranks front to back; the number of images of each rank. `found` is scratch.
/// Throws    InvalidTask if the order names a rank that does not exist, names a rank twice, or
///           omits a rank with images.
/// Cost      allocates nothing if `found` and `to` have enough capacity.
void list_order(std::span<const int> order, std::span<const int> layers, std::vector<int>& found,
                std::vector<int>& to);

/// Sets `order` to the ranks with images, in the order of their first images, and `images` to all
/// images, front to back.
/// Input     all images front to back; the number of images of each rank. `found` is scratch.
/// Throws    InvalidTask if the order names an image that does not exist, names an image twice, or
///           omits one.
/// Cost      allocates nothing if `found`, `order` and `images` have enough capacity: 2 numbers per
///           rank and one per image in `found`.
void list_image_order(std::span<const ImageOfRank> image_order, std::span<const int> layers,
                      std::vector<int>& found, std::vector<int>& order,
                      std::vector<compositing::PlacedImage>& images);

/// Replaces the contents of `to` with the frame options that ranks compare, encoded as numbers: the
/// background, and the order of the ranks that have an image, or of all images. Allocates nothing
/// if `to` has capacity for most_requested numbers.
void list_requests(std::span<const int> order, const std::optional<RgbaF32>& background,
                   std::span<const int> layers, std::vector<int>& to,
                   std::span<const ImageOfRank> image_order = {});
/// Returns the maximum number of numbers to compare. `images`: the number of images in an image
/// order.
std::size_t most_requested(std::size_t ranks, std::size_t images = 0);
/// Marks the frame options as failed on this rank.
void say_failed(std::vector<int>& requested);
std::string text_of_request(std::span<const int> requested);

/// Calls `part` on every rank (comm/agreement.hpp) and checks that all ranks request the same
/// frame.
/// Throws    AgreedFailure if `part` throws on any rank, or if frames differ: it names two ranks
///           and their options.
/// Collective.
void agree_on_frame(const Communicator& communicator, std::span<const int> requested,
                    const std::function<void()>& part);

} // namespace sextant
