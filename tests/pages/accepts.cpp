// SPDX-License-Identifier: BSD-3-Clause
// accepts COMMAND...: checks a command line as `sextant` and `sextant-lab` do, without running it.
#include "sextant/command/main.hpp"
#include "sextant/lab/catalogue.hpp"

int main(int argc, char** argv) {
    using namespace sextant;
    std::vector<command::Group> groups;
    for (const command::Commands& all : {command::catalogue(), lab::catalogue()}) {
        for (command::Group group : all.groups) {
            for (command::Operation& operation : group.operations)
                operation.run = [](const command::Call&) { return 0; };
            groups.push_back(std::move(group));
        }
    }
    return command::main_of({.groups = groups}, argc, argv);
}
