// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/flight.hpp"

#include <thread>
#include <utility>

namespace sextant {

void Flight::start(Execution& execution) {
    execution.start();
    under_way_.push_back(&execution);
}

void Flight::start_failed(Execution& execution, std::exception_ptr failure) {
    execution.start_failed(std::move(failure));
    under_way_.push_back(&execution);
}

bool Flight::ready(Execution& execution) {
    advance_all();
    return execution.over();
}

void Flight::wait(Execution& execution) {
    while (!execution.over()) {
        if (advance_all())
            continue;
        if (under_way_.size() == 1)
            under_way_.front()->rest();
        else // no one of them may sleep: a message may come for another
            std::this_thread::yield();
    }
    execution.finish();
}

void Flight::abandon(Execution& execution) {
    execution.abandon();
    std::erase(under_way_, &execution);
}

/// Whether anything was done.
bool Flight::advance_all() {
    bool any = false;
    for (Execution* execution : under_way_)
        any = execution->advance() || any;
    std::erase_if(under_way_, [](const Execution* execution) { return execution->over(); });
    return any;
}

} // namespace sextant
