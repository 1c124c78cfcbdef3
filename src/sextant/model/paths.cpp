// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/paths.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::model {

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
    return {fmt::format("messages of {} bytes lie outside what was measured on {}", sizes,
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
