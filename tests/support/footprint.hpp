// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant::test {

/// A set of elements of a program's buffers, which are numbered consecutively.
class ElementSet {
  public:
    void insert(std::size_t element) {
        if (element / 64 >= words_.size())
            words_.resize(element / 64 + 1);
        words_[element / 64] |= std::uint64_t{1} << (element % 64);
    }
    void insert(const ElementSet& others) {
        if (others.words_.size() > words_.size())
            words_.resize(others.words_.size());
        for (std::size_t i = 0; i < others.words_.size(); ++i)
            words_[i] |= others.words_[i];
    }
    bool meets(const ElementSet& other) const {
        for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) {
            if ((words_[i] & other.words_[i]) != 0)
                return true;
        }
        return false;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// The elements of a region in order, directly from its definition.
inline std::vector<Elements> elements_in_order(const Region& region) {
    std::vector<Elements> elements;
    for (Elements run = 0; run < region.count; ++run) {
        for (Elements i = 0; i < region.length; ++i) {
            elements.push_back(region.offset + run * region.stride + i);
        }
    }
    return elements;
}

inline ElementSet element_set(const Program& program, const Region& region) {
    std::size_t before = 0;
    for (int b = 0; b < region.buffer; ++b) {
        before += static_cast<std::size_t>(program.buffers[static_cast<std::size_t>(b)].size);
    }
    ElementSet set;
    for (Elements e : elements_in_order(region))
        set.insert(before + static_cast<std::size_t>(e));
    return set;
}

/// The elements that a step reads and writes, which define its conflicts.
struct Footprint {
    ElementSet reads, writes;
};

inline Footprint footprint(const Program& program, const Step& step) {
    Footprint all;
    for (const Region& region : program.regions_of(step)) {
        (step.verb == Verb::receive ? all.writes : all.reads).insert(element_set(program, region));
    }
    for (const Region& region : program.made_by(step))
        all.writes.insert(element_set(program, region));
    if (has_destination(step.verb))
        all.writes.insert(element_set(program, step.to));
    return all;
}

inline bool conflict(const Footprint& a, const Footprint& b) {
    return a.writes.meets(b.writes) || a.writes.meets(b.reads) || a.reads.meets(b.writes);
}

inline std::vector<Footprint> footprints(const Program& program) {
    std::vector<Footprint> all;
    for (const Step& step : program.steps)
        all.push_back(footprint(program, step));
    return all;
}

/// For each step, the earlier steps that it conflicts with, found by testing all n² pairs.
inline std::vector<std::vector<int>> earlier_conflicts(const Program& program) {
    const std::vector<Footprint> steps = footprints(program);
    std::vector<std::vector<int>> earlier(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (conflict(steps[i], steps[j]))
                earlier[i].push_back(static_cast<int>(j));
        }
    }
    return earlier;
}

} // namespace sextant::test
