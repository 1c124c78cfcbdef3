// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/interlace.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant::compositing {

Interleaving::Interleaving(Elements pixels, Elements block, int decks)
    : pixels_(pixels), block_(block), decks_(decks), blocks_(pixels / block) {}

/// The number of pixels in all decks before `deck`: full blocks, and the shorter last block if one
/// of these decks contains it.
Elements Interleaving::begin_of(Elements deck) const {
    const Elements longer = blocks_ % decks_; // the number of decks with one block more
    const Elements whole = (deck * (blocks_ / decks_) + std::min(deck, longer)) * block_;
    return whole + (deck > longer ? pixels_ % block_ : 0);
}

Elements Interleaving::deck_of(Elements position) const {
    Elements low = 0, high = decks_; // invariant: begin_of(low) <= position < begin_of(high)
    while (high - low > 1) {
        const Elements middle = (low + high) / 2;
        (begin_of(middle) <= position ? low : high) = middle;
    }
    return low;
}

Elements Interleaving::pixel(Elements position) const {
    const Elements deck = deck_of(position), within = position - begin_of(deck);
    return (within / block_ * decks_ + deck) * block_ + within % block_;
}

void Interleaving::append(std::vector<Region>& regions, int buffer, Elements offset, Elements first,
                          Elements count) const {
    const Elements last = first + count;
    while (first < last) {
        const Elements deck = deck_of(first);
        const Elements there = std::min(last, begin_of(deck + 1)) - first;
        const Elements inside = (first - begin_of(deck)) % block_; // offset within a block
        const Elements from = offset + pixel(first);
        const Elements blocks = inside == 0 ? there / block_ : 0;
        if (blocks > 1)
            regions.push_back({buffer, from, block_, block_ * decks_, blocks});
        else
            regions.push_back(sextant::block(buffer, from, std::min(there, block_ - inside)));
        first += regions.back().elements();
    }
}

bool is_interlaced(const Task& task, const Tuning& tuning) {
    return tuning.interlace > 0 && task.positions() > 1 && task.elements > 0;
}

Interleaving interlacing_of(const Task& task, const Tuning& tuning) {
    return {task.elements, tuning.interlace, task.positions()};
}

namespace {

/// Translates one rank's program, step by step.
class Interlaced {
  public:
    Interlaced(const Program& position, const Task& task, const Interleaving& interlacing)
        : interlaced_(position), task_(task), interlacing_(interlacing) {}

    Program make() {
        made_.buffers = interlaced_.buffers;
        made_.window = interlaced_.window;
        for (const Step& step : interlaced_.steps) {
            if (is_message(step.verb))
                add_message(step);
            else
                add_work(step);
        }
        if (!interlaced_.result.empty() && as_it_lies(interlaced_.result) &&
            interlaced_.result.elements() != task_.elements)
            throw std::logic_error("a result that is part of an image cannot be interlaced");
        made_.result = interlaced_.result; // either the composited image or scratch
        return std::move(made_);
    }

  private:
    /// True if a region is in a partial image or the composited image, and not in scratch.
    bool as_it_lies(const Region& region) const {
        return interlaced_.buffers[static_cast<std::size_t>(region.buffer)].role != Role::scratch;
    }

    /// The regions that hold these pixels in the natural order of the image; scratch regions are
    /// unchanged.
    std::vector<Region> places(const Region& region) const {
        if (!as_it_lies(region))
            return {region};
        std::vector<Region> all;
        for (Elements run = 0; run < region.count; ++run) {
            const Elements begin = region.offset + run * region.stride;
            for (Elements done = 0; done < region.length;) { // a run may span several images
                const Elements first = (begin + done) % task_.elements;
                const Elements count = std::min(region.length - done, task_.elements - first);
                interlacing_.append(all, region.buffer, begin + done - first, first, count);
                done += count;
            }
        }
        return all;
    }

    void add_message(const Step& step) {
        Step made = step;
        made.first = static_cast<std::uint32_t>(made_.regions.size());
        for (const Region& region : interlaced_.regions_of(step)) {
            const std::vector<Region> lie = places(region);
            made_.regions.insert(made_.regions.end(), lie.begin(), lie.end());
        }
        made.count = static_cast<std::uint32_t>(made_.regions.size()) - made.first;
        made_.steps.push_back(made);
    }

    /// All regions of a fold hold the same pixels, so those outside scratch are all cut at the same
    /// points. Scratch regions are cut at these points too.
    void add_work(const Step& step) {
        std::vector<std::vector<Region>> all{places(step.to)};
        for (const Region& region : interlaced_.regions_of(step))
            all.push_back(places(region));
        const auto most = std::max_element(all.begin(), all.end(),
                                           [](auto& a, auto& b) { return a.size() < b.size(); });
        std::vector<Elements> cuts;
        for (const Region& region : *most)
            cuts.push_back(region.elements());
        for (std::vector<Region>& regions : all) {
            if (regions.size() < cuts.size())
                regions = cut(regions, cuts);
        }
        for (std::size_t i = 0; i < cuts.size(); ++i)
            add_part(step, all, i);
    }

    static std::vector<Region> cut(const std::vector<Region>& whole,
                                   const std::vector<Elements>& cuts) {
        if (whole.size() != 1 || !whole[0].contiguous())
            throw std::logic_error("an operand of a fold is not a single contiguous region");
        std::vector<Region> parts;
        Elements offset = whole[0].offset;
        for (const Elements count : cuts) {
            parts.push_back(block(whole[0].buffer, offset, count));
            offset += count;
        }
        return parts;
    }

    void add_part(const Step& step, const std::vector<std::vector<Region>>& all, std::size_t i) {
        Step made = step;
        made.first = static_cast<std::uint32_t>(made_.regions.size());
        made.to = all[0][i];
        for (std::size_t operand = 1; operand < all.size(); ++operand) {
            if (all[operand][i].elements() != made.to.elements())
                throw std::logic_error("the operands of a fold differ in size");
            made_.regions.push_back(all[operand][i]);
        }
        made_.steps.push_back(made);
    }

    const Program& interlaced_;
    const Task& task_;
    const Interleaving& interlacing_;
    Program made_;
};

} // namespace

Program interlaced(const Program& program, const Task& task, const Interleaving& interlacing) {
    return Interlaced(program, task, interlacing).make();
}

} // namespace sextant::compositing
