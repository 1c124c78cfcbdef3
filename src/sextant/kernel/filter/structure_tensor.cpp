// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/structure_tensor.hpp"

#include <algorithm>
#include <utility>

namespace sextant::kernel {

namespace {

constexpr Derivative gradient_orders[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr Derivative smoothing_orders[] = {{0, 0, 0}};

} // namespace

StructureTensor::StructureTensor(const Scales& sigma, const Scales& integration, BorderRule rule,
                                 const GaussianKernel& kernel, const Scales& pixel)
    : gradient_(sigma, gradient_orders, rule, kernel, pixel) {
    for (std::size_t k = 0; k < products; ++k)
        products_.emplace_back(integration, smoothing_orders, BorderRule{rule.border, 0}, kernel);
}

int StructureTensor::multiply_adds() const {
    return gradient_.multiply_adds() + static_cast<int>(products) * products_[0].multiply_adds();
}

Tile StructureTensor::reads(const Tile& box, ImageShape image, Elements depth) const {
    return gradient_.reads(products_[0].reads(box, image, depth), image, depth);
}

Bytes StructureTensor::memory(ImageShape block, ImageShape image, Elements depth) const {
    const ImageShape region{std::min(image.width, block.width + 2 * products_[0].reach_x()),
                            std::min(image.height, block.height + 2 * products_[0].reach_y())};
    const Elements planes = static_cast<Elements>(components) * region.elements() +
                            static_cast<Elements>(products) * block.elements();
    return gradient_.memory(region, image, depth) +
           static_cast<Bytes>(products) * products_[0].memory(block, image, depth) +
           planes * static_cast<Bytes>(sizeof(float));
}

void StructureTensor::begin(const Tile& block, ImageShape image, Elements depth) {
    block_ = block;
    for (VolumeDerivatives& product : products_)
        product.begin(block, image, depth);
    const Tile region = products_[0].region();
    gradient_.begin(region, image, depth);
    const Elements block_size = block.width * block.height;
    const Bytes size = (static_cast<Elements>(components) * region.elements() +
                        static_cast<Elements>(products) * block_size) *
                       static_cast<Bytes>(sizeof(float));
    if (memory_.size() < size)
        memory_ = Memory(size);
    auto* next = reinterpret_cast<float*>(memory_.data());
    for (Plane& plane : slopes_)
        plane = {std::exchange(next, next + region.elements()), region.width};
    for (Plane& plane : tensor_)
        plane = {std::exchange(next, next + block_size), block.width};
}

/// Computes plane z of the products around the block.
void StructureTensor::add_products(Elements z, const VolumeDerivatives::Load& load) {
    gradient_.plane(z, load, slopes_);
    const Tile region = products_[0].region();
    std::size_t k = 0;
    for (std::size_t a = 0; a < components; ++a) {
        for (std::size_t b = a; b < components; ++b, ++k) {
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
    for (std::size_t k = 0; k < products; ++k)
        products_[k].filter(z, {&tensor_[k], 1});
    for (Elements y = 0; y < block_.height; ++y) {
        const auto row = [&](const Plane& plane) {
            return plane.first ? plane.first + y * plane.stride : nullptr;
        };
        float* const to[] = {row(outputs[0]), row(outputs[1]), row(outputs[2])};
        eigenvalues({row(tensor_[0]), row(tensor_[1]), row(tensor_[2]), row(tensor_[3]),
                     row(tensor_[4]), row(tensor_[5])},
                    to, block_.width);
    }
}

} // namespace sextant::kernel
