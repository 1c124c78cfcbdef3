// SPDX-License-Identifier: BSD-3-Clause
// Writes the initial inputs for fuzzing: small files of every format, one folder per extension.
#include <filesystem>
#include <iostream>

#include "tests/format/seeds.hpp"
#include "tests/fuzz/zarr_store.hpp"

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
    std::filesystem::create_directories(folder / "zarr");
    int number = 0;
    for (const sextant::test::FuzzedStore& store : sextant::test::zarr_seeds())
        sextant::test::fill_file((folder / "zarr" / std::to_string(number++)).string(),
                                 store.text());
    return 0;
}
