// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/hockney.hpp"

#include "sextant/model/critical_path.hpp"
#include "sextant/model/paths.hpp"

namespace sextant::model {

Prediction hockney(const Question& question) {
    const Lookup lookup(question);
    const auto time = [&](const Message& message) {
        const auto& known = costs_of(question.machine, message.link).hockney;
        if (!known)
            return at(lookup.line(message.link, machine::Path::full), message.bytes);
        return Span(known->latency) +
               Span(known->seconds_per_byte) * static_cast<double>(message.bytes);
    };
    const auto price = [&](const Message& message) {
        const Span t = time(message);
        return MessageCost{t, t, t, {}, {}};
    };
    return critical_path(question, {price});
}

} // namespace sextant::model
