// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/three_paths.hpp"

#include "sextant/model/critical_path.hpp"
#include "sextant/model/paths.hpp"

namespace sextant::model {

Prediction three_paths(const Question& question) {
    const Lookup lookup(question);
    const auto price = [&](const Message& message) {
        const auto path = [&](machine::Path which) {
            return at(lookup.line(message.link, which), message.bytes);
        };
        return MessageCost{path(machine::Path::send),
                           path(machine::Path::receive),
                           path(machine::Path::full),
                           {},
                           {}};
    };
    return critical_path(question, {price});
}

} // namespace sextant::model
