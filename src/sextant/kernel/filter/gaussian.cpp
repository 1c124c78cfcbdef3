// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/gaussian.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"
#include "sextant/kernel/filter/samples.hpp"
#include "sextant/kernel/pixel_fold.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/cache_control.h>

namespace sextant::kernel {

Elements line_stride(Elements width) {
    constexpr Elements cache_line = 64 / sizeof(float);
    return (width + line_unit - 1) / line_unit * line_unit + cache_line;
}

Bytes RowRing::memory_for(int reach, Elements width) {
    return (2 * reach + 1) * line_stride(width) * static_cast<Bytes>(sizeof(float));
}

RowRing::RowRing(int reach, Elements width) : reach_(reach), memory_(memory_for(reach, width)) {
    auto* const first = reinterpret_cast<float*>(memory_.data());
    for (int copy = 0; copy < 2; ++copy) {
        for (Elements row = 0; row < count(); ++row)
            rows_.push_back(first + row * line_stride(width));
    }
}

namespace {

std::size_t at(int order) {
    return static_cast<std::size_t>(order);
}

/// The width of strips whose filtered rows fit in an L2 cache. Results do not depend on it.
Elements width_of_strips(std::size_t rings, int reach) {
    constexpr Bytes share = Bytes{384} << 10;
    const Bytes column = static_cast<Bytes>(rings * sizeof(float)) * (2 * reach + 1);
    return std::clamp<Elements>(share / column / line_unit, 2, 16) * line_unit;
}

/// The number of rows between calls to `progress`. That many rows take about 0.1 ms.
constexpr Elements rows_between_calls = 16;

/// The weights at distances k = 0 … reach, scaled by 2^exponent.
std::vector<float> half_of(const std::vector<double>& weights, int exponent) {
    std::vector<float> half;
    for (std::size_t i = weights.size() / 2; i < weights.size(); ++i)
        half.push_back(static_cast<float>(std::ldexp(weights[i], exponent)));
    return half;
}

/// Weights of a derivative along an axis whose pixels have this size.
std::vector<double> weights_per_unit(double sigma, int order, const GaussianKernel& kernel,
                                     double pixel) {
    std::vector<double> weights = gaussian_weights(sigma, order, kernel);
    for (double& weight : weights)
        weight *= std::pow(pixel, -order);
    return weights;
}

/// The exponent that scales the sum of the weights' magnitudes to between ½ and 1, so that results
/// are no larger than the samples.
int exponent_to_one(const std::vector<double>& weights) {
    double sum = 0;
    for (const double weight : weights)
        sum += std::abs(weight);
    constexpr double rounding = 1.001;
    return sum > 0 ? -1 - std::ilogb(sum * rounding) : 0;
}

HalfFilter filter(const std::vector<float>& weights, float* to, bool stream = false) {
    return {weights.data(), static_cast<int>(weights.size()) - 1, to, stream};
}

std::string text(const Tile& tile) {
    return fmt::format("{}x{} samples at ({}, {})", tile.width, tile.height, tile.x, tile.y);
}

bool empty(const Tile& tile) {
    return tile.width == 0 || tile.height == 0;
}

} // namespace

std::vector<OrderPair> pairs_of(const WantedOrders& wanted) {
    std::vector<int> even, odd;
    for (int order = highest_order; order >= 0; --order) {
        if (wanted[at(order)])
            (order % 2 == 0 ? even : odd).push_back(order);
    }
    std::vector<OrderPair> all(std::max(even.size(), odd.size()));
    for (std::size_t i = 0; i < even.size(); ++i)
        all[i].even = even[i];
    for (std::size_t i = 0; i < odd.size(); ++i)
        all[i].odd = odd[i];
    return all;
}

ScaledHalf scaled_half(double sigma, int order, const GaussianKernel& kernel, double pixel) {
    const std::vector<double> weights = weights_per_unit(sigma, order, kernel, pixel);
    const int exponent = exponent_to_one(weights);
    return {half_of(weights, exponent), exponent};
}

GaussianDerivatives::GaussianDerivatives(const Scales& sigma,
                                         std::span<const Derivative> derivatives, BorderRule rule,
                                         const GaussianKernel& kernel, int exponent,
                                         const Scales& pixel)
    : rule_(rule) {
    if (derivatives.empty())
        throw InvalidTask("no Gaussian derivatives given: expected at least one");
    WantedOrders along_x{};
    std::array<WantedOrders, orders> along_y{};
    std::array<ScaledHalf, orders> of_rows;             // by order along x
    std::array<std::vector<double>, orders> of_columns; // weights by order along y
    for (auto& row : plane_)
        row.fill(none);
    for (const auto& [x, y, z] : derivatives) {
        // gaussian_reach() throws if an argument is out of range.
        reach_x_ = std::max(reach_x_, gaussian_reach(sigma.x, x, kernel));
        reach_y_ = std::max(reach_y_, gaussian_reach(sigma.y, y, kernel));
        if (along_y[at(x)][at(y)])
            throw InvalidTask(
                fmt::format("the Gaussian derivative of orders {}, {} is requested twice", x, y));
        if (!along_x[at(x)])
            of_rows[at(x)] = scaled_half(sigma.x, x, kernel, pixel.x);
        if (of_columns[at(y)].empty())
            of_columns[at(y)] = weights_per_unit(sigma.y, y, kernel, pixel.y);
        along_x[at(x)] = along_y[at(x)][at(y)] = true;
        plane_[at(x)][at(y)] = static_cast<int>(planes_++);
        row_weights_[at(x)] = of_rows[at(x)].weights;
        column_weights_[at(x)][at(y)] =
            half_of(of_columns[at(y)], exponent - of_rows[at(x)].exponent);
    }
    rows_ = pairs_of(along_x);
    std::transform(along_y.begin(), along_y.end(), columns_.begin(), pairs_of);

    const auto rings = static_cast<std::size_t>(std::count(along_x.begin(), along_x.end(), true));
    strip_width_ = width_of_strips(rings, reach_y_);
}

Elements GaussianDerivatives::line_length() const {
    return strip_width_ + 2 * reach_x_ + line_unit;
}

void GaussianDerivatives::allocate() {
    for (std::size_t order = 0; order < orders; ++order) {
        if (!row_weights_[order].empty())
            filtered_[order] = RowRing(reach_y_, strip_width_);
    }
    line_ = Memory(line_length() * static_cast<Bytes>(sizeof(float)));
    for (int k = -reach_x_; k <= reach_x_; ++k)
        shifted_.push_back(reinterpret_cast<const float*>(line_.data()) + reach_x_ + k);
}

int GaussianDerivatives::multiply_adds() const {
    std::size_t count = 0;
    for (std::size_t x = 0; x < orders; ++x) {
        for (std::size_t y = 0; y < orders; ++y)
            count += column_weights_[x][y].size();
        count += row_weights_[x].size();
    }
    return static_cast<int>(count);
}

Bytes GaussianDerivatives::memory() const {
    const auto rings =
        std::ranges::count_if(row_weights_, [](const Half& h) { return !h.empty(); });
    return rings * RowRing::memory_for(reach_y_, strip_width_) +
           line_length() * static_cast<Bytes>(sizeof(float));
}

Tile GaussianDerivatives::reads(const Tile& tile, ImageShape image) const {
    return read_for(tile, image, reach_x_, reach_y_, rule_.border);
}

void GaussianDerivatives::check(SamplePieces input, const Tile& tile) const {
    if (input.empty())
        throw InvalidTask("Gaussian derivatives: no input samples given");
    const ImageShape image = input.front().image;
    if (tile.width < 0 || tile.height < 0 || !Tile{0, 0, image.width, image.height}.holds(tile))
        throw InvalidTask(
            fmt::format("Gaussian derivatives are requested for {}, expected a tile within {}x{}",
                        text(tile), image.width, image.height));
    if (empty(tile))
        return;
    const Tile needed = reads(tile, image);
    if (hold(input, needed))
        return;
    std::vector<std::string> given;
    for (const SampleView& piece : input)
        given.push_back(text(piece.tile));
    throw InvalidTask(fmt::format("Gaussian derivatives for {} require {}, got {}", text(tile),
                                  text(needed), fmt::join(given, ", ")));
}

void GaussianDerivatives::check(const Tile& tile, std::span<const Plane> outputs) const {
    if (outputs.size() != planes_)
        throw InvalidTask(
            fmt::format("{} planes for {} Gaussian derivatives, expected one per derivative",
                        outputs.size(), planes_));
    for (const Plane& plane : outputs) {
        if (empty(tile))
            return;
        if (!plane.first || (tile.height > 1 && std::abs(plane.stride) < tile.width))
            throw InvalidTask(fmt::format("a stride of {} is too small for a plane of {}",
                                          plane.stride, text(tile)));
    }
}

void GaussianDerivatives::apply(const SampleView& input, const Tile& tile,
                                std::span<const Plane> outputs,
                                const std::function<void()>& progress) {
    check({&input, 1}, tile);
    check(tile, outputs);
    const auto images = static_cast<Bytes>(planes_ + 1);
    const bool stream =
        exceeds_caches(images * tile.elements() * static_cast<Bytes>(sizeof(float)));
    const Sweep sweep{{&input, 1}, tile, outputs, stream, {}, progress};
    for (Elements x = 0; x < tile.width; x += strip_width_)
        apply_strip(sweep,
                    {tile.x + x, tile.y, std::min(strip_width_, tile.width - x), tile.height});
    if (stream)
        hwy::FlushStream();
}

void GaussianDerivatives::each_row(SamplePieces input, const Tile& strip,
                                   const std::function<void(std::span<const float* const>)>& take) {
    check(input, strip);
    if (strip.width > strip_width_)
        throw InvalidTask(
            fmt::format("{}: expected at most {} samples per row", text(strip), strip_width_));
    const auto planes = static_cast<Bytes>(planes_);
    if (row_.size() == 0)
        row_ = Memory(planes * strip_width_ * static_cast<Bytes>(sizeof(float)));
    std::vector<Plane> outputs; // each row overwrites the previous one
    std::vector<const float*> rows;
    for (Bytes k = 0; k < planes; ++k) {
        outputs.push_back({reinterpret_cast<float*>(row_.data()) + k * strip_width_, 0});
        rows.push_back(outputs.back().first);
    }
    if (!empty(strip))
        apply_strip({input, strip, outputs, false, [&] { take(rows); }, {}}, strip);
}

void GaussianDerivatives::apply_strip(const Sweep& sweep, const Tile& strip) {
    if (shifted_.empty())
        allocate();
    Elements next = strip.y - reach_y_;
    for (Elements y = strip.y; y < strip.y + strip.height; ++y) {
        for (; next <= y + reach_y_; ++next) {
            filter_row(sweep.input, strip, next);
            check_cancelled(strip.width * (1 + reach_x_));
            if (sweep.progress && next % rows_between_calls == 0)
                sweep.progress();
        }
        filter_columns(sweep, strip, y);
        check_cancelled(strip.width * (1 + reach_y_));
        if (sweep.after_row)
            sweep.after_row();
    }
}

void GaussianDerivatives::filter_row(SamplePieces input, const Tile& strip, Elements y) {
    const std::span<float> line(reinterpret_cast<float*>(line_.data()),
                                static_cast<std::size_t>(strip.width + 2 * reach_x_));
    read_line(input, rule_, strip.x - reach_x_, y, line);
    const auto into_ring = [&](int order) {
        return order == none ? HalfFilter{}
                             : filter(row_weights_[at(order)],
                                      filtered_[at(order)].row(y - strip.y + reach_y_));
    };
    for (const OrderPair& pair : rows_)
        weigh_lines(
            {shifted_.data() + reach_x_, strip.width, into_ring(pair.even), into_ring(pair.odd)});
}

void GaussianDerivatives::filter_columns(const Sweep& sweep, const Tile& strip, Elements y) {
    for (int order_x = 0; order_x <= highest_order; ++order_x) {
        const RowRing& rows = filtered_[at(order_x)];
        for (const OrderPair& pair : columns_[at(order_x)])
            weigh_lines({rows.around(y - strip.y + reach_y_), strip.width,
                         filter_into_plane(sweep, strip, y, order_x, pair.even),
                         filter_into_plane(sweep, strip, y, order_x, pair.odd)});
    }
}

HalfFilter GaussianDerivatives::filter_into_plane(const Sweep& sweep, const Tile& strip, Elements y,
                                                  int order_x, int order_y) const {
    if (order_y == none)
        return {};
    const Plane& plane = sweep.outputs[at(plane_[at(order_x)][at(order_y)])];
    float* const to = plane.first + (y - sweep.tile.y) * plane.stride + strip.x - sweep.tile.x;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % stream_alignment == 0;
    return filter(column_weights_[at(order_x)][at(order_y)], to, sweep.stream && aligned);
}

} // namespace sextant::kernel
