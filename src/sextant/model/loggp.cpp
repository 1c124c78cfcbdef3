// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/loggp.hpp"

#include "sextant/model/critical_path.hpp"
#include "sextant/model/paths.hpp"

namespace sextant::model {

namespace {

struct Parameters {
    Span L, o, g, G; // the paper's symbols
};

Parameters parameters(const Question& question, machine::Link link) {
    const auto& known = costs_of(question.machine, link).loggp;
    if (known) {
        return {Span(known->latency), Span(known->overhead), Span(known->gap),
                Span(known->gap_per_byte)};
    }
    const Lookup lookup(question);
    const machine::Line full = lookup.line(link, machine::Path::full);
    const Span g(lookup.line(link, machine::Path::send).constant);
    return {later(Span(full.constant) - g * 2, Span()), g, g, Span(full.slope)};
}

} // namespace

Prediction loggp(const Question& question) {
    const auto price = [&](const Message& message) {
        const auto [L, o, g, G] = parameters(question, message.link);
        const Span data = G * static_cast<double>(message.bytes);
        return MessageCost{g + data, g + data, o * 2 + L + data, o, o};
    };
    return critical_path(question, {price, false});
}

} // namespace sextant::model
