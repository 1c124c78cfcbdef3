// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/volume_derivatives.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

constexpr Bytes float_bytes = sizeof(float);

/// Filters a constant along z; the result is the value outside the planes after filtering along z.
float filtered_constant(const ScaledHalf& half, int order, float constant) {
    const std::vector<float> line(line_unit, constant);
    const int reach = static_cast<int>(half.weights.size()) - 1;
    const std::vector<const float*> lines(static_cast<std::size_t>(2 * reach + 1), line.data());
    std::array<float, line_unit> filtered{};
    const HalfFilter filter = half.into(filtered.data());
    const bool even = order % 2 == 0;
    weigh_lines({lines.data() + reach, line_unit, even ? filter : HalfFilter{},
                 even ? HalfFilter{} : filter});
    return filtered[0];
}

} // namespace

VolumeDerivatives::VolumeDerivatives(const Scales& sigma, std::span<const Derivative> derivatives,
                                     BorderRule rule, const GaussianKernel& kernel,
                                     const Scales& pixel)
    : rule_(rule), derivatives_(derivatives.begin(), derivatives.end()) {
    if (derivatives.empty())
        throw InvalidTask("no Gaussian derivatives given: expected at least one");
    WantedOrders wanted{};
    const bool is_image = sigma.z < 0;
    const GaussianKernel along_z = is_image ? GaussianKernel{} : kernel;
    const double sigma_z = is_image ? 0 : sigma.z; // not filtered along z
    for (const Derivative& one : derivatives) {
        // gaussian_reach() throws if an argument is out of range.
        reach_z_ = std::max(reach_z_, gaussian_reach(sigma_z, one.z, along_z));
        wanted[static_cast<std::size_t>(one.z)] = true;
    }
    pairs_ = pairs_of(wanted);
    for (int order = 0; order <= highest_order; ++order) {
        if (!wanted[static_cast<std::size_t>(order)])
            continue;
        AlongZ along;
        along.order = order;
        along.half = scaled_half(sigma_z, order, along_z, pixel.z);
        std::vector<Derivative> in_plane;
        for (std::size_t d = 0; d < derivatives.size(); ++d) {
            if (derivatives[d].z != order)
                continue;
            along.derivatives.push_back(d);
            in_plane.push_back(derivatives[d]);
        }
        const BorderRule outside{rule.border, filtered_constant(along.half, order, rule.constant)};
        along.in_plane.emplace(sigma, in_plane, outside, kernel, -along.half.exponent, pixel);
        reach_x_ = std::max(reach_x_, along.in_plane->reach_x());
        reach_y_ = std::max(reach_y_, along.in_plane->reach_y());
        orders_.push_back(std::move(along));
    }
    lines_.resize(static_cast<std::size_t>(2 * reach_z_ + 1));
}

int VolumeDerivatives::multiply_adds() const {
    std::size_t count = 0;
    for (const AlongZ& along : orders_)
        count +=
            along.half.weights.size() + static_cast<std::size_t>(along.in_plane->multiply_adds());
    return static_cast<int>(count);
}

Tile VolumeDerivatives::reads(const Tile& box, ImageShape image, Elements depth) const {
    return read_for(box, image, reach_x_, reach_y_, rule_.border, depth, reach_z_);
}

ImageShape VolumeDerivatives::block_shape() const {
    // Wide and high enough that filtering the samples around each block again costs little, and
    // small enough that the ring of planes fits in a second or third level cache.
    const auto side = [](Elements least, int reach) {
        return (std::max(least, 6 * Elements{reach}) + line_unit - 1) / line_unit * line_unit;
    };
    return {side(4 * line_unit, reach_x_), side(line_unit, reach_y_)};
}

Bytes VolumeDerivatives::memory(ImageShape block, ImageShape image, Elements depth) const {
    const Elements width = std::min(image.width, block.width + 2 * Elements{reach_x_});
    const Elements height = std::min(image.height, block.height + 2 * Elements{reach_y_});
    const Elements planes = std::min<Elements>(2 * Elements{reach_z_} + 1, depth) +
                            static_cast<Elements>(orders_.size());
    Bytes bytes = (planes * height + 1) * line_stride(width) * float_bytes;
    for (const AlongZ& along : orders_)
        bytes += along.in_plane->memory();
    return bytes;
}

void VolumeDerivatives::begin(const Tile& block, ImageShape image, Elements depth) {
    if (rule_.border == Border::wrap && depth > 1) // the ring lacks planes of the opposite end
        throw InvalidTask("border wrap: expected a volume that is padded with its own samples");
    block_ = {block.x, block.y, block.width, block.height};
    region_ = read_for(block_, image, reach_x_, reach_y_, rule_.border);
    image_ = image, depth_ = depth;
    stride_ = line_stride(region_.width);
    slots_ = std::min<Elements>(2 * Elements{reach_z_} + 1, depth);
    next_ = 0;
    const Bytes size = ((slots_ + std::ssize(orders_)) * plane_size() + stride_) * float_bytes;
    if (memory_.size() < size)
        memory_ = Memory(size);
    ring_ = reinterpret_cast<float*>(memory_.data());
    float* next = ring_ + slots_ * plane_size();
    for (AlongZ& along : orders_)
        along.filtered = std::exchange(next, next + plane_size());
    std::fill(next, next + stride_, rule_.constant);
    constant_ = next;
}

VolumeDerivatives::AlongZ* VolumeDerivatives::with_order(int order) {
    const auto at = std::find_if(orders_.begin(), orders_.end(),
                                 [&](const AlongZ& along) { return along.order == order; });
    return at == orders_.end() ? nullptr : &*at;
}

void VolumeDerivatives::filter_along_z(Elements z) {
    std::vector<Elements> steps; // from row to row; 0 for the constant line
    for (Elements k = -reach_z_; k <= reach_z_; ++k) {
        const auto seen = seen_at(rule_.border, z + k, depth_);
        lines_[static_cast<std::size_t>(k + reach_z_)] = seen ? slot(*seen) : constant_;
        steps.push_back(seen ? stride_ : 0);
    }
    for (Elements y = 0; y < region_.height; ++y) {
        check_cancelled(region_.width * (1 + reach_z_));
        for (const OrderPair& pair : pairs_) {
            const auto into = [&](int order) {
                const AlongZ* const along = with_order(order);
                return along ? along->half.into(along->filtered + y * stride_) : HalfFilter{};
            };
            weigh_lines({lines_.data() + reach_z_, region_.width, into(pair.even), into(pair.odd)});
        }
        for (std::size_t k = 0; k < lines_.size(); ++k)
            lines_[k] += steps[k];
    }
}

VolumeDerivatives::Planes VolumeDerivatives::missing(Elements z) const {
    return {std::max(next_, z - reach_z_), std::min(depth_, z + reach_z_ + 1)};
}

VolumeDerivatives::Room VolumeDerivatives::room(Elements z) {
    next_ = z + 1;
    return {slot(z), stride_};
}

void VolumeDerivatives::filter(Elements z, std::span<const Plane> outputs) {
    if (outputs.size() != derivatives_.size())
        throw InvalidTask(
            fmt::format("{} planes for {} Gaussian derivatives, expected one per derivative",
                        outputs.size(), derivatives_.size()));
    filter_along_z(z);
    for (AlongZ& along : orders_) {
        outputs_.clear();
        for (const std::size_t d : along.derivatives)
            outputs_.push_back(outputs[d]);
        along.in_plane->apply({along.filtered, stride_, region_, image_}, block_, outputs_);
    }
}

void VolumeDerivatives::plane(Elements z, const Load& load, std::span<const Plane> outputs) {
    const auto [first, last] = missing(z);
    for (Elements p = first; p < last; ++p) {
        const Room to = room(p);
        load(p, region_, to.first, to.stride);
    }
    filter(z, outputs);
}

namespace {

constexpr Derivative gradient_orders[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr Derivative smoothing_orders[] = {{0, 0, 0}};

std::span<const Derivative> gradient_of(const Scales& sigma) {
    return std::span(gradient_orders).first(sigma.z < 0 ? 2 : 3);
}

} // namespace

StructureTensor::StructureTensor(const Scales& sigma, const Scales& integration, BorderRule rule,
                                 const GaussianKernel& kernel, const Scales& pixel)
    : gradient_(sigma, gradient_of(sigma), rule, kernel, pixel),
      slopes_(gradient_of(sigma).size()),
      tensor_(slopes_.size() * (slopes_.size() + 1) / 2) {
    for (std::size_t k = 0; k < tensor_.size(); ++k)
        products_.emplace_back(integration, smoothing_orders, BorderRule{rule.border, 0}, kernel);
}

int StructureTensor::multiply_adds() const {
    return gradient_.multiply_adds() +
           static_cast<int>(products_.size()) * products_[0].multiply_adds();
}

Tile StructureTensor::reads(const Tile& box, ImageShape image, Elements depth) const {
    return gradient_.reads(products_[0].reads(box, image, depth), image, depth);
}

Bytes StructureTensor::memory(ImageShape block, ImageShape image, Elements depth) const {
    const ImageShape region{std::min(image.width, block.width + 2 * products_[0].reach_x()),
                            std::min(image.height, block.height + 2 * products_[0].reach_y())};
    const Elements planes =
        std::ssize(slopes_) * region.elements() + std::ssize(tensor_) * block.elements();
    return gradient_.memory(region, image, depth) +
           std::ssize(products_) * products_[0].memory(block, image, depth) +
           planes * static_cast<Bytes>(sizeof(float));
}

void StructureTensor::begin(const Tile& block, ImageShape image, Elements depth) {
    block_ = block;
    for (VolumeDerivatives& product : products_)
        product.begin(block, image, depth);
    const Tile region = products_[0].region();
    gradient_.begin(region, image, depth);
    const Elements block_size = block.width * block.height;
    const Bytes size =
        (std::ssize(slopes_) * region.elements() + std::ssize(tensor_) * block_size) * float_bytes;
    if (memory_.size() < size)
        memory_ = Memory(size);
    auto* next = reinterpret_cast<float*>(memory_.data());
    for (Plane& plane : slopes_)
        plane = {std::exchange(next, next + region.elements()), region.width};
    for (Plane& plane : tensor_)
        plane = {std::exchange(next, next + block_size), block.width};
}

/// Computes plane z of the gradient's products, in the block and around it.
void StructureTensor::add_products(Elements z, const VolumeDerivatives::Load& load) {
    gradient_.plane(z, load, slopes_);
    const Tile region = products_[0].region();
    std::size_t k = 0;
    for (std::size_t a = 0; a < slopes_.size(); ++a) {
        for (std::size_t b = a; b < slopes_.size(); ++b, ++k) {
            const VolumeDerivatives::Room room = products_[k].room(z);
            for (Elements y = 0; y < region.height; ++y) {
                const float* const one = slopes_[a].first + y * slopes_[a].stride;
                const float* const other = slopes_[b].first + y * slopes_[b].stride;
                float* const to = room.first + y * room.stride;
                for (Elements x = 0; x < region.width; ++x)
                    to[x] = one[x] * other[x];
            }
        }
    }
}

void StructureTensor::plane(Elements z, const VolumeDerivatives::Load& load,
                            const std::array<Plane, 3>& outputs) {
    const auto [first, last] = products_[0].missing(z);
    for (Elements p = first; p < last; ++p)
        add_products(p, load);
    for (std::size_t k = 0; k < products_.size(); ++k)
        products_[k].filter(z, {&tensor_[k], 1});
    std::vector<const float*> of(tensor_.size());
    for (Elements y = 0; y < block_.height; ++y) {
        const auto row = [&](const Plane& plane) {
            return plane.first ? plane.first + y * plane.stride : nullptr;
        };
        std::ranges::transform(tensor_, of.begin(), row);
        float* const to[] = {row(outputs[0]), row(outputs[1]), row(outputs[2])};
        eigenvalues(of, to, block_.width);
    }
}

} // namespace sextant::kernel
