// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/parcel.hpp"

#include "sextant/core/error.hpp"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

/// How a simulation ended.
enum class Ending : char { returned, invalid_task, invalid_file, our_bug, failed };

/// Values travel as they are in memory, so both processes must be built from the same declarations.
std::string protocol() {
    return fmt::format("sextant {}: {} {} {} {} {}", SEXTANT_VERSION, sizeof(Step), sizeof(Region),
                       sizeof(BufferSpec), sizeof(Event), sizeof(Seconds));
}

void put_program(Channel& to, const Program& program) {
    to.put(program.buffers);
    to.put(program.steps);
    to.put(program.regions);
    to.put(program.window);
    to.put(program.result);
}

Program get_program(Channel& from) {
    Program program;
    program.buffers = from.get_vector<BufferSpec>();
    program.steps = from.get_vector<Step>();
    program.regions = from.get_vector<Region>();
    program.window = from.get<int>();
    program.result = from.get<Region>();
    return program;
}

void put_costs(Channel& to, const Costs& costs) {
    to.put(std::vector{costs.send_overhead, costs.receive_overhead, costs.send_seconds_per_byte,
                       costs.receive_seconds_per_byte, costs.seconds_per_application,
                       costs.copy_seconds_per_byte});
    to.put(costs.seconds_per_computed_element);
}

Costs get_costs(Channel& from) {
    const std::vector<double> values = from.get_vector<double>();
    return {values.at(0),
            values.at(1),
            values.at(2),
            values.at(3),
            values.at(4),
            values.at(5),
            from.get_vector<double>()};
}

void put_order(Channel& to, const std::vector<OrderedHost>& order) {
    to.put(order.size());
    for (const OrderedHost& host : order) {
        to.put(host.name);
        to.put(host.named_by);
    }
}

std::vector<OrderedHost> get_order(Channel& from) {
    std::vector<OrderedHost> order(from.get<std::size_t>());
    for (OrderedHost& host : order) {
        host.name = from.get_text();
        host.named_by = from.get_text();
    }
    return order;
}

void put_failure(Channel& to, Ending ending, std::string_view path, std::string_view what) {
    to.put(ending);
    to.put(std::string(path));
    to.put(std::string(what));
}

[[noreturn]] void rethrow(Ending ending, const std::string& path, const std::string& what) {
    switch (ending) {
    case Ending::invalid_task:
        throw InvalidTask(what);
    case Ending::invalid_file:
        throw InvalidFile(path, what);
    case Ending::our_bug:
        throw std::logic_error(what);
    case Ending::returned:
    case Ending::failed:
        break;
    }
    throw Error(what);
}

} // namespace

void put_question(Channel& to, const Question& question) {
    to.put(protocol());
    to.put(question.schedule.size());
    for (const Program& program : question.schedule)
        put_program(to, program);
    to.put(question.platform);
    put_order(to, question.order);
    to.put(question.element_size);
    to.put(question.density);
    to.put(question.active_by_round);
    put_costs(to, question.costs);
    to.put(question.association);
    to.put(question.timeline);
}

ArrivedQuestion get_question(Channel& from) {
    if (const std::string theirs = from.get_text(); theirs != protocol())
        throw Error(fmt::format("sextant-simgrid is of '{}', expected '{}', as what started it",
                                protocol(), theirs));
    auto schedule = std::make_unique<Schedule>(from.get<std::size_t>());
    for (Program& program : *schedule)
        program = get_program(from);
    Question question{.schedule = *schedule, .platform = from.get_text()};
    question.order = get_order(from);
    question.element_size = from.get<Bytes>();
    question.density = from.get<double>();
    question.active_by_round = from.get_vector<double>();
    question.costs = get_costs(from);
    question.association = from.get<Association>();
    question.timeline = from.get<bool>();
    return {std::move(schedule), std::move(question)};
}

void put_answer(Channel& to, const std::function<Simulation()>& simulation) {
    Simulation found;
    try {
        found = simulation();
    } catch (const InvalidFile& error) {
        const std::string_view what = error.what();
        return put_failure(to, Ending::invalid_file, error.path(),
                           what.substr(error.path().size() + 2));
    } catch (const InvalidTask& error) {
        return put_failure(to, Ending::invalid_task, "", error.what());
    } catch (const std::logic_error& error) {
        return put_failure(to, Ending::our_bug, "", error.what());
    } catch (const std::exception& error) {
        return put_failure(to, Ending::failed, "", error.what());
    }
    to.put(Ending::returned);
    to.put(found.seconds);
    to.put(found.finished);
    to.put(found.timeline.events);
    to.put(found.timeline.duration);
}

Simulation get_answer(Channel& from) {
    if (const auto ending = from.get<Ending>(); ending != Ending::returned) {
        const std::string path = from.get_text();
        rethrow(ending, path, from.get_text());
    }
    Simulation simulation;
    simulation.seconds = from.get<Seconds>();
    simulation.finished = from.get_vector<Seconds>();
    simulation.timeline.events = from.get_vector<Event>();
    simulation.timeline.duration = from.get<Seconds>();
    return simulation;
}

} // namespace sextant::simulate
