// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/shift_based.hpp"

#include "sextant/compositing/direct_send.hpp"

namespace sextant::compositing {

Program shift_based(const Task& task, int window, int position) {
    return direct_send(task, Partners::shifted, window, position);
}

} // namespace sextant::compositing
