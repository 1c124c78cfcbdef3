// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/swap_algorithms.hpp"

#include "sextant/compositing/composite_task.hpp"
#include "sextant/core/error.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::compositing {

namespace {

/// The position that gets the composited image. It is the position of the root if the root has an
/// image, which saves a message; otherwise 0.
int end_of(const Task& task) {
    return std::max(0, task.position_of(task.root));
}

/// The position that holds the blended image of positions first ... last − 1.
int holder(int first, int last, int end) {
    return first <= end && end < last ? end : first;
}

} // namespace

Piece binary_tree_piece(const Task& task, int position) {
    // Equivalent to position == end_of(task), without searching all positions each time.
    const bool at_root = task.order[static_cast<std::size_t>(position)] == task.root;
    const bool first_without_root = position == 0 && task.position_of(task.root) < 0;
    return {0, at_root || first_without_root ? task.elements : 0};
}

Program binary_tree(const Task& task, int position) {
    const int p = task.positions(), end = end_of(task), layers = task.layers_at(position);
    ProgramBuilder builder;
    const Region input = builder.input(task.elements * layers);
    Region sum = in_all_layers(block(input.buffer, 0, task.elements), task.elements, layers);
    Region slot;
    for (int round = 0, length = 1; length < p; ++round, length *= 2) {
        const int first = position / length / 2 * length * 2, middle = first + length;
        const int last = std::min(p, middle + length);
        if (middle >= p)
            continue; // the last run has no neighbour in this round
        const int front = holder(first, middle, end), back = holder(middle, last, end);
        const int keeper = holder(first, last, end);
        builder.round(round);
        if (position != keeper) {
            builder.send(keeper, blended(builder, sum));
            return builder.finish({});
        }
        // The sum stays in the first slot; all later images are received in the second.
        if (slot == sum || slot.empty())
            slot = builder.scratch(task.elements);
        builder.receive(keeper == front ? back : front, slot);
        std::vector<Region> operands;
        append_runs(operands, keeper == front ? sum : slot);
        append_runs(operands, keeper == front ? slot : sum);
        if (sum.buffer == input.buffer)
            sum = slot;
        builder.fold(sum, operands);
    }
    return builder.finish(blended(builder, sum));
}

void check_radices(std::span<const int> radices, int positions) {
    std::int64_t product = 1;
    for (int k : radices) {
        if (k < 2) {
            throw InvalidTask(
                fmt::format("radices {}: {} is less than 2", fmt::join(radices, ","), k));
        }
        product = std::min<std::int64_t>(product * k, std::int64_t{1} << 31);
    }
    if (product != positions) {
        throw InvalidTask(fmt::format("radices {} multiply to {}, but {} ranks hold images",
                                      fmt::join(radices, ","), product, positions));
    }
}

namespace {

/// Factorisations whose first factor is at most `most`; if `falling`, all factors are at most the
/// one before.
std::vector<std::vector<int>> factorisations(int ranks, int most, bool falling) {
    if (ranks == 1)
        return {{}};
    std::vector<std::vector<int>> all;
    for (int first = std::min(most, ranks); first >= 2; --first) {
        if (ranks % first != 0)
            continue;
        const int rest_at_most = falling ? first : ranks;
        for (std::vector<int>& rest : factorisations(ranks / first, rest_at_most, falling)) {
            rest.insert(rest.begin(), first);
            all.push_back(std::move(rest));
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return all;
}

} // namespace

std::vector<std::vector<int>> factorisations(int ranks) {
    return factorisations(ranks, ranks, false);
}

std::vector<std::vector<int>> falling_factorisations(int ranks) {
    return factorisations(ranks, ranks, true);
}

std::int64_t count_factorisations(int ranks) {
    std::vector<int> divisors;
    for (int each = 1; each <= ranks; ++each) {
        if (ranks % each == 0)
            divisors.push_back(each);
    }
    std::vector<std::int64_t> counts{1}; // [i]: of divisor i
    for (std::size_t i = 1; i < divisors.size(); ++i) {
        counts.push_back(0);
        for (std::size_t j = 0; j < i; ++j)
            counts[i] += divisors[i] % divisors[j] == 0 ? counts[j] : 0;
    }
    return counts.back();
}

Piece radix_k_piece(const Task& task, std::span<const int> radices, int position) {
    Region piece = block(0, 0, task.elements);
    int distance = 1;
    for (int k : radices) {
        piece = part(piece, position / distance % k, k);
        distance *= k;
    }
    return {piece.offset, piece.length};
}

namespace {

/// A position's partial result for a run of images: blended, or still as separate layers.
struct HeldRun {
    ImageRun run;
    std::vector<Region> layers;
};

/// Part i of k of each layer of a partial result.
HeldRun part_of(const HeldRun& whole, int i, int k) {
    HeldRun made{whole.run, {}};
    for (const Region& layer : whole.layers) {
        const Region first = part(block(layer.buffer, layer.offset, layer.length), i, k);
        made.layers.push_back(
            {first.buffer, first.offset, first.length, layer.stride, layer.count});
    }
    return made;
}

/// Returns the pixels of a partial result as one layer. Several layers are folded into scratch.
Region folded(ProgramBuilder& builder, const HeldRun& partial) {
    if (partial.layers.size() == 1)
        return blended(builder, partial.layers.front());
    std::vector<Region> layers;
    for (const Region& layer : partial.layers)
        append_runs(layers, layer);
    const Region sum = builder.scratch(layers.front().length);
    builder.fold(sum, layers);
    return sum;
}

/// Builds one position's program, round by round.
class RadixK {
  public:
    RadixK(const Task& task, int position, ImageOrder images)
        : position_(position), images_(images) {
        const int layers = task.layers_at(position);
        const Region input = builder_.input(task.elements * layers);
        for (const ImageRun& run : runs_of(images, position, position + 1))
            held_.push_back({run, {}});
        if (images.empty())
            held_[0].layers = {
                in_all_layers(block(input.buffer, 0, task.elements), task.elements, layers)};
        for (HeldRun& held : held_) {
            for (int i = held.run.first; !images.empty() && i < held.run.last; ++i) {
                const int image = images[static_cast<std::size_t>(i)].image;
                held.layers.push_back(block(input.buffer, image * task.elements, task.elements));
            }
        }
    }

    /// Adds a round of radix k. `distance` is the distance between members of a group: the product
    /// of the earlier radices.
    void round(int number, int k, int distance) {
        const int place = position_ / distance % k;
        builder_.round(number);
        builder_.group(position_ / (distance * k) * distance + position_ % distance);
        const auto member = [&](int i) { return position_ + (i - place) * distance; };

        std::vector<HeldRun> all; // runs of this group, this position's own first
        for (const HeldRun& held : held_)
            all.push_back(part_of(held, place, k));
        const Elements length = all.front().layers.front().length;
        for (int step = 1; step < k; ++step) {
            const int to = (place + step) % k, from = (place - step + k) % k;
            std::vector<Region> message;
            for (const HeldRun& held : held_)
                message.push_back(folded(builder_, part_of(held, to, k)));
            builder_.send(member(to), message);
            // The images that the member holds: those of `distance` neighbouring positions.
            const int first = member(from) / distance * distance;
            const std::vector<ImageRun> runs = runs_of(images_, first, first + distance);
            const Region slot = builder_.scratch(length * static_cast<Elements>(runs.size()));
            builder_.receive(member(from), slot);
            for (std::size_t i = 0; i < runs.size(); ++i)
                all.push_back(
                    {runs[i], {block(slot.buffer, static_cast<Elements>(i) * length, length)}});
        }
        join(all, held_.size());
    }

    Program finish() { return builder_.finish(folded(builder_, held_.front())); }

  private:
    /// Folds the runs that have become adjacent. The sum overwrites the first received operand, so
    /// that the caller's images are not modified.
    void join(const std::vector<HeldRun>& all, std::size_t own) {
        std::vector<std::size_t> order(all.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return all[a].run.first < all[b].run.first;
        });
        held_.clear();
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            ImageRun run = all[order[begin]].run;
            for (end = begin + 1; end < order.size() && all[order[end]].run.first == run.last;
                 ++end)
                run.last = all[order[end]].run.last;
            if (end == begin + 1) {
                held_.push_back(all[order[begin]]);
                continue;
            }
            std::vector<Region> operands;
            std::optional<Region> sum;
            for (std::size_t i = begin; i < end; ++i) {
                for (const Region& layer : all[order[i]].layers)
                    append_runs(operands, layer);
                if (!sum && order[i] >= own)
                    sum = all[order[i]].layers.front();
            }
            held_.push_back({run, {sum.value()}}); // this position's runs are not adjacent
            builder_.fold(*sum, operands);
        }
    }

    const int position_;
    const ImageOrder images_;
    ProgramBuilder builder_;
    std::vector<HeldRun> held_; // front to back
};

} // namespace

Program radix_k(const Task& task, std::span<const int> radices, int position, ImageOrder images) {
    check_radices(radices, task.positions());
    RadixK program(task, position, images);
    int number = 0, distance = 1;
    for (int k : radices) {
        program.round(number++, k, distance);
        distance *= k;
    }
    return program.finish();
}

std::vector<int> binary_swap_radices(int positions) {
    const auto p = static_cast<unsigned>(positions);
    if (!std::has_single_bit(p)) {
        throw InvalidTask(
            fmt::format("binary-swap requires a power of two ranks, but {} hold images; "
                        "two-three-swap, radix-k and direct-send support any number",
                        positions));
    }
    return std::vector<int>(static_cast<std::size_t>(std::countr_zero(p)), 2);
}

Program binary_swap(const Task& task, int position, ImageOrder images) {
    return radix_k(task, binary_swap_radices(task.positions()), position, images);
}

namespace {

/// A node of the tree: `size` positions from `first` on. Its leaves are `height` levels below it.
struct Group {
    int first, size, height;

    bool holds(int position) const { return first <= position && position < first + size; }
};

Group all_positions(const Task& task) {
    const int p = task.positions();
    return {0, p, static_cast<int>(std::bit_width(static_cast<unsigned>(p))) - 1};
}

/// The children of a node, which are one level lower: two, or three if half of the node's positions
/// are too many for one child. Their sizes differ by at most one, larger ones first, so that each
/// new part of the group lies inside its owner's previous part (see place_among).
std::vector<Group> children_of(const Group& group) {
    const int count = group.size == (2 << group.height) - 1 ? 3 : 2;
    std::vector<Group> children;
    for (int i = 0, first = group.first; i < count; ++i) {
        const int size = (group.size + count - 1 - i) / count;
        children.push_back({first, size, group.height - 1});
        first += size;
    }
    return children;
}

std::size_t child_with(const std::vector<Group>& children, int position) {
    std::size_t child = 0;
    while (!children.at(child).holds(position))
        ++child;
    return child;
}

/// ⌊i · to / from⌋ and ⌈i · to / from⌉: the start of part i of `from` equal parts, in units of `to`
/// equal parts.
int rescaled_down(int i, int from, int to) {
    return static_cast<int>(Elements{i} * to / from);
}
int rescaled_up(int i, int from, int to) {
    return static_cast<int>((Elements{i} * to + from - 1) / from);
}

/// Part `place` of the image, which is divided into `parts` equal parts.
struct Share {
    int place, parts;

    /// The range of parts that overlap this one when the image is divided into `others` equal
    /// parts: the index of the first, and one past the last.
    int first_of(int others) const { return rescaled_down(place, parts, others); }
    int last_of(int others) const { return rescaled_up(place + 1, parts, others); }
};

/// Returns the index of the part of the merged group that goes to the owner of part `place` of a
/// child. To number the group's parts, the parts of all children are sorted by their start in the
/// image, then by child.
int place_among(const std::vector<Group>& children, std::size_t child, int place) {
    const int parts = children[child].size;
    int turn = place;
    for (std::size_t other = 0; other < children.size(); ++other) {
        const int others = children[other].size;
        if (other < child)
            turn += rescaled_down(place, parts, others) +
                    1; // number of parts of the other child that start no later
        else if (other > child)
            turn += rescaled_up(place, parts,
                                others); // number of parts of the other child that start earlier
    }
    return turn;
}

/// Returns the index of the part that a position owns in its group.
int place_of(const Group& group, int position) {
    if (group.size == 1)
        return 0;
    const std::vector<Group> children = children_of(group);
    const std::size_t child = child_with(children, position);
    return place_among(children, child, place_of(children[child], position));
}

/// Returns the position that owns part `place` of a group. Before the children are merged, the
/// owner holds the part of a child's image in which the new part begins.
int owner_of(const Group& group, int place) {
    if (group.size == 1)
        return group.first;
    const std::vector<Group> children = children_of(group);
    const Share share{place, group.size};
    std::size_t child = 0;
    while (place_among(children, child, share.first_of(children.at(child).size)) != place)
        ++child;
    return owner_of(children[child], share.first_of(children[child].size));
}

/// The intersection of two contiguous regions of the image.
Region common(const Region& a, const Region& b) {
    const Elements first = std::max(a.offset, b.offset);
    return block(a.buffer, first, std::max<Elements>(0, std::min(a.end(), b.end()) - first));
}

/// Builds one position's program, from the leaves of the tree to its root.
class TwoThreeSwap {
  public:
    TwoThreeSwap(const Task& task, int position)
        : position_(position), picture_(block(0, 0, task.elements)), held_pixels_(picture_) {
        const int layers = task.layers_at(position);
        const Region input = builder_.input(task.elements * layers);
        held_ = in_all_layers(block(input.buffer, 0, task.elements), task.elements, layers);
    }

    Program make(const Group& whole) {
        blend(whole);
        return builder_.finish(blended(builder_, held_));
    }

  private:
    Region pixels(const Share& share) const { return part(picture_, share.place, share.parts); }

    /// Blends each child of a group, then merges the children.
    void blend(const Group& group) {
        if (group.size == 1)
            return;
        const std::vector<Group> children = children_of(group);
        const std::size_t own = child_with(children, position_);
        blend(children[own]);

        const int old_place = place_of(children[own], position_);
        builder_.round(group.height - 1);
        builder_.group(group.first);
        give(group, {old_place, children[own].size});
        gather(children, own, {place_among(children, own, old_place), group.size});
    }

    /// Sends the pixels of this position's previous part to their new owners.
    void give(const Group& group, const Share& old) {
        for (int place = old.first_of(group.size); place < old.last_of(group.size); ++place) {
            const int owner = owner_of(group, place);
            if (owner == position_)
                continue;
            const Region piece = common(held_pixels_, pixels({place, group.size}));
            builder_.send(owner, blended(builder_, held(piece)));
        }
    }

    /// Receives the pixels of this position's new part from the other children, and blends them.
    void gather(const std::vector<Group>& children, std::size_t own, const Share& share) {
        const Region local = pixels(share);
        std::vector<Region> operands;
        Region sum, blended_away; // the sum overwrites the first received part
        for (std::size_t child = 0; child < children.size(); ++child) {
            if (child == own) {
                append_runs(operands, held(local));
                continue;
            }
            const Region slot = slot_for(local.length);
            receive(children[child], share, slot);
            operands.push_back(slot);
            if (sum.empty())
                sum = slot;
            else
                blended_away = slot;
        }
        builder_.fold(sum, operands);
        if (free_.length < blended_away.length)
            free_ = blended_away;
        held_ = sum;
        held_pixels_ = local;
    }

    /// Receives the pixels of a part from the positions of one child that own them.
    void receive(const Group& child, const Share& share, const Region& slot) {
        const Region local = pixels(share);
        for (int place = share.first_of(child.size); place < share.last_of(child.size); ++place) {
            const Region piece = common(local, pixels({place, child.size}));
            builder_.receive(
                owner_of(child, place),
                block(slot.buffer, slot.offset + piece.offset - local.offset, piece.length));
        }
    }

    /// Reuses scratch freed by an earlier fold if it is large enough; otherwise allocates new
    /// scratch.
    Region slot_for(Elements count) {
        if (count > free_.length)
            return builder_.scratch(count);
        const Region slot = block(free_.buffer, free_.offset, count);
        free_ = block(free_.buffer, free_.offset + count, free_.length - count);
        return slot;
    }

    /// Returns the given pixels, with all their layers, in this position's data.
    Region held(const Region& some) const {
        return {held_.buffer, held_.offset + some.offset - held_pixels_.offset, some.length,
                held_.stride, held_.count};
    }

    const int position_;
    const Region picture_; // all pixels of the image
    ProgramBuilder builder_;
    Region held_, held_pixels_; // this position's data, and its region of the image
    Region free_;               // scratch freed by a fold
};

} // namespace

Piece two_three_swap_piece(const Task& task, int position) {
    return equal_part(task, place_of(all_positions(task), position));
}

Program two_three_swap(const Task& task, int position) {
    return TwoThreeSwap(task, position).make(all_positions(task));
}

} // namespace sextant::compositing
