// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/collect.hpp"

#include <algorithm>
#include <array>

namespace sextant::compositing {

namespace {

int rounds_of(const Program& program) {
    int rounds = 0;
    for (const Step& step : program.steps)
        rounds = std::max(rounds, step.round + 1);
    return rounds;
}

void append(Program& program, Verb verb, int round, int peer, const Region& region,
            const Region& to = {}) {
    program.regions.push_back(region);
    const auto first = static_cast<std::uint32_t>(program.regions.size()) - 1;
    program.steps.push_back({verb, round, 0, peer, first, 1, to});
}

bool touches(const Program& program, const Step& step, const Region& region) {
    const auto regions = program.regions_of(step);
    return overlap(step.to, region) ||
           std::any_of(regions.begin(), regions.end(),
                       [&](const Region& r) { return overlap(r, region); });
}

/// True if the result fills a scratch buffer, which can then become the composited image.
bool fills_its_buffer(const Program& program) {
    if (program.result.empty() || !program.result.contiguous())
        return false;
    const BufferSpec& buffer = program.buffers[static_cast<std::size_t>(program.result.buffer)];
    return buffer.role == Role::scratch && buffer.size == program.result.elements();
}

/// Moves the result to `to`: its last fold writes there if possible, otherwise it is copied.
void move_result(Program& program, const Region& to) {
    if (program.result.empty())
        return;
    for (std::size_t i = program.steps.size(); i-- > 0;) {
        Step& step = program.steps[i];
        if (step.verb == Verb::fold && step.to == program.result) {
            step.to = to;
            return;
        }
        if (touches(program, step, program.result))
            break;
    }
    append(program, Verb::copy, rounds_of(program), -1, program.result, to);
}

} // namespace

Program collect(Program program, const Task& task, std::span<const Piece> pieces, int rank) {
    const int round = rounds_of(program);
    if (rank != task.root) {
        if (!program.result.empty())
            append(program, Verb::send, round, task.root, program.result);
        program.result = {};
        return program;
    }
    const bool only_image = task.order.size() == 1 && task.order[0] == rank && task.layers[0] == 1;
    if (only_image)
        return program; // the only image is the result
    if (program.result.elements() == task.elements && fills_its_buffer(program)) {
        program.buffers[static_cast<std::size_t>(program.result.buffer)].role = Role::output;
        return program;
    }
    program.buffers.push_back({Role::output, task.elements});
    const int picture = static_cast<int>(program.buffers.size()) - 1;
    for (int position = 0; position < task.positions(); ++position) {
        const Piece& piece = pieces[static_cast<std::size_t>(position)];
        const Region place = block(picture, piece.first, piece.count);
        const int owner = task.order[static_cast<std::size_t>(position)];
        if (owner == rank)
            move_result(program, place);
        else if (!place.empty())
            append(program, Verb::receive, round, owner, place);
    }
    program.result = block(picture, 0, task.positions() > 0 ? task.elements : 0);
    return program;
}

namespace {

/// Combines one rank's programs for all segments into one.
class Segments {
  public:
    Segments(const Task& task, int segments, int rank)
        : task_(task), segments_(segments), rank_(rank) {}

    Program make(const std::function<Program(const Task&)>& program) {
        add_images();
        for (int i = 0; i < segments_; ++i) {
            const Region pixels = part(block(0, 0, task_.elements), i, segments_);
            if (pixels.empty())
                continue;
            Task segment = task_;
            segment.elements = pixels.length;
            add(program(segment), pixels, i);
        }
        if (rank_ == task_.root)
            whole_.result = block(picture_, 0, task_.elements);
        return std::move(whole_);
    }

  private:
    int add_buffer(Role role, Elements size) {
        whole_.buffers.push_back({role, size});
        return static_cast<int>(whole_.buffers.size()) - 1;
    }

    void add_images() {
        if (const int position = task_.position_of(rank_); position >= 0)
            add_buffer(Role::input, task_.elements * task_.layers_at(position));
        if (rank_ == task_.root)
            picture_ = add_buffer(Role::output, task_.elements);
    }

    void add(const Program& segment, const Region& pixels, int number) {
        whole_.window = segment.window;
        const std::vector<int> lies = buffers_for(segment, number);
        const auto moved = [&](const Region& region) {
            return region.empty() ? Region{} : place(region, segment, lies, pixels);
        };
        const auto first = static_cast<std::uint32_t>(whole_.regions.size());
        for (const Region& region : segment.regions)
            whole_.regions.push_back(moved(region));
        const int rounds = task_.positions() + 1; // per segment, at most: equal on all ranks
        for (Step step : segment.steps) {
            step.first += first;
            step.round += number * rounds;
            step.to = moved(step.to);
            whole_.steps.push_back(step);
        }
    }

    /// The buffer of the whole program for each buffer of a segment.
    std::vector<int> buffers_for(const Program& segment, int number) {
        std::vector<int>& scratch = scratch_[static_cast<std::size_t>(number) % scratch_.size()];
        std::vector<int> lies;
        std::size_t taken = 0;
        for (const BufferSpec& buffer : segment.buffers) {
            if (buffer.role != Role::scratch) {
                lies.push_back(buffer.role == Role::input ? 0 : picture_);
                continue;
            }
            if (taken == scratch.size())
                scratch.push_back(add_buffer(Role::scratch, 0));
            Elements& size = whole_.buffers[static_cast<std::size_t>(scratch[taken])].size;
            size = std::max(size, buffer.size);
            lies.push_back(scratch[taken++]);
        }
        return lies;
    }

    /// Moves a region of a segment to the whole. Each layer of an image holds its own segments; a
    /// region is within one layer, or has one run in each.
    Region place(Region region, const Program& segment, const std::vector<int>& lies,
                 const Region& pixels) const {
        const auto buffer = static_cast<std::size_t>(region.buffer);
        region.buffer = lies[buffer];
        if (segment.buffers[buffer].role == Role::scratch)
            return region;
        region.offset = region.offset / pixels.length * task_.elements + pixels.offset +
                        region.offset % pixels.length;
        if (region.count > 1)
            region.stride = task_.elements;
        return region;
    }

    const Task& task_;
    const int segments_, rank_;
    Program whole_;
    int picture_ = -1;
    std::array<std::vector<int>, 2> scratch_; // of even segments, of odd ones
};

} // namespace

Program in_segments(const Task& task, int segments, int rank,
                    const std::function<Program(const Task&)>& program) {
    return Segments(task, segments, rank).make(program);
}

} // namespace sextant::compositing
