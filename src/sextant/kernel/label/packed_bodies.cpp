// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/packed_bodies.hpp"

#include "sextant/core/error.hpp"

#include <bit>
#include <utility>

namespace sextant::kernel {

namespace {

/// The axes of each product of a Body: zz, yy, xx, zy, zx, yx.
constexpr std::pair<std::size_t, std::size_t> product_axes[] = {{0, 0}, {1, 1}, {2, 2},
                                                                {0, 1}, {0, 2}, {1, 2}};

/// The sum of products of coordinates relative to the first corner of the box, minus the sum of
/// products of absolute coordinates.
Elements shift_of(const Body& body, std::size_t product) {
    const auto [a, b] = product_axes[product];
    return body.voxels * body.low[a] * body.low[b] - body.low[b] * body.sums[a] -
           body.low[a] * body.sums[b];
}

/// Zigzag code: maps 0, −1, 1, −2, 2, … to 0, 1, 2, 3, 4, …
std::uint64_t unsigned_of(std::int16_t number) {
    return static_cast<std::uint64_t>(number < 0 ? -2 * number - 1 : 2 * number);
}

std::int16_t signed_of(std::uint64_t code) {
    const auto half = static_cast<int>(code / 2 & 0x7FFF);
    return static_cast<std::int16_t>(code % 2 > 0 ? -half - 1 : half);
}

} // namespace

void PackedBodies::add(std::uint64_t number) {
    for (; number >= 128; number >>= 7)
        bytes_.push_back(static_cast<std::byte>(number | 128));
    bytes_.push_back(static_cast<std::byte>(number));
}

void PackedBodies::add(Label label, const Body& body) {
    const auto add_number = [&](Elements number) { add(static_cast<std::uint64_t>(number)); };
    add(static_cast<std::uint64_t>(label - last_label_));
    add_number(body.first - last_first_);
    last_label_ = label;
    last_first_ = body.first;
    add_number(2 * body.voxels + (body.at_border ? 1 : 0));
    if (contents_.values)
        add(body.value);
    if (contents_.intensities) {
        for (const double measure :
             {body.intensity, body.intensity_error, body.least, body.largest}) {
            const auto bytes = std::bit_cast<std::array<std::byte, sizeof(double)>>(measure);
            bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        }
        add(2 * unsigned_of(body.least_rest) + (body.scaled ? 1 : 0));
        add(unsigned_of(body.largest_rest));
    }
    if (body.voxels == 1)
        return;
    const Elements height = contents_.volume.height, width = contents_.volume.width;
    add_number(body.first / width % height - body.low[1]);
    add_number(body.first % width - body.low[2]);
    add_number(body.contacts);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        add_number(body.high[axis] - body.low[axis]);
        if (body.high[axis] > body.low[axis])
            add_number(body.sums[axis] - body.voxels * body.low[axis]);
    }
    for (std::size_t i = 0; i < body.products.size(); ++i) {
        const auto [a, b] = product_axes[i];
        if (body.high[a] > body.low[a] && body.high[b] > body.low[b])
            add_number(body.products[i] + shift_of(body, i));
    }
}

std::vector<std::byte> PackedBodies::take() {
    last_label_ = 0;
    last_first_ = 0;
    return std::exchange(bytes_, {});
}

std::uint64_t BodyReader::take() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (bytes_.empty())
            break;
        const auto next = static_cast<std::uint64_t>(bytes_.front());
        bytes_ = bytes_.subspan(1);
        number |= (next & 127) << shift;
        if (next < 128)
            return number;
    }
    throw Error("a record is damaged: the measures of components are truncated");
}

double BodyReader::take_double() {
    std::array<std::byte, sizeof(double)> bytes;
    if (bytes_.size() < bytes.size())
        throw Error("a record is damaged: the measures of components are truncated");
    std::ranges::copy(bytes_.first(bytes.size()), bytes.begin());
    bytes_ = bytes_.subspan(bytes.size());
    return std::bit_cast<double>(bytes);
}

bool BodyReader::next() {
    if (bytes_.empty())
        return false;
    label_ += static_cast<Label>(take());
    Body body;
    body.first = (body_.first < 0 ? 0 : body_.first) + take_number();
    const std::uint64_t size = take();
    body.voxels = static_cast<Elements>(size / 2);
    body.at_border = size % 2 > 0;
    if (contents_.values)
        body.value = take();
    if (contents_.intensities) {
        for (double* const measure :
             {&body.intensity, &body.intensity_error, &body.least, &body.largest})
            *measure = take_double();
        const std::uint64_t least = take();
        body.scaled = least % 2 > 0;
        body.least_rest = signed_of(least / 2);
        body.largest_rest = signed_of(take());
    }
    const Elements height = contents_.volume.height, width = contents_.volume.width;
    body.low = {body.first / width / height, body.first / width % height, body.first % width};
    body.high = body.low;
    std::array<Elements, 3> sums{};
    std::array<Elements, 6> products{};
    if (body.voxels > 1) {
        body.low[1] -= take_number();
        body.low[2] -= take_number();
        body.contacts = take_number();
        for (std::size_t axis = 0; axis < 3; ++axis) {
            body.high[axis] = body.low[axis] + take_number();
            if (body.high[axis] > body.low[axis])
                sums[axis] = take_number();
        }
        for (std::size_t i = 0; i < products.size(); ++i) {
            const auto [a, b] = product_axes[i];
            if (body.high[a] > body.low[a] && body.high[b] > body.low[b])
                products[i] = take_number();
        }
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
        body.sums[axis] = sums[axis] + body.voxels * body.low[axis];
    for (std::size_t i = 0; i < products.size(); ++i)
        body.products[i] = products[i] - shift_of(body, i);
    body_ = body;
    return true;
}

} // namespace sextant::kernel
