// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/catalogue.hpp"

namespace sextant::lab {

command::Commands catalogue() {
    static const std::vector<command::Group> groups = {
        {"Laboratory", {bench_operation(), tune_operation(), evaluate_operation()}}};
    return {groups};
}

} // namespace sextant::lab
