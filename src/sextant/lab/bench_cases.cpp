// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_cases.hpp"

#include "sextant/command/composite/composite.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

/// A function that returns true for active pixels.
using Pattern = bool (*)(std::int64_t x, std::int64_t y, ImageShape shape, int rank, int ranks);

bool in_ellipse(std::int64_t x, std::int64_t y, ImageShape shape, int rank, int ranks) {
    const double side = std::cbrt(1.0 / ranks); // side² is the ellipse's fraction of the image
    const double radius = side / std::sqrt(std::numbers::pi);
    const auto place = [&](int prime) {
        const double along = std::fmod(rank * std::sqrt(prime), 1.0);
        return radius + along * std::max(0.0, 1 - 2 * radius);
    };
    const double dx = (static_cast<double>(x) + .5) / static_cast<double>(shape.width) - place(2);
    const double dy = (static_cast<double>(y) + .5) / static_cast<double>(shape.height) - place(3);
    return dx * dx + dy * dy < radius * radius;
}

struct NamedPattern {
    std::string_view name;
    Pattern drawn;
};

constexpr NamedPattern patterns[] = {
    {"dense", [](std::int64_t, std::int64_t, ImageShape, int, int) { return true; }},
    {"ellipse", in_ellipse},
    {"upper half",
     [](std::int64_t, std::int64_t y, ImageShape shape, int, int) { return y < shape.height / 2; }},
    {"lower half", [](std::int64_t, std::int64_t y, ImageShape shape, int,
                      int) { return y >= shape.height / 2; }},
    {"fine checkerboard", [](std::int64_t x, std::int64_t y, ImageShape, int rank,
                             int) { return (x + y + rank) % 2 == 0; }},
    {"checkerboard", [](std::int64_t x, std::int64_t y, ImageShape, int rank,
                        int) { return (x / 32 + y / 32 + rank) % 2 == 0; }},
};

} // namespace

void for_each_case(const std::string& path, const std::function<void(const JsonField&)>& take) {
    // Limits for hand-written files.
    const JsonField file = JsonField::read(path, {Bytes{1} << 24, 100'000});
    const JsonField cases = file.at("cases");
    if (cases.size() == 0)
        cases.refuse("one or more");
    for (std::size_t i = 0; i < cases.size(); ++i) {
        try {
            take(cases[i]);
        } catch (const InvalidTask& error) {
            throw InvalidFile(path, fmt::format("cases[{}]: {}", i, error.what()));
        }
    }
}

void declare_shape(Record& record, ImageShape& shape) {
    constexpr double widest = 1 << 16;
    record.add("width", shape.width, "PIXELS", "width of the image in pixels").between(1, widest);
    record.add("height", shape.height, "PIXELS", "height of the image in pixels")
        .between(1, widest);
}

Record record_of(CompositeCase& what) {
    Record record;
    record.add("name", what.name, "NAME", "name of the case");
    declare_shape(record, what.shape);
    record.add("operator", what.blend, "NAME", "blending operator");
    record.add("element", what.element, "TYPE", "pixel element type");
    record.add("image", what.image, "NAME", "pattern of active pixels").one_of(image_patterns());
    record.add("collect", what.collect, "collect the image on rank 0");
    record.add("sparse", what.sparse, "time messages both with and without empty pixels");
    record.add("interlaced", what.interlaced,
               "with sparse: time rows both with and without interlacing");
    record.add("all_tunings", what.all_tunings,
               "time each algorithm with all values of its parameters");
    record.add("all_transports", what.all_transports,
               "between processes, time both messages and shared memory");
    record.add("algorithms", what.algorithms, "NAME", "algorithms to time; default: all");
    record.add("reference", what.reference, "NAME",
               "algorithm or MPI operation that time ratios refer to");
    return record;
}

namespace {

/// Checks names before any measurement. Throws InvalidTask.
void complete(CompositeCase& what) {
    kernel::find(what.blend, command::element_named(what.element, what.blend));
    for (const std::string& name : what.algorithms)
        compositing::find(name);
    if (what.name.empty())
        what.name = fmt::format("{} {}x{} {} {}", what.image, what.shape.width, what.shape.height,
                                what.blend, what.element);
}

} // namespace

std::vector<CompositeCase> read_composite_cases(const std::string& path) {
    return read_cases<CompositeCase>(path, complete);
}

std::vector<std::string_view> image_patterns() {
    std::vector<std::string_view> names;
    for (const NamedPattern& pattern : patterns)
        names.push_back(pattern.name);
    return names;
}

void fill_image(Image& wanted, std::string_view name, int rank, int ranks) {
    const auto pattern = std::find_if(std::begin(patterns), std::end(patterns),
                                      [&](const NamedPattern& each) { return each.name == name; });
    const bool depth = has_depth(wanted.element());
    Image image(wanted.shape(), depth ? rgba_depth_f32 : rgba_f32);
    const std::size_t channels = depth ? 5 : 4;
    auto* value = reinterpret_cast<float*>(image.bytes().data());
    std::uint32_t noise = 2654435761u * static_cast<std::uint32_t>(rank + 1);
    for (std::int64_t y = 0; y < image.shape().height; ++y) {
        for (std::int64_t x = 0; x < image.shape().width; ++x, value += channels) {
            noise = noise * 1664525u + 1013904223u;
            const float shade = static_cast<float>(noise >> 8) * 0x1p-24f;
            const bool drawn = pattern->drawn(x, y, image.shape(), rank, ranks);
            const float alpha = drawn ? .25f + .5f * shade : 0;
            value[0] = alpha * shade;
            value[1] = alpha * .5f;
            value[2] = alpha * (1 - shade);
            value[3] = alpha;
            if (depth)
                value[4] = drawn ? shade : INFINITY;
        }
    }
    kernel::convert(image.element(), image.bytes(), wanted.element(), wanted.bytes());
}

namespace {

Image folded(const CompositeCase& what, const Operator& op, int ranks) {
    Image sum(what.shape, op.element), next(what.shape, op.element);
    fill_image(sum, what.image, 0, ranks);
    for (int rank = 1; rank < ranks; ++rank) {
        fill_image(next, what.image, rank, ranks);
        const std::array<const std::byte*, 2> operands = {sum.bytes().data(), next.bytes().data()};
        op.fold(operands, sum.bytes().data(), what.shape.elements());
    }
    return sum;
}

} // namespace

SerialPicture::SerialPicture(const CompositeCase& what, const Operator& op, int ranks)
    : what_(what),
      operator_(op),
      ranks_(ranks),
      channels_(as_floats(folded(what, op, ranks).bytes())) {}

std::vector<float> SerialPicture::as_floats(std::span<const std::byte> pixels) const {
    const ElementFormat& wide = has_depth(operator_.element) ? rgba_depth_f32 : rgba_f32;
    const Elements count = static_cast<Elements>(pixels.size()) / operator_.element.size;
    std::vector<float> values(static_cast<std::size_t>(count * wide.size) / sizeof(float));
    kernel::convert(operator_.element, pixels, wide, std::as_writable_bytes(std::span(values)));
    return values;
}

/// Returns the tolerance: one unit in the last place per fold, because contestants may bracket the
/// images differently.
float SerialPicture::tolerance() const {
    const float unit = operator_.element == rgba_f32   ? 0x1p-23f
                       : operator_.element == rgba_f16 ? 0x1p-10f
                       : operator_.element == rgba_u8  ? 1.0f / 255
                                                       : 0;
    return static_cast<float>(ranks_) * unit;
}

void SerialPicture::check(const std::string& who, std::span<const Elements> pixels,
                          std::span<const std::byte> shown) const {
    const std::vector<float> own = as_floats(shown);
    const std::size_t channels =
        channels_.size() / static_cast<std::size_t>(what_.shape.elements());
    const auto alike = [&](float a, float b) { return a == b || std::abs(a - b) <= tolerance(); };
    const auto at = [&](const std::vector<float>& values, Elements pixel) {
        return values.begin() + static_cast<std::ptrdiff_t>(channels) * pixel;
    };
    bool right = own.size() == pixels.size() * channels;
    for (std::size_t i = 0; right && i < pixels.size(); ++i) {
        const auto local = at(own, static_cast<Elements>(i));
        right = std::equal(local, local + static_cast<std::ptrdiff_t>(channels),
                           at(channels_, pixels[i]), alike);
    }
    if (!right) {
        throw std::logic_error(fmt::format(
            "{} in case '{}': the image differs from that of a serial fold", who, what_.name));
    }
}

} // namespace sextant::lab
