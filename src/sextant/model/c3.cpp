// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/c3.hpp"

#include "sextant/model/c3_rounds.hpp"
#include "sextant/model/message.hpp"
#include "sextant/schedule/timeline.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::model {

namespace {

/// What all submachines of a round are charged together: they work at one time.
Units communication(int number, const Round& round, const machine::Topology& machine,
                    const machine::C3& c3, const C3Reading& reading) {
    Units dearest;
    for (auto& [place, messages] : by_submachine(number, round, machine, reading)) {
        const Superstep superstep{wiring_of(place, machine, c3, reading),
                                  place.width * place.height, messages};
        const Units own = charge(superstep, c3, reading.counting);
        if (own.total(c3.setup.median) > dearest.total(c3.setup.median))
            dearest = own;
    }
    return dearest;
}

double computation(const Round& round, const machine::C3& c3, Counting counting) {
    double most = 0;
    for (const auto& [rank, bytes] : round.touched) {
        const double units = bytes / static_cast<double>(c3.packet);
        most = std::max(most, counting == Counting::exact ? std::ceil(units) : units);
    }
    return most;
}

/// Rounds one after another, and in each first its messages, then its work.
Trace timeline_of(const Question& question, const std::vector<RoundCharge>& rounds,
                  const machine::C3& c3, Seconds duration) {
    std::map<int, std::pair<Seconds, Seconds>> begins; // of messages and of work
    std::map<int, Seconds> ends;
    Seconds now = 0;
    for (const RoundCharge& round : rounds) {
        begins[round.round].first = now;
        now += round.communication.total(c3.setup.median) * c3.seconds_per_unit.median;
        begins[round.round].second = now;
        now += round.computation * c3.seconds_per_computation_unit.median;
        ends[round.round] = now;
    }
    Timeline timeline;
    for (int rank = 0; rank < static_cast<int>(question.schedule.size()); ++rank) {
        const Program& program = question.schedule[static_cast<std::size_t>(rank)];
        for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
            const Step& step = program.steps[static_cast<std::size_t>(i)];
            const auto [messages, work] = begins.at(step.round);
            const bool moves = is_message(step.verb);
            timeline.add(program, {rank, i}, activity_of(step.verb), moves ? messages : work,
                         moves ? work : ends.at(step.round));
        }
    }
    return timeline.finish(duration);
}

} // namespace

std::vector<RoundCharge> charges(const Question& question, const C3Reading& reading) {
    if (!question.machine.c3) {
        throw CannotExpress(
            fmt::format("the profile of {} has no parameters of C3", question.machine.name));
    }
    const machine::C3& c3 = *question.machine.c3;
    std::vector<RoundCharge> all;
    try {
        const machine::Topology machine = machine_for(question);
        for (const auto& [number, round] : rounds_of(question)) {
            all.push_back({number, communication(number, round, machine, c3, reading),
                           computation(round, c3, reading.counting)});
        }
    } catch (const std::invalid_argument& error) { // a topology of a size that it does not take
        throw CannotExpress(error.what());
    }
    return all;
}

Prediction c3(const Question& question) {
    return c3(question, {});
}

Prediction c3(const Question& question, const C3Reading& reading) {
    const std::vector<RoundCharge> rounds = charges(question, reading);
    if (question.least)
        return {}; // a rank alone does not say how large its submachines are
    const machine::C3& c3 = *question.machine.c3;
    Span sum;
    for (const RoundCharge& round : rounds) {
        const auto units = [&](double s, double seconds_per_unit) {
            return round.communication.total(s) * seconds_per_unit;
        };
        const Span messages(units(c3.setup.median, c3.seconds_per_unit.median),
                            units(c3.setup.low, c3.seconds_per_unit.low),
                            units(c3.setup.high, c3.seconds_per_unit.high));
        sum = sum + messages + Span(c3.seconds_per_computation_unit) * round.computation;
    }
    Prediction prediction{sum.median, sum.low, sum.high, {}, {}};
    if (question.timeline)
        prediction.timeline = timeline_of(question, rounds, c3, sum.median);
    const int processors = c3.topology.processors();
    if (processors != static_cast<int>(question.schedule.size())) {
        prediction.remarks.push_back(fmt::format("{} has {} processors; taken for a like machine "
                                                 "of {}",
                                                 question.machine.name, processors,
                                                 question.schedule.size()));
    }
    return prediction;
}

} // namespace sextant::model
