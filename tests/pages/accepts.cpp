// SPDX-License-Identifier: BSD-3-Clause
// accepts COMMAND...: checks a command line as `sextant`, `sextant-lab` and `sextant-papers` do,
// without running it.
#include "sextant/command/operation.hpp"
#include "sextant/lab/catalogue.hpp"
#ifdef SEXTANT_WITH_PAPERS
#include "papers/reproduce.hpp"
#endif

int main(int argc, char** argv) {
    using namespace sextant;
    std::vector<command::Group> groups;
    std::vector<command::Commands> programs = {command::catalogue(), lab::catalogue()};
#ifdef SEXTANT_WITH_PAPERS
    programs.push_back(papers::catalogue());
#endif
    for (const command::Commands& all : programs) {
        for (command::Group group : all.groups) {
            for (command::Operation& operation : group.operations)
                operation.run = [](const command::Call&) { return 0; };
            groups.push_back(std::move(group));
        }
    }
    return command::main_of({.groups = groups}, argc, argv);
}
