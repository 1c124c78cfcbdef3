// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace sextant {

namespace {

bool holds(std::span<const Region> regions, int buffer) {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const Region& region) { return region.buffer == buffer; });
}

} // namespace

Region ProgramBuilder::buffer(const BufferSpec& spec) {
    program_.buffers.push_back(spec);
    return block(static_cast<int>(program_.buffers.size()) - 1, 0, spec.size);
}

/// Appends the non-empty regions and returns their number.
std::uint32_t ProgramBuilder::append(std::span<const Region> regions) {
    const std::size_t before = program_.regions.size();
    for (const Region& region : regions) {
        if (!region.empty())
            program_.regions.push_back(region);
    }
    return static_cast<std::uint32_t>(program_.regions.size() - before);
}

void ProgramBuilder::add(Verb verb, int peer, std::span<const Region> regions, const Region& to) {
    const auto first = static_cast<std::uint32_t>(program_.regions.size());
    const std::uint32_t count = append(regions);
    if (count > 0)
        program_.steps.push_back({verb, round_, group_, peer, first, count, to});
}

void ProgramBuilder::send(int peer, std::span<const Region> regions) {
    add(Verb::send, peer, regions, {});
}

void ProgramBuilder::receive(int peer, std::span<const Region> regions) {
    add(Verb::receive, peer, regions, {});
}

void ProgramBuilder::copy(const Region& to, const Region& from) {
    if (to.elements() != from.elements())
        throw std::logic_error("copy: sizes differ");
    if (!(to == from))
        add(Verb::copy, -1, {&from, 1}, to);
}

void ProgramBuilder::fold(const Region& to, std::span<const Region> operands) {
    if (operands.empty())
        throw std::logic_error("fold: no operands");
    if (operands.size() == 1)
        return copy(to, operands[0]);
    for (const Region& operand : operands) {
        if (operand.count > 1 && operand.stride < operand.length)
            throw std::logic_error("fold: the runs of an operand overlap");
        if (operand.elements() != to.elements())
            throw std::logic_error("fold: sizes differ");
        if (!(operand == to) && overlap(operand, to)) {
            throw std::logic_error("fold: the destination partially overlaps an operand");
        }
    }
    add(Verb::fold, -1, operands, to);
}

/// Returns a region of this program for each buffer of a part. Parts run one after another, so they
/// share scratch of the largest size needed, except for scratch that holds a result passed on to
/// this part.
std::vector<Region> ProgramBuilder::placed(const Program& part, std::span<const Region> places) {
    std::vector<Region> regions;
    std::size_t given = 0, shared = 0;
    for (const BufferSpec& buffer : part.buffers) {
        if (buffer.role != Role::scratch) {
            if (given == places.size() || !places[given].contiguous() ||
                places[given].elements() != buffer.size)
                throw std::logic_error("part: a buffer needs a contiguous region of its size");
            if (!places[given].empty() && element_of(places[given].buffer) != buffer.element)
                throw std::logic_error(
                    "part: the element size of a region differs from its buffer's");
            regions.push_back(places[given++]);
            continue;
        }
        while (shared < shared_.size() &&
               (holds(places, shared_[shared]) || element_of(shared_[shared]) != buffer.element))
            ++shared;
        if (shared == shared_.size())
            shared_.push_back(scratch(0, buffer.element).buffer);
        const int own = shared_[shared++];
        Elements& size = program_.buffers[static_cast<std::size_t>(own)].size;
        size = std::max(size, buffer.size);
        regions.push_back(block(own, 0, buffer.size));
    }
    if (given != places.size())
        throw std::logic_error("part: more regions than buffers");
    return regions;
}

Bytes ProgramBuilder::element_of(int buffer) const {
    return program_.buffers[static_cast<std::size_t>(buffer)].element;
}

Region ProgramBuilder::run(const Program& part, std::span<const Region> places) {
    if (part.window > 0 && part.window != program_.window)
        throw std::logic_error("part: the window of the part differs from that of the program");
    const std::vector<Region> regions = placed(part, places);
    const auto moved = [&](Region region) {
        if (region.empty())
            return Region{};
        const Region& place = regions[static_cast<std::size_t>(region.buffer)];
        region.buffer = place.buffer;
        region.offset += place.offset;
        return region;
    };
    const auto first = static_cast<std::uint32_t>(program_.regions.size());
    for (const Region& region : part.regions)
        program_.regions.push_back(moved(region));
    for (Step step : part.steps) {
        step.first += first;
        step.round += round_;
        step.to = moved(step.to);
        program_.steps.push_back(step);
    }
    return moved(part.result);
}

void ProgramBuilder::compute(int kernel, std::span<const Region> read, std::span<const Region> made,
                             bool reads_in_place) {
    int apart = -1; // last buffer found to contain no outputs; its regions are not searched again
    for (const Region& region : read) {
        if (region.buffer == apart)
            continue;
        if (!holds(made, region.buffer)) {
            apart = region.buffer;
            continue;
        }
        for (const Region& other : made) {
            if (overlap(region, other))
                throw std::logic_error("compute: an output overlaps an input");
        }
    }
    Step step;
    step.verb = Verb::compute;
    step.round = round_;
    step.group = group_;
    step.kernel = kernel;
    step.reads_in_place = reads_in_place;
    step.first = static_cast<std::uint32_t>(program_.regions.size());
    step.count = append(read);
    step.made = append(made);
    if (step.made > 0)
        program_.steps.push_back(step);
    else
        program_.regions.resize(step.first);
}

Program ProgramBuilder::finish(const Region& result) {
    program_.result = result;
    return std::move(program_);
}

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
