// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/message.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::model {

namespace {

const Program& program_of(const Question& question, int rank) {
    return question.schedule[static_cast<std::size_t>(rank)];
}

const Step& step_of(const Program& program, int step) {
    return program.steps[static_cast<std::size_t>(step)];
}

machine::Link link(const Question& question, int from, int to) {
    if (question.nodes.empty()) {
        const auto& links = question.machine.links;
        return links.size() == 1 ? links.front().link : machine::Link::other_node;
    }
    const auto node = [&](int rank) { return question.nodes[static_cast<std::size_t>(rank)]; };
    return node(from) == node(to) ? question.within_node : machine::Link::other_node;
}

} // namespace

bool joins_nodes(const Question& question, int from, int to) {
    return link(question, from, to) == machine::Link::other_node;
}

bool shares_memory(const Question& question) {
    const auto& links = question.machine.links;
    const bool only_link = question.nodes.empty() && links.size() == 1;
    return (only_link ? links.front().link : question.within_node) == machine::Link::same_process;
}

Bytes bytes_of(const Question& question, const Program& program, const Step& message) {
    const Bytes bytes = program.bytes_of(message, question.element_size);
    if (question.density == 1)
        return bytes;
    return static_cast<Bytes>(std::llround(static_cast<double>(bytes) * question.density));
}

void check_nodes(const Question& question) {
    if (!question.nodes.empty() && question.nodes.size() != question.schedule.size()) {
        throw CannotExpress(fmt::format("nodes are given for {} ranks, but the schedule has {}",
                                        question.nodes.size(), question.schedule.size()));
    }
}

Messages::Messages(const Question& question) : question_(question) {
    check_nodes(question);
}

/// The number of contiguous pieces of a message on one side; regions adjacent in memory count as
/// one.
Elements Messages::runs(StepOfRank at) const {
    const Program& program = program_of(question_, at.rank);
    Elements runs = 0;
    const Region* before = nullptr;
    for (const Region& region : program.regions_of(step_of(program, at.step))) {
        runs += region.contiguous() ? 1 : region.count;
        if (before && before->buffer == region.buffer && before->end() == region.offset)
            --runs;
        before = &region;
    }
    return runs;
}

Message Messages::describe(StepOfRank send, StepOfRank receive) const {
    const Program& program = program_of(question_, send.rank);
    const Elements sent_runs = runs(send), received_runs = runs(receive);
    Message message;
    message.from = send.rank;
    message.to = receive.rank;
    message.bytes = bytes_of(question_, program, step_of(program, send.step));
    message.stands_for = program.bytes_of(step_of(program, send.step), question_.element_size);
    message.link = link(question_, send.rank, receive.rank);
    message.layout =
        static_cast<machine::Layout>((sent_runs > 1 ? 2 : 0) + (received_runs > 1 ? 1 : 0));
    message.sent_block = std::max<Bytes>(1, message.bytes / sent_runs);
    message.received_block = std::max<Bytes>(1, message.bytes / received_runs);
    return message;
}

const machine::LinkCosts& costs_of(const machine::Profile& machine, machine::Link link) {
    if (const machine::LinkCosts* found = machine.find(link))
        return *found;
    throw CannotExpress(fmt::format("the profile of {} has no costs of messages to the {}",
                                    machine.name, name(link)));
}

const machine::Curve& curve(const Question& question, machine::Link link, machine::Path path,
                            machine::Layout layout, machine::Strategy strategy) {
    const machine::LinkCosts& costs = costs_of(question.machine, link);
    if (const machine::Curve* found = machine::find(costs, path, layout, strategy))
        return *found;
    throw CannotExpress(fmt::format(
        "the profile of {} lacks the cost of the {} path to the {} (layout {}, strategy {})",
        question.machine.name, name(path), name(link), name(layout), name(strategy)));
}

namespace {

machine::Strategy of_layout(machine::Layout layout, machine::Strategy strided) {
    return layout == machine::Layout::cc ? machine::Strategy::contiguous : strided;
}

} // namespace

Span Lookup::noted(const machine::Estimate& estimate, Bytes bytes) {
    if (estimate.extrapolated) {
        least_ = std::min(least_, bytes);
        most_ = std::max(most_, bytes);
    }
    return Span(estimate);
}

Span Lookup::at_size(const Message& message, machine::Path path, machine::Layout layout,
                     machine::Strategy strategy) {
    const auto& cell = curve(question_, message.link, path, layout, of_layout(layout, strategy));
    return at_size(cell.points, message.bytes);
}

Span Lookup::at_size_and_block(const Message& message, machine::Path path,
                               machine::Strategy strategy) {
    const auto& cell =
        curve(question_, message.link, path, message.layout, of_layout(message.layout, strategy));
    if (message.layout == machine::Layout::cc)
        return at_size(cell.points, message.bytes);
    return noted(machine::at_size_and_block(cell.points, message.bytes, message.block()),
                 message.bytes);
}

Span Lookup::at_size(const std::vector<machine::Point>& points, Bytes bytes) {
    return noted(machine::at_size(points, bytes), bytes);
}

machine::Line Lookup::line(machine::Link link, machine::Path path) const {
    return machine::fitted_line(
        curve(question_, link, path, machine::Layout::cc, machine::Strategy::contiguous).points);
}

std::vector<std::string> Lookup::remarks() const {
    if (most_ < least_)
        return {};
    const std::string sizes =
        least_ == most_ ? fmt::format("{}", least_) : fmt::format("{} to {}", least_, most_);
    return {fmt::format("messages of {} bytes are outside the range measured on {}", sizes,
                        question_.machine.name)};
}

Span at(const machine::Line& line, Bytes bytes) {
    return Span(line.constant + line.slope * static_cast<double>(bytes));
}

Prediction with_remarks(Prediction prediction, const Lookup& lookup) {
    for (std::string& remark : lookup.remarks())
        prediction.remarks.push_back(std::move(remark));
    return prediction;
}

} // namespace sextant::model
