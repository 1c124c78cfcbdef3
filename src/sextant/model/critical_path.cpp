// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/critical_path.hpp"

#include "sextant/model/replay.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/schedule/matching.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace sextant::model {

PreparedSchedule::PreparedSchedule(const Schedule& schedule) : mates(match_messages(schedule)) {
    dependences.reserve(schedule.size());
    for (const Program& program : schedule)
        dependences.emplace_back(program);
}

Prediction critical_path(const Question& question, const Prices& prices,
                         const PreparedSchedule& prepared) {
    check_nodes(question);
    if (question.least) {
        const Seconds least = least_time(question, prices, prepared);
        return {least, least, least, {}, {}};
    }
    return replay(question, prices, prepared);
}

namespace {

/// The factor that turns the time on shared links into a lower bound: rates change only at
/// intervals (Sharing), so links may briefly carry more than their capacity.
constexpr double least_of_links = .9;

Seconds at_least_zero(Seconds time) {
    return std::max(0.0, time);
}

/// Jobs that run one at a time.
class Resource {
  public:
    /// Adds a job that does not begin before `from`.
    void add(Seconds from, Seconds duration) { jobs_.push_back({from, duration}); }

    /// The earliest time at which all jobs can be done: for each job, its start plus the durations
    /// of all jobs that start no earlier.
    Seconds end() {
        std::sort(jobs_.begin(), jobs_.end(),
                  [](const Job& a, const Job& b) { return a.from > b.from; });
        Seconds end = 0, sum = 0;
        for (const Job& job : jobs_) {
            sum += job.duration;
            end = std::max(end, job.from + sum);
        }
        return end;
    }

  private:
    struct Job {
        Seconds from, duration;
    };
    std::vector<Job> jobs_;
};

/// The minimum of each cost of a message over all its possible transports.
struct LeastCost {
    Seconds send = never;
    Seconds handing = never;     ///< part of `send` that occupies the sender's processor
    Seconds path = never;        ///< from the start of the send until the receiver has the message
    Seconds after_send = never;  ///< part of `path` after the send
    Seconds until_next = never;  ///< from arrival until the receiver can start the next message
    Seconds until_there = never; ///< time before the receiver's processor may begin to receive
    Seconds taking = never;      ///< time that receiving occupies the receiver's processor
    Seconds receive = never;     ///< from posting the receive until the receiver has the message

    void include(const MessageCost& cost) {
        const Seconds full = at_least_zero(cost.full.median), take = cost.receive_processor.median;
        const Seconds moved = at_least_zero(cost.receive.median - take);
        const auto lower = [](Seconds& least, Seconds time) { least = std::min(least, time); };
        lower(send, cost.send.median);
        lower(handing, std::min(cost.send_processor.median, cost.send.median));
        lower(path, full);
        lower(after_send, at_least_zero(full - cost.send.median));
        lower(until_next, moved);
        lower(until_there, std::min(moved, at_least_zero(full - take)));
        lower(taking, take);
        lower(receive, std::min(full, moved + take));
    }
};

class LeastTime {
  public:
    LeastTime(const Question& question, const Prices& prices, const PreparedSchedule& prepared)
        : question_(question),
          program_(question.schedule[0]),
          mates_(prepared.mates[0]),
          dependences_(prepared.dependences[0]),
          work_(question),
          traffic_(question),
          costs_(question, prices, prepared, traffic_),
          ready_(program_.steps.size()),
          operands_(program_.steps.size()) {}

    /// Visits the steps in program order, because steps depend only on earlier ones.
    Seconds find() {
        for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i)
            pass(i);
        for (Resource* each : {&in_, &processor_, &interruptions_})
            end_ = std::max(end_, each->end());
        for (auto& [number, link] : links_)
            end_ = std::max(end_, link.end());
        if (after_sends_ < never)
            end_ = std::max(end_, out_.end() + after_sends_);
        return end_;
    }

  private:
    /// A message with its cost. A message that interrupts work does not occupy the processor
    /// exclusively.
    struct Priced {
        LeastCost cost;
        bool interrupts = false;
    };

    /// The operands of a fold that earlier steps produce.
    struct Operands {
        Seconds first = never;        ///< earliest time to combine or receive the first operand
        Seconds first_posted = never; ///< time at which the first receive of an operand was posted
        Seconds moving = 0, taking = 0, least_taking = never;
        int latest = -1; ///< last step whose operand was counted
    };

    const Step& step(int number) const { return program_.steps[static_cast<std::size_t>(number)]; }

    void pass(int number) {
        const Step& what = step(number);
        const Seconds begin = ready_[static_cast<std::size_t>(number)];
        if (is_message(what.verb)) {
            const Priced message = price(number);
            const bool sends = what.verb == Verb::send;
            const Seconds end = sends ? send(begin, message) : receive(begin, message);
            pass_on(number, end, sends ? nullptr : &message);
        } else {
            pass_on(number, what.verb == Verb::fold ? fold(number, begin) : work(what, begin),
                    nullptr);
        }
    }

    Priced price(int number) {
        const StepOfRank own{0, number}, other = mates_[static_cast<std::size_t>(number)];
        const bool sends = step(number).verb == Verb::send;
        const StepOfRank from = sends ? own : other, to = sends ? other : own;
        Priced priced;
        for (const MessageCosts::Costly& each : costs_.possible(from, to)) {
            priced.cost.include(*each.cost);
            priced.interrupts = priced.interrupts || each.meets;
        }
        if (priced.interrupts)
            add_links(from, to, sends ? ready_[static_cast<std::size_t>(number)] : 0, priced.cost);
        return priced;
    }

    void add_links(StepOfRank from, StepOfRank to, Seconds begin, LeastCost& cost) {
        const Program& sender = question_.schedule[static_cast<std::size_t>(from.rank)];
        const Step& sent = sender.steps[static_cast<std::size_t>(from.step)];
        const auto bytes =
            static_cast<double>(std::max<Bytes>(1, bytes_of(question_, sender, sent)));
        std::vector<int> links;
        question_.wires->route(from.rank, to.rank, links);
        Seconds longest = 0;
        for (const int link : links) {
            const Seconds busy = least_of_links * bytes * question_.wires->busy(link, 1, 1);
            links_[link].add(begin, busy);
            longest = std::max(longest, busy);
        }
        cost.path += longest;
        // A message that waits for its receive may arrive before the full send time has passed.
        cost.send = std::min(cost.send, cost.path);
        cost.handing = std::min(cost.handing, cost.path);
        cost.after_send = cost.path - cost.send;
    }

    /// A message on shared links may arrive before its sender has finished handing over the
    /// message.
    Seconds send(Seconds begin, const Priced& message) {
        const LeastCost& cost = message.cost;
        out_.add(begin, cost.send);
        (message.interrupts ? interruptions_ : processor_).add(begin, cost.handing);
        after_sends_ = std::min(after_sends_, cost.after_send);
        end_ = std::max(end_, begin + cost.path);
        return message.interrupts ? begin : begin + cost.send;
    }

    Seconds receive(Seconds begin, const Priced& message) {
        const LeastCost& cost = message.cost;
        in_.add(begin, cost.until_next);
        (message.interrupts ? interruptions_ : processor_).add(begin, cost.taking);
        return std::max(cost.path, begin + cost.receive);
    }

    Seconds work(const Step& what, Seconds begin) {
        const Seconds duration = work_.of(program_, what).median;
        processor_.add(begin, duration);
        return begin + duration;
    }

    /// The bound is the maximum of three times: until the last operand has arrived and is combined;
    /// until one processor has received and combined all operands; until the operands have been
    /// received one after another.
    Seconds fold(int number, Seconds begin) {
        const Step& what = step(number);
        if (what.count < 2)
            return begin;
        const Operands& of = operands_[static_cast<std::size_t>(number)];
        const Seconds from = has_operand_at_start(what) ? 0 : std::min(of.first, begin);
        const auto operands = static_cast<int>(what.count);
        const Elements elements = what.to.elements();
        const WorkCosts::LeastFold cost = work_.least_fold(elements, operands);
        processor_.add(from, cost.all);
        const Seconds all_there =
            of.first_posted < never ? of.first_posted + of.moving + of.least_taking : 0;
        return std::max(std::max(begin, all_there) + cost.last, from + of.taking + cost.all);
    }

    bool has_operand_at_start(const Step& fold) const {
        const auto& needs = dependences_.region_needs();
        return std::any_of(needs.begin() + fold.first, needs.begin() + fold.first + fold.count,
                           [](std::uint32_t n) { return n == 0; });
    }

    /// `received`: the message that the step receives; null for other steps.
    void pass_on(int number, Seconds end, const Priced* received) {
        end_ = std::max(end_, end);
        const Seconds begin = ready_[static_cast<std::size_t>(number)];
        for (const Dependences::Edge& edge : dependences_.after(number)) {
            Seconds& ready = ready_[edge.step];
            ready = std::max(ready, end);
            Operands& of = operands_[edge.step];
            if (edge.region == Dependences::commit || of.latest == number)
                continue;
            of.latest = number;
            of.first = std::min(of.first, received ? begin : end);
            if (!received)
                continue;
            const LeastCost& cost = received->cost;
            of.first_posted = std::min(of.first_posted, begin);
            of.moving += cost.until_there;
            of.taking += received->interrupts ? 0 : cost.taking;
            of.least_taking = std::min(of.least_taking, cost.taking);
        }
    }

    const Question& question_;
    const Program& program_;
    const std::vector<StepOfRank>& mates_;
    const Dependences& dependences_;
    WorkCosts work_;
    Traffic traffic_;
    MessageCosts costs_;
    std::vector<Seconds> ready_;     ///< [step]: time at which all its dependences have finished
    std::vector<Operands> operands_; ///< [step]: operands, if the step is a fold
    Resource out_, in_, processor_, interruptions_;
    std::map<int, Resource> links_;
    Seconds after_sends_ = never; ///< least time from the end of a send to its arrival
    Seconds end_ = 0;
};

} // namespace

Seconds least_time(const Question& question, const Prices& prices,
                   const PreparedSchedule& prepared) {
    return LeastTime(question, prices, prepared).find();
}

} // namespace sextant::model
