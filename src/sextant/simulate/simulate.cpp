// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulate.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/simulate/simulator.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::simulate {

bool available() {
    return !simulator_path().empty();
}

std::string unavailable() {
    std::vector<std::string> folders;
    for (const std::filesystem::path& folder : machine::installation().programs)
        folders.push_back(folder);
    return fmt::format("there is no {} in {}; it is built where libsimgrid-dev is installed",
                       simulator_name, fmt::join(folders, " or "));
}

Simulation simulate(const Question& question) {
    const std::string program = simulator_path();
    if (program.empty())
        throw Error(unavailable());
    if (std::error_code error; !std::filesystem::is_regular_file(question.platform, error))
        throw InvalidFile(question.platform, "is no file");
    return ask(program, question);
}

} // namespace sextant::simulate
