// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/pages/overview.hpp"

#include "sextant/format/png.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace sextant::command {

namespace {

Elements scale_for(ImageShape image, Elements most) {
    return std::max<Elements>(1, (std::max(image.width, image.height) + most - 1) / most);
}

ImageShape divided(ImageShape image, Elements scale) {
    return {(image.width + scale - 1) / scale, (image.height + scale - 1) / scale};
}

/// Returns the channels of "#rrggbb", from 0 to 1.
RgbaF32 channels_of(const std::string& colour) {
    const auto channel = [&](std::size_t at) {
        return static_cast<float>(std::stoi(colour.substr(at, 2), nullptr, 16)) / 255;
    };
    return {channel(1), channel(3), channel(5), 1};
}

/// Returns hues at multiples of the golden angle. Every 21st hue is similar, so the tone changes
/// after 21 hues.
std::vector<RgbaF32> label_colours() {
    constexpr int count = 360;
    constexpr double golden_angle = 137.508;
    constexpr std::array<float, 3> tones{1, .72F, .88F}, whiteness{0, 0, .3F};
    std::vector<RgbaF32> colours;
    for (int i = 0; i < count; ++i) {
        RgbaF32 colour = channels_of(report::colour_of_hue(i * golden_angle).dark);
        const std::size_t tone = static_cast<std::size_t>(i / 21) % tones.size();
        for (float* const channel : {&colour.r, &colour.g, &colour.b}) {
            const float value = *channel * tones[tone] * (1 - whiteness[tone]) + whiteness[tone];
            *channel = std::round(value * 255) / 255;
        }
        colours.push_back(colour);
    }
    return colours;
}

} // namespace

Interval grey_range(std::vector<double> values, double beyond) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    return values.empty() ? Interval{0, 1}
                          : Interval{quantile(values, beyond), quantile(values, 1 - beyond)};
}

RgbaF32 grey_pixel(double value, const Interval& range) {
    const double part = (value - range.low) / std::max(range.high - range.low, 1e-300);
    const float shade = std::isnan(value) ? 0 : static_cast<float>(std::clamp(part, 0., 1.));
    return {shade, shade, shade, 1};
}

Overview::Overview(ImageShape image, Elements most)
    : image_(image),
      scale_(scale_for(image, most)),
      shape_(divided(image, scale_)),
      sums_(static_cast<std::size_t>(shape_.elements())),
      counts_(static_cast<std::size_t>(shape_.elements())) {}

void Overview::add(Elements first, std::span<const float> rows) {
    const auto count = static_cast<Elements>(rows.size());
    if (count % image_.width != 0 || first + count / image_.width > image_.height)
        throw std::logic_error(fmt::format(
            "{} samples starting at row {} are not whole rows of an image of {}x{} pixels",
            rows.size(), first, image_.width, image_.height));
    const float* value = rows.data();
    for (Elements y = first; y < first + count / image_.width; ++y) {
        auto to = static_cast<std::size_t>(y / scale_ * shape_.width);
        for (Elements x = 0; x < image_.width; x += scale_, ++to) {
            for (Elements end = std::min(x + scale_, image_.width) - x; end > 0; --end, ++value) {
                if (!std::isfinite(*value))
                    continue;
                sums_[to] += static_cast<double>(*value);
                ++counts_[to];
            }
        }
    }
}

std::vector<double> Overview::means() const {
    std::vector<double> means(sums_.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < means.size(); ++i) {
        if (counts_[i] > 0)
            means[i] = sums_[i] / static_cast<double>(counts_[i]);
    }
    return means;
}

std::vector<float> Overview::shades() const {
    const std::vector<double> all = means();
    const Interval range = grey_range(all);
    std::vector<float> shades;
    for (const double mean : all)
        shades.push_back(grey_pixel(mean, range).r);
    return shades;
}

std::vector<std::byte> Overview::png() const {
    return LabelOverview(*this).png();
}

Overview overview_of(RowSource& source) {
    constexpr Elements samples_at_once = 1 << 20;
    const ImageShape shape = source.shape();
    Overview overview(shape);
    const Elements rows = std::clamp<Elements>(samples_at_once / shape.width, 1, shape.height);
    Memory memory(rows * shape.width * source.element().size);
    std::vector<float> floats;
    for (Elements first = 0; first < shape.height; first += rows) {
        const Elements count = std::min(rows, shape.height - first) * shape.width;
        const auto bytes = static_cast<std::size_t>(count * source.element().size);
        source.read(first, count / shape.width, memory.bytes().first(bytes));
        std::visit([&](const auto* from) { floats.assign(from, from + count); },
                   distributed::samples_of(source.element(), memory.data()).first);
        overview.add(first, floats);
    }
    return overview;
}

LabelOverview::LabelOverview(const Overview& below)
    : scale_(below.scale()),
      shape_(below.shape()),
      shades_(below.shades()),
      labels_(shades_.size()) {}

void LabelOverview::add(Elements first, std::span<const std::uint64_t> rows, Elements width) {
    const Elements end = first + static_cast<Elements>(rows.size()) / width;
    for (Elements y = (first + scale_ - 1) / scale_; y * scale_ < end; ++y) {
        for (Elements x = 0; x < shape_.width; ++x) {
            const auto from = static_cast<std::size_t>((y * scale_ - first) * width + x * scale_);
            labels_[static_cast<std::size_t>(y * shape_.width + x)] = rows[from];
        }
    }
}

std::vector<std::byte> LabelOverview::png() const {
    Image image(shape_, rgba_f32);
    const auto pixels = image.pixels<RgbaF32>();
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const float shade = shades_[i];
        pixels[i] = labels_[i] == 0 ? RgbaF32{shade, shade, shade, 1} : colour_of_label(labels_[i]);
    }
    return png_of(image);
}

RgbaF32 colour_of_label(std::uint64_t label) {
    static const std::vector<RgbaF32> colours = label_colours();
    return colours[label % colours.size()];
}

std::vector<std::byte> png_of(const Image& image) {
    const std::string png = format::encode_png(image);
    const auto* bytes = reinterpret_cast<const std::byte*>(png.data());
    return {bytes, bytes + png.size()};
}

} // namespace sextant::command
