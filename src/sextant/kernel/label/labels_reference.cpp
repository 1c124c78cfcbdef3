// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/labels_reference.hpp"

#include <algorithm>
#include <cstdlib>

namespace sextant::kernel {

namespace {

struct Pixel {
    Elements x, y; ///< in the tile
};

/// Floods components of a tile one by one.
class Flood {
  public:
    Flood(const ValueView& input, Connection connection)
        : input_(input),
          connection_(connection),
          made_{std::vector<Label>(static_cast<std::size_t>(input.tile.elements())), {}} {}

    Labelling run() {
        for (Elements y = 0; y < input_.tile.height; ++y) {
            for (Elements x = 0; x < input_.tile.width; ++x) {
                if (!is_background({x, y}) && label({x, y}) == 0)
                    flood_from({x, y});
            }
        }
        return std::move(made_);
    }

  private:
    void flood_from(Pixel first) {
        made_.components.emplace_back();
        std::vector<Pixel> waiting;
        const auto take = [&](Pixel pixel) {
            label(pixel) = static_cast<Label>(made_.components.size());
            waiting.push_back(pixel);
        };
        take(first);
        while (!waiting.empty()) {
            const Pixel pixel = waiting.back();
            waiting.pop_back();
            count(pixel);
            for (Elements dy = -1; dy <= 1; ++dy) {
                for (Elements dx = -1; dx <= 1; ++dx) {
                    const Pixel next{pixel.x + dx, pixel.y + dy};
                    if (touch(dx, dy) && inside(next) && label(next) == 0 && belong(pixel, next))
                        take(next);
                }
            }
        }
    }

    void count(Pixel pixel) {
        const Elements x = input_.tile.x + pixel.x, y = input_.tile.y + pixel.y;
        Component& component = made_.components.back();
        Tile& box = component.box;
        if (component.area++ == 0) {
            component.first = y * input_.image.width + x;
            box = {x, y, 1, 1};
        }
        component.sum_x += x;
        component.sum_y += y;
        const Elements right = std::max(box.x + box.width, x + 1);
        const Elements bottom = std::max(box.y + box.height, y + 1);
        box.x = std::min(box.x, x);
        box.y = std::min(box.y, y);
        box.width = right - box.x;
        box.height = bottom - box.y;
    }

    bool touch(Elements dx, Elements dy) const {
        const Elements steps = std::abs(dx) + std::abs(dy);
        return steps == 1 || (steps == 2 && connection_.neighbours == Neighbours::eight);
    }
    bool inside(Pixel p) const {
        return p.x >= 0 && p.x < input_.tile.width && p.y >= 0 && p.y < input_.tile.height;
    }
    bool belong(Pixel a, Pixel b) const {
        return !is_background(b) && (connection_.sameness == Sameness::foreground || equal(a, b));
    }
    bool is_background(Pixel p) const {
        return std::visit([&](const auto* first) { return first[at(p)] == 0; }, input_.first);
    }
    bool equal(Pixel a, Pixel b) const {
        return std::visit([&](const auto* first) { return first[at(a)] == first[at(b)]; },
                          input_.first);
    }
    Elements at(Pixel p) const { return p.y * input_.stride + p.x; }
    Label& label(Pixel p) {
        return made_.labels[static_cast<std::size_t>(p.y * input_.tile.width + p.x)];
    }

    const ValueView input_;
    const Connection connection_;
    Labelling made_;
};

} // namespace

Labelling labels_reference(const ValueView& input, Connection connection) {
    return Flood(input, connection).run();
}

} // namespace sextant::kernel
