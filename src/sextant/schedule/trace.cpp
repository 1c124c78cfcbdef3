// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/trace.hpp"

namespace sextant {

std::string_view name(Activity activity) {
    switch (activity) {
    case Activity::send:
        return "send";
    case Activity::receive:
        return "receive";
    case Activity::fold:
        return "fold";
    case Activity::copy:
        return "copy";
    case Activity::compute:
        return "compute";
    case Activity::wait:
        return "wait";
    }
    return "";
}

Activity activity_of(Verb verb) {
    switch (verb) {
    case Verb::send:
        return Activity::send;
    case Verb::receive:
        return Activity::receive;
    case Verb::fold:
        return Activity::fold;
    case Verb::copy:
        return Activity::copy;
    case Verb::compute:
        return Activity::compute;
    }
    return Activity::wait;
}

} // namespace sextant
