// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositor/deep_compositor.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/compositor/declaration.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fold/deep.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant {

namespace {

CompositeOptions merging(CompositeOptions options, int fragments) {
    options.blend = "deep";
    options.element.reset();
    options.fragments = fragments;
    options.background.reset(); // the background is blended behind the merged result
    return options;
}

void check_images(int rank, ImageShape shape, std::span<const DeepImage> images) {
    for (std::size_t i = 0; i < images.size(); ++i) {
        if (images[i].shape != shape) {
            throw InvalidTask(fmt::format("rank {}, image {}: {}x{} pixels, expected {}x{}", rank,
                                          i, images[i].shape.width, images[i].shape.height,
                                          shape.width, shape.height));
        }
        const std::string fault = fault_of(images[i]);
        if (!fault.empty())
            throw InvalidTask(fmt::format("rank {}, image {}: {}", rank, i, fault));
    }
}

} // namespace

DeepCompositor::DeepCompositor(Communicator communicator, ImageShape shape, int layers,
                               int fragments, CompositeOptions options)
    : communicator_(scope_of(communicator, "DeepCompositor")),
      shape_(shape),
      layers_(layers),
      fragments_(fragments),
      background_(options.background),
      compositor_(communicator_, shape, layers, merging(options, fragments)),
      packed_(communicator_.memory(layers * shape.elements() * compositor_.blend().element.size)) {
    agree(communicator_, [&] { check_background(background_); });
}

void DeepCompositor::resize(ImageShape shape) {
    compositor_.resize(shape);
    try {
        agree(communicator_, [&] {
            packed_ =
                communicator_.memory(layers_ * shape.elements() * compositor_.blend().element.size);
        });
    } catch (...) { // memory may have been allocated on some ranks only
        compositor_.resize(shape_);
        packed_ =
            communicator_.memory(layers_ * shape_.elements() * compositor_.blend().element.size);
        throw;
    }
    shape_ = shape;
}

Frame DeepCompositor::composite(std::span<const DeepImage> images, const FrameOptions& frame) {
    const std::optional<RgbaF32>& background = frame.background ? frame.background : background_;
    std::vector<int>
        requested; // contains only the background, because `compositor_` compares the order
    list_requests({}, background, {}, requested);
    agree_on_frame(communicator_, requested, [&] {
        check_background(background);
        pack(images);
    });
    Frame merged;
    agree(communicator_, [&] {
        merged = compositor_.composite(packed_.bytes(),
                                       {.order = frame.order, .image_order = frame.image_order});
        check_room(merged);
    });
    blended_.resize(static_cast<std::size_t>(merged.count));
    kernel::blend_fragments(merged.bytes, fragments_, blended_);
    const auto bytes = std::as_writable_bytes(std::span(blended_));
    if (background)
        kernel::put_behind(rgba_f32, bytes, *background, bytes);
    return {merged.first, merged.count, bytes};
}

void DeepCompositor::fail(const std::string& text) {
    sextant::fail(communicator_, text);
}

void DeepCompositor::pack(std::span<const DeepImage> images) {
    const int rank = communicator_.rank();
    if (images.size() != static_cast<std::size_t>(layers_)) {
        throw InvalidTask(
            fmt::format("rank {}: {} deep images, expected {}", rank, images.size(), layers_));
    }
    check_images(rank, shape_, images);
    const auto size =
        static_cast<std::size_t>(shape_.elements() * compositor_.blend().element.size);
    for (std::size_t i = 0; i < images.size(); ++i)
        kernel::pack(images[i], fragments_, packed_.bytes().subspan(i * size, size));
}

void DeepCompositor::check_room(const Frame& merged) const {
    const kernel::LargestPixel found = kernel::fullest(merged.bytes, fragments_);
    if (found.fragments <= fragments_)
        return;
    const Elements pixel = merged.first + found.pixel;
    throw InvalidTask(fmt::format("pixel ({}, {}) has {} fragments, expected at most {}",
                                  pixel % shape_.width, pixel / shape_.width, found.fragments,
                                  fragments_));
}

int most_fragments(const Communicator& communicator, ImageShape shape,
                   std::span<const DeepImage> images) {
    std::vector<RgbaF32> counts;
    agree(communicator, [&] {
        if (is_too_large(shape)) {
            throw InvalidTask(
                fmt::format("rank {}: images of {}x{}: expected no more than {} pixels",
                            communicator.rank(), shape.width, shape.height, most_pixels));
        }
        counts.resize(static_cast<std::size_t>(shape.elements()));
        check_images(communicator.rank(), shape, images);
        for (const DeepImage& image : images) {
            for (std::size_t i = 0; i < counts.size(); ++i)
                counts[i].r += static_cast<float>(image.at(static_cast<Elements>(i)).size());
        }
    });
    CompositeOptions options;
    options.blend = "add";
    options.root = CompositeOptions::distributed;
    Compositor compositor(communicator, shape, 1, options);
    float most = 0;
    for (const RgbaF32& sum :
         compositor.composite(std::span<const RgbaF32>(counts)).pixels<RgbaF32>())
        most = std::max(most, sum.r);
    const std::vector<float> all = communicator.all_gather(most);
    return static_cast<int>(*std::max_element(all.begin(), all.end()));
}

} // namespace sextant
