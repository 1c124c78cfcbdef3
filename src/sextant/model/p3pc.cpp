// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/p3pc.hpp"

#include "sextant/model/critical_path.hpp"
#include "sextant/model/paths.hpp"

namespace sextant::model {

Prediction p3pc(const Question& question) {
    Lookup lookup(question);
    const auto price = [&](const Message& message) {
        const auto path = [&](machine::Path which) {
            return lookup.at_size(message, which, message.layout, machine::Strategy::datatype);
        };
        return MessageCost{path(machine::Path::send),
                           path(machine::Path::receive),
                           path(machine::Path::full),
                           {},
                           {}};
    };
    return with_remarks(critical_path(question, {price}), lookup);
}

} // namespace sextant::model
