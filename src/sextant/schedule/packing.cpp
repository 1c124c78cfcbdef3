// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/packing.hpp"

#include <span>

namespace sextant {

namespace {

class Packing {
  public:
    explicit Packing(const Program& program) : from_(program), made_(program) {
        made_.steps.clear();
        made_.regions.clear();
    }

    Program make() {
        for (const Step& step : from_.steps) {
            const auto regions = from_.regions_of(step);
            const bool in_pieces = regions.size() > 1 || !regions[0].contiguous();
            if (is_message(step.verb) && in_pieces)
                pack(step, regions);
            else
                add(step, regions, from_.made_by(step));
        }
        return std::move(made_);
    }

  private:
    void add(Step step, std::span<const Region> regions, std::span<const Region> made = {}) {
        step.first = static_cast<std::uint32_t>(made_.regions.size());
        step.count = static_cast<std::uint32_t>(regions.size());
        made_.regions.insert(made_.regions.end(), regions.begin(), regions.end());
        made_.regions.insert(made_.regions.end(), made.begin(), made.end());
        made_.steps.push_back(step);
    }

    void pack(const Step& message, std::span<const Region> regions) {
        const Region packed =
            block(static_cast<int>(made_.buffers.size()), 0, from_.elements_of(message));
        made_.buffers.push_back(
            {Role::scratch, packed.length, from_.element_size(regions[0].buffer, 0)});
        if (message.verb == Verb::receive)
            add(message, {&packed, 1});
        Elements offset = 0;
        for (const Region& piece : regions) {
            const Region place = block(packed.buffer, offset, piece.elements());
            offset += piece.elements();
            if (message.verb == Verb::receive)
                copy(message, piece, place);
            else
                copy(message, place, piece);
        }
        if (message.verb == Verb::send)
            add(message, {&packed, 1});
    }

    void copy(const Step& of, const Region& to, const Region& from) {
        Step step;
        step.round = of.round;
        step.group = of.group;
        step.to = to;
        add(step, {&from, 1});
    }

    const Program& from_;
    Program made_;
};

} // namespace

Program with_packed_messages(const Program& program) {
    return Packing(program).make();
}

} // namespace sextant
