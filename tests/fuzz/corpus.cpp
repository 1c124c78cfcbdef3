// SPDX-License-Identifier: BSD-3-Clause
// Writes the initial inputs for fuzzing: small files of every format, one folder per extension or
// kind of JSON file.
#include <filesystem>
#include <iostream>

#include "tests/format/seeds.hpp"
#include "tests/fuzz/growing_script.hpp"
#include "tests/fuzz/image_seeds.hpp"
#include "tests/fuzz/json_seeds.hpp"
#include "tests/fuzz/zarr_store.hpp"

namespace {

/// Scripts in which files of each kind grow, in one, three and seven pieces.
void write_scripts(const std::filesystem::path& corpus) {
    using sextant::test::GrowingScript;
    const std::filesystem::path folder = corpus / "growing";
    std::filesystem::create_directories(folder);
    for (std::size_t kind = 0; kind < GrowingScript::kinds.size(); ++kind) {
        const std::filesystem::path file = GrowingScript::kinds[kind].file;
        for (const auto& seed :
             std::filesystem::directory_iterator(corpus / file.extension().string().substr(1))) {
            const std::string bytes = sextant::test::content(seed.path().string());
            for (const int pieces : {1, 3, 7}) {
                const std::size_t piece = bytes.size() / static_cast<std::size_t>(pieces) + 1;
                std::string script = GrowingScript::of(kind, bytes, piece);
                if (GrowingScript::kinds[kind].folder) { // files "1.mrc", "3.mrc", "2.mrc" of it
                    script = GrowingScript::of(kind, "\1" + bytes, bytes.size() + 1) +
                             GrowingScript::of(kind, "\3" + bytes, bytes.size() + 1).substr(1) +
                             GrowingScript::of(kind, "\2" + bytes, bytes.size() + 1).substr(1);
                }
                sextant::test::fill_file(
                    (folder / (file.string() + std::to_string(kind) + "-" +
                               seed.path().filename().string() + "-" + std::to_string(pieces)))
                        .string(),
                    script);
            }
        }
    }
}

} // namespace

int main(int count, char** words) {
    if (count != 2) {
        std::cerr << "usage: fuzz_corpus FOLDER\n";
        return 2;
    }
    const std::filesystem::path folder(words[1]);
    std::vector<sextant::test::Seed> all = sextant::test::seeds();
    for (const sextant::test::Seed& seed : sextant::test::hdf5_seeds())
        all.push_back(seed);
    for (const sextant::test::Seed& seed : all) {
        const std::string extension = std::filesystem::path(seed.name).extension().string();
        std::filesystem::create_directories(folder / extension.substr(1));
        seed.make((folder / extension.substr(1) / seed.name).string());
    }
    write_scripts(folder);
    sextant::test::write_image_seeds(folder);
    std::filesystem::create_directories(folder / "zarr");
    int number = 0;
    for (const sextant::test::FuzzedStore& store : sextant::test::zarr_seeds())
        sextant::test::fill_file((folder / "zarr" / std::to_string(number++)).string(),
                                 store.text());
    for (const sextant::test::JsonSeed& seed : sextant::test::json_seeds()) {
        const std::filesystem::path kind = folder / ("json_" + std::string(seed.kind));
        std::filesystem::create_directories(kind);
        sextant::test::fill_file((kind / std::to_string(number++)).string(), seed.text);
    }
    return 0;
}
