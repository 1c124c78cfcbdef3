// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/dependences.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace sextant {

namespace {

struct RawEdge {
    std::uint32_t from, to;
    std::int32_t region;
};

class Finder {
  public:
    Finder(const Program& program, std::size_t most)
        : program_(program), most_(most), last_(program.steps.size(), 0) {
        check_steps();
        std::vector<Accesses> accesses(program.buffers.size());
        for (const Region& region : program.regions)
            accesses[static_cast<std::size_t>(region.buffer)].count(region);
        for (const Step& step : program.steps) {
            if (has_destination(step.verb))
                accesses[static_cast<std::size_t>(step.to.buffer)].count(step.to);
        }
        for (std::size_t b = 0; b < accesses.size(); ++b)
            index_.emplace_back(program.buffers[b].size, accesses[b]);
    }

    void find() {
        for (std::uint32_t i = 0; i < program_.steps.size(); ++i)
            visit(i);
        if (program_.result.empty())
            return;
        ++visit_;
        at(program_.result).conflicts(program_.result, false, [&](std::uint32_t writer) {
            if (last_[writer] == visit_)
                return;
            last_[writer] = visit_;
            result_writers.push_back(writer);
        });
        std::ranges::sort(result_writers);
    }

    std::vector<RawEdge> edges;
    std::vector<std::uint32_t> result_writers;

  private:
    void visit(std::uint32_t i) {
        const Step& step = program_.steps[i];
        const bool receives = step.verb == Verb::receive;
        for (std::uint32_t k = step.first; k < step.first + step.count; ++k) {
            const auto what = receives ? Dependences::commit : static_cast<std::int32_t>(k);
            connect(i, program_.regions[k], receives, what);
        }
        for (const Region& region : program_.made_by(step))
            connect(i, region, true, Dependences::commit);
        if (has_destination(step.verb)) {
            connect(i, step.to, true, Dependences::commit);
            record(i, step.to, true);
        }
        for (const Region& region : program_.made_by(step))
            record(i, region, true);
        for (const Region& region : program_.regions_of(step)) {
            if (!has_destination(step.verb) || !(region == step.to))
                record(i, region, receives);
        }
    }

    void connect(std::uint32_t step, const Region& region, bool write, std::int32_t what) {
        ++visit_;
        at(region).conflicts(region, write, [&](std::uint32_t earlier) {
            if (earlier == step || last_[earlier] == visit_)
                return;
            last_[earlier] = visit_;
            if (edges.size() == most_)
                fail(step, "the steps have too many dependences");
            edges.push_back({earlier, step, what});
        });
    }

    void record(std::uint32_t step, const Region& region, bool write) {
        if (write && region.contiguous())
            at(region).forget_covered(region);
        at(region).add({step, write, region});
    }

    /// Checks that all steps meet the requirements of Dependences.
    void check_steps() const {
        const auto count = static_cast<std::uint32_t>(program_.steps.size());
        for (std::uint32_t i = 0; i < count; ++i) {
            const Step& step = program_.steps[i];
            if (std::uint64_t{step.first} + step.count + step.made > program_.regions.size()) {
                fail(i, "refers to regions beyond the end of the program's list of regions");
            }
            for (const Region& region : program_.regions_of(step)) {
                check(i, region, step.verb == Verb::receive);
            }
            if (has_destination(step.verb))
                check_destination(i, step);
            else if (step.verb == Verb::compute)
                check_made(i, step);
            else if (step.count == 0)
                fail(i, "the message is empty");
            if (step.verb != Verb::compute)
                check_formats(i, step);
        }
        for (const Region& region : program_.regions)
            check(count, region, false);
        if (program_.result.length != 0 && program_.result.count != 0) {
            check(count, program_.result, false);
        }
    }

    void check(std::uint32_t step, const Region& region, bool write) const {
        const auto buffer = static_cast<std::size_t>(region.buffer);
        if (region.buffer < 0 || buffer >= program_.buffers.size()) {
            fail(step, "a region is in a buffer that does not exist");
        }
        const Elements size = program_.buffers[buffer].size;
        if (region.length < 1 || region.count < 1)
            fail(step, "a region is empty");
        if (region.count > 1 && region.stride < region.length) {
            fail(step, "the runs of a region overlap or are not in ascending order");
        }
        // Does not compute the region's end, because the sum may overflow.
        const Elements room = size - region.length;
        if (region.offset < 0 || region.offset > room ||
            (region.count > 1 && region.count - 1 > (room - region.offset) / region.stride)) {
            fail(step, "a region is outside its buffer");
        }
        if (write && program_.buffers[buffer].role == Role::input)
            fail(step, "writes to an input");
    }

    void check_destination(std::uint32_t i, const Step& step) const {
        check(i, step.to, true);
        if (step.count == 0 || (step.verb == Verb::copy && step.count != 1)) {
            fail(i, "expected one or more operands for a fold, one for a copy");
        }
        for (const Region& region : program_.regions_of(step)) {
            if (region.elements() != step.to.elements())
                fail(i, "sizes differ");
            if (!(region == step.to) && overlap(region, step.to)) {
                fail(i, "the destination partially overlaps an operand");
            }
        }
    }

    /// Checks that regions that are moved or folded together have the same element size. In a fold,
    /// it must be the element size of the run.
    void check_formats(std::uint32_t i, const Step& step) const {
        const auto format = [&](const Region& region) {
            return program_.buffers[static_cast<std::size_t>(region.buffer)].element;
        };
        for (const Region& region : program_.regions_of(step)) {
            const Region& other =
                has_destination(step.verb) ? step.to : program_.regions_of(step)[0];
            if (format(region) != format(other) || (step.verb == Verb::fold && format(region) != 0))
                fail(i, "the element sizes differ");
        }
    }

    void check_made(std::uint32_t i, const Step& step) const {
        if (step.kernel < 0 || step.made == 0)
            fail(i, "expected a kernel number and one or more outputs");
        // A region that the step reads or writes. Regions are sorted by their first elements, so
        // that only regions that begin before the end of another one are tested for overlap.
        // This matters for volumes, where a step may have a region for each plane.
        struct Use {
            Region region;
            bool made;
        };
        std::vector<Use> uses;
        for (const Region& region : program_.regions_of(step))
            uses.push_back({region, false});
        for (const Region& region : program_.made_by(step)) {
            check(i, region, true);
            uses.push_back({region, true});
        }
        std::ranges::sort(uses, {}, [](const Use& use) {
            return std::pair(use.region.buffer, use.region.offset);
        });
        for (std::size_t a = 0; a < uses.size(); ++a) {
            const Region& one = uses[a].region;
            for (std::size_t b = a + 1; b < uses.size(); ++b) {
                const Region& other = uses[b].region;
                if (other.buffer != one.buffer || other.offset >= one.end())
                    break;
                if ((uses[a].made || uses[b].made) && overlap(one, other))
                    fail(i, uses[a].made && uses[b].made ? "two outputs overlap"
                                                         : "an output overlaps an input");
            }
        }
    }

    [[noreturn]] void fail(std::uint32_t step, const char* what) const {
        const bool at_end = step == program_.steps.size();
        const std::string verb = at_end ? "result" : std::string(name(program_.steps[step].verb));
        throw std::logic_error("step " + std::to_string(step) + " (" + verb + "): " + what);
    }

    AccessIndex& at(const Region& region) {
        return index_[static_cast<std::size_t>(region.buffer)];
    }

    const Program& program_;
    const std::size_t most_;
    std::vector<AccessIndex> index_;
    std::vector<std::uint64_t> last_; // by step: the last visit that added an edge from the step
    std::uint64_t visit_ = 0;
};

} // namespace

Dependences::Dependences(const Program& program, std::size_t most)
    : before_message_(program.steps.size()),
      first_(program.steps.size() + 1),
      needs_(2 * program.steps.size() + program.regions.size()) {
    Finder finder(program, most);
    finder.find();
    result_writers_ = std::move(finder.result_writers);
    for (const RawEdge& edge : finder.edges) {
        ++first_[edge.from + 1];
        ++needs_[edge.to];
        if (edge.region == commit)
            ++needs_[steps() + edge.to];
        else
            ++needs_[2 * steps() + static_cast<std::size_t>(edge.region)];
    }
    for (std::size_t i = 1; i < first_.size(); ++i)
        first_[i] += first_[i - 1];
    edges_.resize(finder.edges.size());
    std::vector<std::uint32_t> next = first_;
    for (const RawEdge& edge : finder.edges)
        edges_[next[edge.from]++] = {edge.to, edge.region};
    look_for_messages(program);
}

/// Edges only lead to later steps, so one backward pass is enough.
void Dependences::look_for_messages(const Program& program) {
    for (std::size_t i = program.steps.size(); i-- > 0;) {
        const auto waiting = after(static_cast<int>(i));
        before_message_[i] = std::any_of(waiting.begin(), waiting.end(), [&](const Edge& edge) {
            return is_message(program.steps[edge.step].verb) || before_message_[edge.step] != 0;
        });
    }
}

} // namespace sextant
