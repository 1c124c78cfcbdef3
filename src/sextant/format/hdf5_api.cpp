// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5_api.hpp"

#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace sextant::format {

void load_hdf5() {
    // Filter plugins may use functions of libhdf5 without depending on it: hence RTLD_GLOBAL.
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
    // Finds a variable's copy in a program that links libhdf5 itself, which libhdf5 then uses, too.
    void* const address = dlsym(RTLD_DEFAULT, name);
    if (address == nullptr)
        throw std::runtime_error(std::string(SEXTANT_HDF5_SONAME " has no ") + name);
    return address;
}

} // namespace sextant::format
