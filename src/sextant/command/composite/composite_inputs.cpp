// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/composite/composite.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/manifest.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::command {

namespace {

std::vector<std::string> ordered(const std::vector<std::string>& paths,
                                 const std::vector<int>& order) {
    std::vector<std::string> result;
    std::vector<bool> seen(paths.size(), false);
    for (int index : order) {
        if (index < 0 || static_cast<std::size_t>(index) >= paths.size()) {
            throw InvalidTask(
                fmt::format("--order lists image {}: expected 0 to {}", index, paths.size() - 1));
        }
        const auto i = static_cast<std::size_t>(index);
        if (seen[i])
            throw InvalidTask(fmt::format("--order lists image {} twice", index));
        seen[i] = true;
        result.push_back(paths[i]);
    }
    if (order.size() != paths.size()) {
        throw InvalidTask(fmt::format("--order lists {} of {} images, expected all of them",
                                      order.size(), paths.size()));
    }
    return result;
}

format::PixelCheck check(const ElementFormat& element, std::span<const std::byte> bytes) {
    if (element == rgba_f32) {
        return format::check_pixels(std::span(reinterpret_cast<const RgbaF32*>(bytes.data()),
                                              bytes.size() / sizeof(RgbaF32)));
    }
    return format::check_pixels(std::span(reinterpret_cast<const RgbaDepthF32*>(bytes.data()),
                                          bytes.size() / sizeof(RgbaDepthF32)));
}

void check_shape(const Inputs& inputs, const std::string& path, ImageShape shape) {
    const ImageShape expected = inputs.header.shape;
    if (shape != expected) {
        throw InvalidFile(path, fmt::format("{}x{} pixels, expected {}x{} as in {}", shape.width,
                                            shape.height, expected.width, expected.height,
                                            inputs.paths.front()));
    }
}

/// Throws InvalidTask if linear images are mixed with images encoded for display. Values are not
/// converted, so the composited image would be neither.
void check_scale(const std::vector<std::string>& paths) {
    const auto for_display = [](const std::string& path) {
        return format::format_of(path).for_display;
    };
    const auto other = std::find_if(paths.begin(), paths.end(), [&](const std::string& path) {
        return for_display(path) != for_display(paths.front());
    });
    if (other == paths.end())
        return;
    const bool first = for_display(paths.front());
    throw InvalidTask(fmt::format("{} holds values encoded for display (sRGB), but {} holds linear "
                                  "values: expected one kind, because values are not converted",
                                  first ? paths.front() : *other, first ? *other : paths.front()));
}

/// Reads an image and converts it to `element`. Returns the result of checking the pixels before
/// conversion.
format::PixelCheck read_as(const ElementFormat& element, const std::string& path,
                           const format::ImageHeader& header, std::span<std::byte> to) {
    if (has_depth(element) && !has_depth(header.element)) {
        throw InvalidFile(path, "has no depth, which the operator 'nearest' needs");
    }
    if (header.element == element) {
        format::read_pixels(path, header, to);
        return check(element, to);
    }
    if (is_deep(header.element))
        throw InvalidFile(path, "has deep pixels, expected flat ones as in the first image");
    Image image(header.shape, header.element);
    format::read_pixels(path, header, image.bytes());
    kernel::convert(header.element, image.bytes(), element, to);
    return check(header.element, image.bytes());
}

} // namespace

Inputs find_inputs(const std::vector<std::string>& names, const std::vector<int>& order) {
    Inputs inputs;
    std::vector<int> visible = order;
    if (names.size() == 1 && format::is_manifest(names[0])) {
        const format::Partials partials = format::read_manifest(names[0]);
        inputs = {partials.paths, partials.header(), true};
        if (visible.empty())
            visible = partials.order;
    } else {
        for (const std::string& name : names) {
            if (format::is_manifest(name)) {
                throw InvalidTask(name + ": expected a manifest alone, without other inputs");
            }
        }
        check_scale(names);
        inputs = {names, {}, false};
    }
    if (!visible.empty())
        inputs.paths = ordered(inputs.paths, visible);
    if (!inputs.from_manifest)
        inputs.header = format::read_header(inputs.paths.front());
    return inputs;
}

Memory read_inputs(const Inputs& inputs, std::size_t first, std::size_t last,
                   const ElementFormat& element, const Communicator& communicator,
                   std::vector<Oddity>& oddities) {
    const ImageShape shape = inputs.header.shape;
    const Bytes size = shape.elements() * element.size;
    Memory images = communicator.memory(static_cast<Bytes>(last - first) * size);
    for (std::size_t i = first; i < last; ++i) {
        const std::string& path = inputs.paths[i];
        const format::ImageHeader header =
            inputs.from_manifest ? inputs.header : format::read_header(path);
        check_shape(inputs, path, header.shape);
        const auto to = images.bytes().subspan((i - first) * static_cast<std::size_t>(size),
                                               static_cast<std::size_t>(size));
        const format::PixelCheck found = read_as(element, path, header, to);
        if (!found.good())
            oddities.push_back({path, found});
    }
    return images;
}

std::vector<DeepImage> read_deep_inputs(const Inputs& inputs, std::size_t first, std::size_t last) {
    std::vector<DeepImage> images;
    for (std::size_t i = first; i < last; ++i) {
        images.push_back(format::read_deep(inputs.paths[i]));
        check_shape(inputs, inputs.paths[i], images.back().shape);
    }
    return images;
}

} // namespace sextant::command
