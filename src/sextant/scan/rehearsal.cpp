// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/rehearsal.hpp"

#include "sextant/scan/look_ahead.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant::scan {

namespace {

using Values = std::vector<Interval>;

/// An event after which a rank may have work: its start, the arrival of a message, or the end of
/// its application.
struct Moment {
    Seconds time = 0;
    std::uint64_t order = 0; ///< for events at the same time: order of scheduling
    int rank = 0;
    int finishes = Walk::none; ///< step that ends, if any

    bool operator>(const Moment& other) const {
        return std::tie(time, order) > std::tie(other.time, other.order);
    }
};

} // namespace

class RehearsalSimulator::Play {
  public:
    Play(const RehearsalSimulator& own, const Input& input) : own_(own), input_(input) {
        for (int rank = 0; rank < own.ranks(); ++rank)
            ranks_.push_back(ready(rank));
    }

    std::vector<Seconds> run() {
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
                throw std::logic_error(fmt::format("rank {} waits forever", rank));
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
        std::map<std::pair<int, int>, Values> mail; ///< arrived messages, by sender and tag
        std::vector<int> awaited;                   ///< receives in progress
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

    /// Executes a fold, or a copy as a fold of one operand. Returns the end time.
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

    const RehearsalSimulator& own_;
    const Input& input_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
    std::uint64_t order_ = 0;
};

RehearsalSimulator::RehearsalSimulator(Schedule schedule) : schedule_(std::move(schedule)) {
    for (const Program& program : schedule_) {
        dependences_.emplace_back(program);
        tags_.push_back(message_tags(program));
    }
}

std::vector<Seconds> RehearsalSimulator::run(const Input& input) const {
    return Play(*this, input).run();
}

namespace {

std::size_t index(Elements i) {
    return static_cast<std::size_t>(i);
}

} // namespace

/// One simulated run of ranks with threads.
class Rehearsal::Stage {
  public:
    Stage(const Rehearsal& own, const OperatorTime& time, bool with_bars, Balance balance)
        : own_(own), time_(time), with_bars_(with_bars), balance_(balance) {}

    Performance run(std::span<const Seconds> starts) {
        const auto ranks = static_cast<int>(own_.series_.size());
        if (const auto alone = own_.looks_ahead(); alone && balance_ == Balance::as_it_is) {
            look_ahead(*alone, starts.empty() ? 0 : starts[index(*alone)]);
            return std::move(performance_);
        }
        std::vector<Seconds> reduced;
        for (int rank = 0; rank < ranks; ++rank)
            reduced.push_back(reduce(rank, starts.empty() ? 0 : starts[index(rank)]));
        const std::vector<Seconds> known =
            own_.ranks_->run({[&](int rank, Elements) { return whole(rank); }, reduced, time_,
                              [&](int rank, const Application& what, Seconds begin, Seconds end) {
                                  note(rank, 0, what, begin, end);
                              }});
        for (int rank = 0; rank < ranks; ++rank)
            finish(rank, known[index(rank)]);
        return std::move(performance_);
    }

  private:
    Interval whole(int rank) const {
        const Elements first = own_.first_[index(rank)];
        return {first, first + own_.series_[index(rank)]};
    }

    void note(int rank, int thread, const Application& what, Seconds begin, Seconds end) {
        if (with_bars_)
            performance_.bars.push_back({rank, thread, what, begin, end});
    }

    /// With perfect balance, replaces the end times of threads that began together by their mean.
    void share_out(std::vector<Seconds>& ends, Seconds start) const {
        if (balance_ == Balance::as_it_is)
            return;
        const Seconds sum = std::accumulate(ends.begin(), ends.end(), 0.0);
        const Seconds mean = sum / static_cast<double>(ends.size());
        std::fill(ends.begin(), ends.end(), std::max(start, mean));
    }

    /// Reduces a rank's values and scans the threads' totals. Returns the time at which the last
    /// thread is done.
    Seconds reduce(int rank, Seconds start) {
        const Elements values = own_.series_[index(rank)];
        std::vector<Interval>& segments = segments_.emplace_back();
        if (values == 0)
            return start;
        const int threads = employed(values, own_.configuration_.threads);
        const bool perfect = balance_ == Balance::perfect;
        Stealing stealing(values, threads,
                          perfect ? Boundaries::fixed : own_.configuration_.boundaries);
        std::vector<Seconds> ends = drive(stealing, threads, rank, start);
        share_out(ends, start);
        performance_.stolen += stealing.stolen();
        for (int thread = 0; thread < threads; ++thread)
            segments.push_back(in_series(rank, stealing.segment(thread)));
        const std::vector<Seconds> done = own_.threads_[index(threads)]->run(
            {[&](int thread, Elements) { return segments[index(thread)]; }, ends, time_,
             [&](int thread, const Application& what, Seconds begin, Seconds end) {
                 note(rank, thread, what, begin, end);
             }});
        return *std::max_element(done.begin(), done.end());
    }

    /// Assigns values: the first free thread claims next. Returns the time at which each thread
    /// finds nothing more to claim.
    std::vector<Seconds> drive(Stealing& stealing, int threads, int rank, Seconds start) {
        using Free = std::tuple<Seconds, int>;
        std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
        for (int thread = 0; thread < threads; ++thread)
            free.emplace(start, thread);
        std::vector<Seconds> ends(index(threads), start);
        while (!free.empty()) {
            const auto [now, thread] = free.top();
            free.pop();
            ends[index(thread)] = now;
            const Interval had = in_series(rank, stealing.segment(thread));
            const auto claim = stealing.next(thread, now);
            if (!claim)
                continue;
            const Application what = claim->before ? Application{had.first - 1, had.first, had.last}
                                                   : Application{had.first, had.last, had.last + 1};
            const Seconds end = now + time_(what);
            note(rank, thread, what, now, end);
            free.emplace(end, thread);
        }
        return ends;
    }

    /// Scans the values of the only rank that has values: the first free thread continues first,
    /// and threads without a task wait for the next change.
    void look_ahead(int rank, Seconds start) {
        using Free = std::tuple<Seconds, int>;
        std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
        const Elements values = own_.series_[index(rank)];
        const int threads = employed(values, own_.configuration_.threads);
        for (int thread = 0; thread < threads; ++thread)
            free.emplace(start, thread);
        LookAhead schedule(values, threads);
        std::vector<int> waiting;
        performance_.makespan = start;
        while (!free.empty()) {
            const auto [now, thread] = free.top();
            free.pop();
            const auto task = schedule.next(thread);
            if (!task) {
                waiting.push_back(thread);
                continue;
            }
            for (const int other : waiting)
                free.emplace(now, other);
            waiting.clear();
            const Application what = task->in_series(0);
            const Seconds end = now + time_(what);
            note(rank, thread, what, now, end);
            performance_.makespan = std::max(performance_.makespan, end);
            free.emplace(end, thread);
        }
        performance_.stolen = schedule.stolen();
    }

    /// Runs the last phase of every thread.
    void finish(int rank, Seconds start) {
        std::vector<Seconds> ends;
        for (int thread = 0; thread < static_cast<int>(segments_[index(rank)].size()); ++thread)
            ends.push_back(finish(rank, thread, start));
        if (!ends.empty())
            share_out(ends, start);
        for (const Seconds end : ends)
            performance_.makespan = std::max(performance_.makespan, end);
    }

    Seconds finish(int rank, int thread, Seconds now) {
        const std::vector<Interval>& segments = segments_[index(rank)];
        const bool is_last = thread == static_cast<int>(segments.size()) - 1;
        const LastPhase phase =
            last_phase(segments[index(thread)], thread, is_last, own_.totals_[index(rank)],
                       own_.first_[index(rank)] == 0);
        const auto apply = [&](const Application& what) {
            const Seconds end = now + time_(what);
            note(rank, thread, what, now, end);
            now = end;
        };
        if (phase.joins)
            apply({0, own_.first_[index(rank)], segments[index(thread)].first});
        for (Elements value = phase.applied.first; value < phase.applied.last; ++value)
            apply({0, value, value + 1});
        return now;
    }

    Interval in_series(int rank, const Interval& own) const {
        const Elements first = own_.first_[index(rank)];
        return {first + own.first, first + own.last};
    }

    const Rehearsal& own_;
    const OperatorTime& time_;
    const bool with_bars_;
    const Balance balance_;
    std::vector<std::vector<Interval>> segments_; ///< by rank and thread; positions in the series
    Performance performance_;
};

Rehearsal::Rehearsal(const Series& series, const Configuration& configuration)
    : configuration_(configuration), series_(series) {
    check(configuration);
    Elements first = 0;
    for (const Elements own : series_)
        first_.push_back(std::exchange(first, first + own));
    const auto ranks = static_cast<int>(series_.size());
    if (configuration.threads == 1) {
        ranks_ = std::make_unique<RehearsalSimulator>(make_schedule(ranks, [&](int rank) {
            return program(configuration.strategy, series_, configuration.global, rank);
        }));
        return;
    }
    Schedule schedule;
    for (int rank = 0; rank < ranks; ++rank) {
        totals_.push_back(totals(series_, configuration.global, rank));
        schedule.push_back(totals_.back().program);
        plan_threads(employed(series_[index(rank)], configuration.threads));
    }
    ranks_ = std::make_unique<RehearsalSimulator>(std::move(schedule));
}

std::optional<int> Rehearsal::looks_ahead() const {
    if (configuration_.boundaries != Boundaries::look_ahead || configuration_.threads == 1)
        return std::nullopt;
    std::optional<int> alone;
    for (std::size_t rank = 0; rank < series_.size(); ++rank) {
        if (series_[rank] > 0 && alone)
            return std::nullopt;
        if (series_[rank] > 1)
            alone = static_cast<int>(rank);
        else if (series_[rank] == 1)
            return std::nullopt;
    }
    return alone;
}

void Rehearsal::plan_threads(int threads) {
    if (threads >= static_cast<int>(threads_.size()))
        threads_.resize(index(threads) + 1);
    if (threads == 0 || threads_[index(threads)])
        return;
    threads_[index(threads)] =
        std::make_unique<RehearsalSimulator>(make_schedule(threads, [&](int thread) {
            return program(find(circuit_among_threads), {threads, 1, Form::inclusive}, {}, thread);
        }));
}

Performance Rehearsal::run(const OperatorTime& time, std::span<const Seconds> starts,
                           bool with_bars) const {
    if (configuration_.threads > 1)
        return Stage(*this, time, with_bars, Balance::as_it_is).run(starts);
    Performance performance;
    RehearsalSimulator::Input input{[&](int rank, Elements e) {
                                        const Elements value = first_[index(rank)] + e;
                                        return Interval{value, value + 1};
                                    },
                                    {starts.begin(), starts.end()},
                                    time,
                                    {}};
    if (with_bars) {
        input.note = [&](int rank, const Application& what, Seconds begin, Seconds end) {
            performance.bars.push_back({rank, 0, what, begin, end});
        };
    }
    for (const Seconds end : ranks_->run(input))
        performance.makespan = std::max(performance.makespan, end);
    return performance;
}

Seconds Rehearsal::balanced(const OperatorTime& time, std::span<const Seconds> starts) const {
    if (configuration_.threads == 1)
        return run(time, starts).makespan;
    return Stage(*this, time, false, Balance::perfect).run(starts).makespan;
}

std::vector<Seconds> neighbours_done(const Series& series, int threads, double factor,
                                     const OperatorTime& time) {
    std::vector<Seconds> starts;
    Elements value = 0;
    for (const Elements own : series) {
        std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> free;
        for (int thread = 0; thread < threads; ++thread)
            free.push(0);
        Seconds last = 0;
        for (Elements i = 0; i < own; ++i, ++value) {
            const Seconds begin = free.top();
            free.pop();
            const Seconds takes =
                value == 0 || factor == 0 ? 0 : factor * time({value - 1, value, value + 1});
            free.push(begin + takes);
            last = std::max(last, begin + takes);
        }
        starts.push_back(last);
    }
    return starts;
}

} // namespace sextant::scan
