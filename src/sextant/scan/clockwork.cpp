// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/clockwork.hpp"

#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant::scan {

namespace {

using Values = std::vector<Interval>;

/// A rank may have something to do: it starts, a message came, or its application ends.
struct Moment {
    Seconds time = 0;
    std::uint64_t order = 0; ///< of moments at the same time: as they were foreseen
    int rank = 0;
    int finishes = Walk::none; ///< the step that ends

    bool operator>(const Moment& other) const {
        return std::tie(time, order) > std::tie(other.time, other.order);
    }
};

} // namespace

class Clockwork::Play {
  public:
    Play(const Clockwork& own, const Input& input) : own_(own), input_(input) {
        for (int rank = 0; rank < own.ranks(); ++rank)
            ranks_.push_back(ready(rank));
    }

    std::vector<Seconds> play() {
        for (int rank = 0; rank < own_.ranks(); ++rank) {
            const bool given = !input_.starts.empty();
            foresee(given ? input_.starts[static_cast<std::size_t>(rank)] : 0, rank, Walk::none);
        }
        while (!moments_.empty()) {
            const Moment moment = moments_.top();
            moments_.pop();
            at(moment);
        }
        std::vector<Seconds> ends;
        for (int rank = 0; rank < own_.ranks(); ++rank) {
            if (!ranks_[index(rank)]->walk.done())
                throw std::logic_error(fmt::format("rank {} waits for ever", rank));
            ends.push_back(ranks_[index(rank)]->end);
        }
        return ends;
    }

  private:
    struct Rank {
        explicit Rank(const Program& own, const Dependences& dependences)
            : program(own), walk(own, dependences) {}
        const Program& program;
        Walk walk;
        std::vector<Values> buffers;
        std::map<std::pair<int, int>, Values> mail; ///< by sender and tag
        std::vector<int> awaited;                   ///< receives under way
        bool started = false, busy = false;
        Seconds end = 0;
    };

    static std::size_t index(int i) { return static_cast<std::size_t>(i); }

    std::unique_ptr<Rank> ready(int number) const {
        const Program& program = own_.schedule_[index(number)];
        auto rank = std::make_unique<Rank>(program, own_.dependences_[index(number)]);
        for (const BufferSpec& buffer : program.buffers) {
            Values& values = rank->buffers.emplace_back(index(static_cast<int>(buffer.size)));
            if (buffer.role != Role::input)
                continue;
            for (Elements e = 0; e < buffer.size; ++e)
                values[static_cast<std::size_t>(e)] = input_.given(number, e);
        }
        return rank;
    }

    void foresee(Seconds time, int rank, int step) { moments_.push({time, order_++, rank, step}); }

    void at(const Moment& moment) {
        Rank& rank = *ranks_[index(moment.rank)];
        if (moment.finishes != Walk::none) {
            rank.busy = false;
            rank.walk.finish(moment.finishes);
        } else if (!rank.started) {
            rank.started = moment.time >= start_of(moment.rank);
        }
        if (rank.started && !rank.busy)
            go_on(moment.rank, moment.time);
    }

    Seconds start_of(int rank) const {
        return input_.starts.empty() ? 0 : input_.starts[index(rank)];
    }

    void go_on(int number, Seconds now) {
        Rank& rank = *ranks_[index(number)];
        rank.end = now;
        while (true) {
            bool moved = start_messages(number, now);
            moved |= take_mail(number);
            if (moved)
                continue;
            const int step = rank.walk.next_work();
            if (step == Walk::none)
                return;
            const Seconds end = combine(number, step, now);
            if (end > now) {
                rank.busy = true;
                return foresee(end, number, step);
            }
            rank.walk.finish(step);
        }
    }

    bool start_messages(int number, Seconds now) {
        Rank& rank = *ranks_[index(number)];
        bool any = false;
        for (int s = rank.walk.next_message(); s != Walk::none; s = rank.walk.next_message()) {
            any = true;
            const Step& step = rank.program.steps[index(s)];
            if (step.verb == Verb::receive) {
                rank.awaited.push_back(s);
                continue;
            }
            Values message;
            for (const Region& region : rank.program.regions_of(step))
                append(rank, region, message);
            ranks_[index(step.peer)]->mail[{number, tag(number, s)}] = std::move(message);
            foresee(now, step.peer, Walk::none);
            rank.walk.finish(s);
        }
        return any;
    }

    bool take_mail(int number) {
        Rank& rank = *ranks_[index(number)];
        return std::erase_if(rank.awaited, [&](int s) {
                   const Step& step = rank.program.steps[index(s)];
                   const auto found = rank.mail.find({step.peer, tag(number, s)});
                   if (found == rank.mail.end())
                       return false;
                   auto from = found->second.begin();
                   for (const Region& region : rank.program.regions_of(step))
                       for (Elements e = 0; e < region.elements(); ++e)
                           slot(rank, region, e) = *from++;
                   rank.walk.finish(s);
                   return true;
               }) > 0;
    }

    /// A fold; or a copy, which is one of a single operand. When it ends.
    Seconds combine(int number, int s, Seconds now) {
        Rank& rank = *ranks_[index(number)];
        const Step& step = rank.program.steps[index(s)];
        const auto operands = rank.program.regions_of(step);
        Values sum;
        append(rank, operands[0], sum);
        for (const Region& operand : operands.subspan(1)) {
            for (Elements e = 0; e < operand.elements(); ++e) {
                Interval& left = sum[static_cast<std::size_t>(e)];
                const Interval right = slot(rank, operand, e);
                const Application what{left.first, left.last, right.last};
                const Seconds end = now + input_.time(what);
                if (input_.note)
                    input_.note(number, what, now, end);
                now = end;
                left.last = right.last;
            }
        }
        for (Elements e = 0; e < step.to.elements(); ++e)
            slot(rank, step.to, e) = sum[static_cast<std::size_t>(e)];
        return now;
    }

    static Interval& slot(Rank& rank, const Region& region, Elements e) {
        return rank.buffers[index(region.buffer)][static_cast<std::size_t>(region.at(e))];
    }
    static void append(Rank& rank, const Region& region, Values& to) {
        for (Elements e = 0; e < region.elements(); ++e)
            to.push_back(slot(rank, region, e));
    }
    int tag(int rank, int step) const { return own_.tags_[index(rank)][index(step)]; }

    const Clockwork& own_;
    const Input& input_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
    std::uint64_t order_ = 0;
};

Clockwork::Clockwork(Schedule schedule) : schedule_(std::move(schedule)) {
    for (const Program& program : schedule_) {
        dependences_.emplace_back(program);
        tags_.push_back(message_tags(program));
    }
}

std::vector<Seconds> Clockwork::play(const Input& input) const {
    return Play(*this, input).play();
}

} // namespace sextant::scan
