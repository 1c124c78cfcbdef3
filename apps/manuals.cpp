// SPDX-License-Identifier: BSD-3-Clause
// manuals FOLDER: writes the manual pages of all commands, and the completion scripts for bash and
// zsh. Run by the build.
#include "sextant/command/help.hpp"
#ifdef SEXTANT_WITH_LAB
#include "sextant/lab/catalogue.hpp"
#endif
#ifdef SEXTANT_WITH_PAPERS
#include "papers/reproduce.hpp"
#endif

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file << text;
    file.close();
}

} // namespace

int main(int argc, char** argv) {
    namespace command = sextant::command;
    if (argc != 2)
        return 2;
    try {
        const std::filesystem::path folder(argv[1]);
        command::Commands commands = command::catalogue();
        std::vector<const command::Operation*> operations = commands.operations();
        std::vector<command::Commands> others;
#ifdef SEXTANT_WITH_LAB
        others.push_back(sextant::lab::catalogue());
#endif
#ifdef SEXTANT_WITH_PAPERS
        others.push_back(sextant::papers::catalogue());
#endif
        for (const command::Commands& other : others) {
            for (const command::Operation* operation : other.operations())
                operations.push_back(operation);
        }
        write(folder / "man1/sextant.1", command::manual_of(commands));
        for (const command::Operation* operation : operations)
            write(folder / "man1" / ("sextant-" + std::string(operation->name) + ".1"),
                  command::manual_of(*operation));
        write(folder / "bash/sextant", command::bash_completion(operations));
        write(folder / "zsh/_sextant", command::zsh_completion(operations));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "manuals: %s\n", error.what());
        return 1;
    }
    return 0;
}
