// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/loggp_star.hpp"

#include "sextant/model/critical_path.hpp"
#include "sextant/model/paths.hpp"

namespace sextant::model {

Prediction loggp_star(const Question& question) {
    Lookup lookup(question);
    const auto path = [&](const Message& message, machine::Path which) {
        return lookup.at_size(message, which, machine::Layout::cc, machine::Strategy::contiguous);
    };
    const auto price = [&](const Message& message) {
        Message empty = message;
        empty.bytes = 0;
        const Span full = path(message, machine::Path::full);
        const Span side =
            path(empty, machine::Path::send) + full - path(empty, machine::Path::full);
        return MessageCost{side, side, full, {}, {}};
    };
    return with_remarks(critical_path(question, {price}), lookup);
}

} // namespace sextant::model
