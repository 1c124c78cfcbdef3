// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/direct_algorithms.hpp"

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>

namespace sextant::compositing {

Program direct_send(const Task& task, Partners partners, int window, int position,
                    ImageOrder images) {
    const int p = task.positions();
    const int layers = task.layers_at(position);
    ProgramBuilder builder;
    const Region input = builder.input(task.elements * layers);
    const auto part = [&](int i) {
        const Piece piece = equal_part(task, i);
        return block(input.buffer, piece.first, piece.count);
    };
    const Region local = part(position);

    builder.window(window);
    // Indexed by position: the region with that position's pixels of this part.
    std::vector<Region> slots(static_cast<std::size_t>(p));
    slots[static_cast<std::size_t>(position)] = in_all_layers(local, task.elements, layers);
    for (int step = 1; step < p; ++step) {
        int to = step - 1 < position ? step - 1 : step, from = to;
        if (partners == Partners::shifted) {
            to = (position + step) % p;
            from = (position - step + p) % p;
        }
        builder.round(step - 1);
        builder.send(to, in_all_layers(part(to), task.elements, layers));
        const int incoming = task.layers_at(from);
        const Region slot = builder.scratch(local.length * incoming);
        builder.receive(from, slot);
        slots[static_cast<std::size_t>(from)] = {slot.buffer, 0, local.length, local.length,
                                                 incoming};
    }

    std::vector<Region> operands;
    if (images.empty()) {
        for (const Region& slot : slots)
            append_runs(operands, slot);
    }
    for (const auto& [of, image] : images) {
        const Region& slot = slots[static_cast<std::size_t>(of)];
        operands.push_back(block(slot.buffer, slot.offset + image * slot.stride, slot.length));
    }
    if (operands.size() == 1)
        return builder.finish(local);
    // The sum overwrites the first operand outside the caller's input.
    Region sum;
    for (const Region& operand : operands) {
        if (operand.buffer != input.buffer) {
            sum = operand;
            break;
        }
    }
    if (sum.empty())
        sum = builder.scratch(local.length); // there is only one position
    builder.fold(sum, operands);
    return builder.finish(sum);
}

Program shift_based(const Task& task, int window, int position, ImageOrder images) {
    return direct_send(task, Partners::shifted, window, position, images);
}

namespace {

/// The partial results of a part that travels around the ring: one of the images in front, and one
/// of those behind. `front` is empty until the part passes from the last position to the first (the
/// wrap).
struct Partial {
    Region front, back;
};

/// Builds one position's program.
class Pipeline {
  public:
    Pipeline(const Task& task, int window, int position)
        : task_(task), p_(task.positions()), position_(position) {
        input_ = builder_.input(task.elements * task.layers_at(position));
        builder_.window(window);
    }

    Program make() {
        Partial held{{}, blended(builder_, own(part_at(0)))};
        for (int step = 1; step < p_; ++step) {
            builder_.round(step - 1);
            const Region message[] = {held.front, held.back};
            builder_.send((position_ + 1) % p_, message);
            held = take_in(part_at(step));
        }
        return builder_.finish(joined(held));
    }

  private:
    /// The part that this position holds after `step` steps. In each step, parts move on by one
    /// position.
    int part_at(int step) const { return (position_ - 1 - step + 2 * p_) % p_; }

    /// This position's own pixels of a part, in all its layers.
    Region own(int c) const {
        const Region image = block(input_.buffer, 0, task_.elements);
        return in_all_layers(part(image, c, p_), task_.elements, task_.layers_at(position_));
    }

    /// Receives part c and blends it with this position's own pixels.
    Partial take_in(int c) {
        const Region local = own(c);
        const Elements n = local.length;
        const int start = (c + 1) % p_;
        if (position_ >= start) {
            const Region back = receive(n, c);
            blend_behind(back, local);
            return {{}, back};
        }
        if (position_ == 0) // the first image is in front of all received ones
            return {blended(builder_, local), receive(n, c)};
        const Region both = receive(2 * n, c);
        const Partial held{block(both.buffer, 0, n), block(both.buffer, n, n)};
        blend_behind(held.front, local);
        return held;
    }

    Region receive(Elements count, int c) {
        const Region slot = slot_for(count, c);
        builder_.receive((position_ - 1 + p_) % p_, slot);
        return slot;
    }

    /// Slots are reused, because a part received some steps ago has been sent on. The slots
    /// together hold one image, and each has room for two partial results. There are at least two
    /// slots, one to receive into and one to send from.
    Region slot_for(Elements count, int c) {
        const std::size_t most = static_cast<std::size_t>(std::max(2, p_ / 2));
        const std::size_t step = static_cast<std::size_t>((position_ - 1 - c + p_) % p_);
        if (p_ - 1 <= static_cast<int>(most))
            return builder_.scratch(count);
        if (slots_.size() < most)
            slots_.push_back(builder_.scratch(2 * part_at_most()));
        return block(slots_[(step - 1) % most].buffer, 0, count);
    }

    Elements part_at_most() const { return (task_.elements + p_ - 1) / p_; }

    void blend_behind(const Region& sum, const Region& local) {
        std::vector<Region> operands{sum};
        append_runs(operands, local);
        builder_.fold(sum, operands);
    }

    /// Blends both partial results into the back one, because the front one may be in the caller's
    /// input.
    Region joined(const Partial& held) {
        if (!held.front.empty())
            builder_.fold(held.back, {held.front, held.back});
        return held.back;
    }

    const Task& task_;
    const int p_, position_;
    ProgramBuilder builder_;
    Region input_;
    std::vector<Region> slots_; // used round-robin
};

} // namespace

Program parallel_pipeline(const Task& task, int window, int position) {
    return Pipeline(task, window, position).make();
}

} // namespace sextant::compositing
