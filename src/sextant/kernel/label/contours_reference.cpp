// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/contours_reference.hpp"

#include "sextant/core/error.hpp"

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

class Walk {
  public:
    explicit Walk(const DirectionView& input)
        : input_(input),
          before_(static_cast<std::size_t>(input.image.elements()), none),
          links_(before_),
          ranked_(before_.size()) {}

    std::vector<Ranked> run() {
        each_point([&](Elements pixel) { choose_predecessor(pixel); });
        each_point([&](Elements pixel) {
            if (before_[at(pixel)] != none)
                links_[at(before_[at(pixel)])] = pixel;
        });
        each_point([&](Elements pixel) {
            if (links_[at(pixel)] == none)
                walk_from(pixel);
        });
        each_point([&](Elements pixel) { // what is left is closed
            if (ranked_[at(pixel)].rank < 0)
                walk_from(pixel);
        });
        return std::move(ranked_);
    }

  private:
    static constexpr Elements none = -1;

    static std::size_t at(Elements pixel) { return static_cast<std::size_t>(pixel); }

    template <class Body>
    void each_point(Body&& body) {
        for (Elements pixel = 0; pixel < input_.image.elements(); ++pixel) {
            if (direction(pixel) != no_edge)
                body(pixel);
        }
    }

    Direction direction(Elements pixel) const {
        const Elements width = input_.image.width;
        return input_.first[pixel / width * input_.stride + pixel % width];
    }

    /// The pixel that its direction leads to, if it has one.
    Elements next(Elements pixel) const {
        const Direction code = direction(pixel);
        if (code < 0)
            return none;
        const auto [width, height] = input_.image;
        const Elements x = pixel % width + steps[code].x, y = pixel / width + steps[code].y;
        if (x < 0 || x >= width || y < 0 || y >= height || direction(y * width + x) == no_edge)
            throw InvalidTask(fmt::format("direction {} at ({}, {}) leads to no edge point", code,
                                          pixel % width, pixel / width));
        return y * width + x;
    }

    /// Offers a point to the one that follows it, which keeps the lowest direction.
    void choose_predecessor(Elements pixel) {
        const Elements follower = next(pixel);
        if (follower == none)
            return;
        Elements& before = before_[at(follower)];
        if (before == none || direction(pixel) < direction(before))
            before = pixel;
    }

    void walk_from(Elements head) {
        Elements rank = 0;
        for (Elements pixel = head; pixel != none && ranked_[at(pixel)].rank < 0;
             pixel = before_[at(pixel)])
            ranked_[at(pixel)] = {head, rank++};
    }

    const DirectionView& input_;
    std::vector<Elements> before_, links_;
    std::vector<Ranked> ranked_;
};

} // namespace

std::vector<Ranked> contours_reference(const DirectionView& input) {
    return Walk(input).run();
}

} // namespace sextant::kernel
