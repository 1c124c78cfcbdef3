// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/circuit.hpp"

#include "sextant/schedule/matching.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

namespace sextant {

namespace {

/// For each element of a message or region, the length of the longest chain of dependent
/// applications that leads to it.
using Spans = std::vector<int>;

/// Executes the steps in program order with buffered messages, tracking only each element's Spans.
class Reader {
  public:
    explicit Reader(const Schedule& schedule) : schedule_(schedule) {
        for (const Program& program : schedule) {
            Rank& rank = ranks_.emplace_back();
            for (const BufferSpec& buffer : program.buffers)
                rank.buffers.emplace_back(static_cast<std::size_t>(buffer.size), 0);
        }
    }

    Circuit read() {
        bool advanced = true;
        while (advanced) {
            advanced = false;
            for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
                while (do_next_step(rank))
                    advanced = true;
            }
        }
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            check_finished(rank);
        return circuit_;
    }

  private:
    struct Rank {
        std::vector<Spans> buffers;
        std::unordered_map<int, std::deque<Spans>> arrived; ///< by sender: pending messages
        std::size_t next = 0;                               ///< index of the next step
    };

    Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const Program& program(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }

    template <class Visit>
    void for_each_element(int rank, const Region& region, Visit visit) {
        Spans& buffer = at(rank).buffers[static_cast<std::size_t>(region.buffer)];
        for (Elements e = 0; e < region.elements(); ++e)
            visit(buffer[static_cast<std::size_t>(region.at(e))]);
    }

    Spans spans(int rank, const Region& region) {
        Spans all;
        for_each_element(rank, region, [&](int span) { all.push_back(span); });
        return all;
    }

    /// Executes a rank's next step. Returns false if the rank has finished or the step must wait
    /// for a message.
    bool do_next_step(int rank) {
        const Program& own = program(rank);
        if (at(rank).next == own.steps.size())
            return false;
        const Step& step = own.steps[at(rank).next];
        if (step.verb == Verb::receive && at(rank).arrived[step.peer].empty())
            return false;
        ++at(rank).next;
        if (step.verb == Verb::send)
            send(rank, step);
        else if (step.verb == Verb::receive)
            receive(rank, step);
        else if (step.verb == Verb::compute)
            throw fault(program(rank), {rank, static_cast<int>(at(rank).next) - 1},
                        "a circuit cannot contain a compute step");
        else
            combine(rank, step);
        return true;
    }

    void send(int rank, const Step& step) {
        Spans message;
        for (const Region& region : program(rank).regions_of(step))
            for_each_element(rank, region, [&](int span) { message.push_back(span); });
        at(step.peer).arrived[rank].push_back(std::move(message));
    }

    void receive(int rank, const Step& step) {
        std::deque<Spans>& arrived = at(rank).arrived[step.peer];
        auto from = arrived.front().begin();
        for (const Region& region : program(rank).regions_of(step))
            for_each_element(rank, region, [&](int& span) { span = *from++; });
        arrived.pop_front();
    }

    /// Executes a fold, or a copy as a fold of one operand.
    void combine(int rank, const Step& step) {
        const auto operands = program(rank).regions_of(step);
        Spans sum = spans(rank, operands[0]);
        for (const Region& operand : operands.subspan(1)) {
            auto left = sum.begin();
            for_each_element(rank, operand, [&](int right) {
                *left = std::max(*left, right) + 1;
                circuit_.span = std::max(circuit_.span, *left++);
                ++circuit_.work;
            });
        }
        auto from = sum.begin();
        for_each_element(rank, step.to, [&](int& span) { span = *from++; });
    }

    void check_finished(int rank) {
        const std::size_t next = at(rank).next;
        if (next < program(rank).steps.size())
            throw fault(program(rank), {rank, static_cast<int>(next)}, "waits forever");
    }

    const Schedule& schedule_;
    std::vector<Rank> ranks_;
    Circuit circuit_;
};

} // namespace

Circuit circuit(const Schedule& schedule) {
    return Reader(schedule).read();
}

} // namespace sextant
