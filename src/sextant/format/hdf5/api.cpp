// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/api.hpp"

#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace sextant::format {

void load_hdf5() {
    // RTLD_GLOBAL, because filter plugins may use functions of libhdf5 without linking it.
    static const std::string failure = [] {
        const std::string soname = SEXTANT_HDF5_SONAME;
        if (dlopen(soname.c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr)
            return std::string();
        const std::string why = dlerror();
        return dlopen(SEXTANT_HDF5_PATH, RTLD_LAZY | RTLD_GLOBAL) != nullptr ? std::string() : why;
    }();
    if (!failure.empty())
        throw std::runtime_error(failure);
}

void* hdf5_address(const char* name) {
    // If the program itself links libhdf5, libhdf5 uses the program's copy of a variable.
    void* const address = dlsym(RTLD_DEFAULT, name);
    if (address == nullptr)
        throw std::runtime_error(std::string(SEXTANT_HDF5_SONAME " has no ") + name);
    return address;
}

} // namespace sextant::format
