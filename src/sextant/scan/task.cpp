// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/task.hpp"

#include "sextant/core/error.hpp"

#include <fmt/format.h>

namespace sextant::scan {

std::string_view name(Form form) {
    switch (form) {
    case Form::inclusive:
        return "inclusive";
    case Form::exclusive:
        return "exclusive";
    case Form::both:
        return "both";
    }
    return "";
}

void check(const Task& task) {
    if (task.ranks < 1)
        throw InvalidTask(fmt::format("{} ranks: expected 1 or more", task.ranks));
    if (task.elements < 0)
        throw InvalidTask(fmt::format("{} values a rank: expected 0 or more", task.elements));
    if (task.form == Form::both)
        throw InvalidTask("a scan has one result: expected inclusive or exclusive, not both");
}

} // namespace sextant::scan
