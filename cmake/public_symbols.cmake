# SPDX-License-Identifier: BSD-3-Clause
# Finds the symbols that the shared libraries export. Writes a version script for each library, and a list of its
# public symbols with demangled names.
#
# A symbol is public if an installed header declares it and a program that includes installed headers can need it.
# These are all members of classes; functions and variables that a header included by a chapter mentions, even if
# only in a comment; and those that the code of the installed headers mentions more than once, so that it must also
# use them. The compiler decides which names the installed headers declare: it compiles a file with one declaration
# per name, and a name that causes an error is not declared. Inline functions and templates are not exported, because
# programs have their own copies.
#
# A symbol is private if it is not public and another library, or the Python module, uses it. The version node of
# private symbols contains the full version, so libraries of different versions cannot be mixed. No program needs
# private symbols.
#
# Input   LIBRARIES, and for each NAME in it ARCHIVES_NAME: the static libraries of its layers
#         SOURCE (src/sextant), WITHOUT (chapters that are not installed), PYTHON (sources of the module), VERSION
#         COMPILE (command that compiles a C++ file given last), NM, CXXFILT
# Output  TO/NAME.map, TO/NAME.symbols
cmake_policy(VERSION 3.22)
set(ENV{LC_ALL} C)
include("${CMAKE_CURRENT_LIST_DIR}/installed_headers.cmake")
string(REGEX MATCH "^[0-9]+" major "${VERSION}")

# Returns in `all` the words of a text, and in `repeated` those that occur more than once.
function(words_of text all repeated)
    string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*" words "${text}")
    list(SORT words)
    set(more "")
    set(last "")
    foreach(word IN LISTS words)
        if(word STREQUAL last)
            list(APPEND more ${word})
        endif()
        set(last ${word})
    endforeach()
    list(REMOVE_DUPLICATES words)
    list(REMOVE_DUPLICATES more)
    set(${all} ${words} PARENT_SCOPE)
    set(${repeated} ${more} PARENT_SCOPE)
endfunction()

# The operators that are declared outside of classes, by their codes in mangled names.
set(operators eq == ne != lt < gt > le <= ge >= ss <=> pl + mi - ml * dv / rm % an & or | eo ^ co ~ ng - ls << rs >>
    pL += mI -= mL *= dV /= oR |= aN &=)

# Finds the C++ declaration that compiles only if the entity with this mangled name is declared (of a member, if its
# class is defined), and the entity's name (of a member, that of its class). `declaration` is empty if the entity does
# not belong to the project, or is local to a function.
function(declaration_of symbol declaration word)
    set(${declaration} "" PARENT_SCOPE)
    if(NOT symbol MATCHES "^_Z(T[VIST]|GV|Thn?[0-9]+_|Tvn?[0-9]+_n?[0-9]+_)?NK?(7sextant.*)$")
        return()
    endif()
    set(rest "${CMAKE_MATCH_2}")
    set(name "")
    set(class "")
    while(rest MATCHES "^([0-9]+)(.*)$")
        string(SUBSTRING "${CMAKE_MATCH_2}" 0 ${CMAKE_MATCH_1} id)
        string(SUBSTRING "${CMAKE_MATCH_2}" ${CMAKE_MATCH_1} -1 rest)
        string(REGEX REPLACE "^B5cxx11" "" rest "${rest}")
        if(id MATCHES "^[A-Z]") # a class; members of classes follow
            string(APPEND class "::${id}")
            set(last "${id}")
        elseif(NOT class)
            string(APPEND name "::${id}")
            set(last "${id}")
        else()
            break()
        endif()
    endwhile()
    if(class)
        set(${declaration} "static_assert(sizeof(${name}${class}) > 0)" PARENT_SCOPE)
    elseif(rest MATCHES "^([a-zA-Z][a-zA-Z])" AND CMAKE_MATCH_1 IN_LIST operators)
        list(FIND operators ${CMAKE_MATCH_1} at)
        math(EXPR at "${at} + 1")
        list(GET operators ${at} operator)
        set(${declaration} "using ${name}::operator${operator}" PARENT_SCOPE)
        set(last "")
    else()
        set(${declaration} "using ${name}" PARENT_SCOPE)
    endif()
    set(${word} "${last}" PARENT_SCOPE)
endfunction()

set(near_text "")
set(all_code "")
set(includes "")
installed_headers("${SOURCE}" "${WITHOUT}" headers)
foreach(header IN LISTS headers)
    file(READ "${SOURCE}/${header}" text)
    string(REGEX REPLACE "//[^\n]*" "" code "${text}")
    string(APPEND all_code "${code}\n")
    if(NOT header MATCHES "/") # a chapter
        string(APPEND includes "#include \"sextant/${header}\"\n")
        string(REGEX MATCHALL "\"sextant/[a-z0-9_/-]+\\.hpp\"" direct "${text}")
        foreach(include IN LISTS direct)
            string(REGEX REPLACE "\"sextant/(.*)\"" "\\1" path "${include}")
            file(READ "${SOURCE}/${path}" text)
            string(APPEND near_text "${text}\n")
        endforeach()
    endif()
endforeach()
words_of("${near_text}" near_words _)
words_of("${all_code}" _ repeated_words)
set(python_text "")
foreach(file IN LISTS PYTHON)
    file(READ "${file}" text)
    string(APPEND python_text "${text}\n")
endforeach()
words_of("${python_text}" python_words _)

# The symbols that each library defines, and those that it needs from others. Types: T functions, B, D and R variables,
# V virtual tables and type information, u variables of headers.
set(declarations "")
foreach(library IN LISTS LIBRARIES)
    execute_process(COMMAND "${NM}" -g --defined-only ${ARCHIVES_${library}} OUTPUT_VARIABLE text
                    COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL " [TBDRVu] _Z[^\n]+" lines "${text}")
    string(REGEX REPLACE " [TBDRVu] " "" symbols_${library} "${lines}")
    list(REMOVE_DUPLICATES symbols_${library})
    foreach(symbol IN LISTS symbols_${library})
        declaration_of("${symbol}" declaration word)
        if(declaration)
            set("of_${symbol}" "${declaration}")
            set("word_${symbol}" "${word}")
            list(APPEND declarations "${declaration}")
        endif()
    endforeach()
    execute_process(COMMAND "${NM}" -u ${ARCHIVES_${library}} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "_Z[^\n]+" needed_by_${library} "${text}")
    foreach(symbol IN LISTS needed_by_${library})
        set("needed_${symbol}" ${library})
    endforeach()
endforeach()
list(REMOVE_DUPLICATES declarations)

# Compile a file with one declaration per line. A line with an error names nothing that is declared. To see that errors
# are recognised, the first one is expected.
set(probe "${TO}/declared.cpp")
set(text "${includes}namespace declared {\nusing sextant::name_without_declaration;\n}\n")
string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH lines first)
set(line ${first})
foreach(declaration IN LISTS declarations)
    math(EXPR line "${line} + 1")
    set(line_${line} "${declaration}")
    string(APPEND text "namespace at${line} { ${declaration}; }\n")
endforeach()
file(WRITE "${probe}" "${text}")
execute_process(COMMAND ${COMPILE} "${probe}" OUTPUT_QUIET ERROR_VARIABLE errors)
string(REPLACE ";" "," errors "${errors}")
string(REGEX MATCHALL "[^\n]*: (fatal )?error: [^\n]*" errors "${errors}")
math(EXPR self_test "${first} - 1")
set(works OFF)
foreach(error IN LISTS errors)
    if(NOT error MATCHES "declared\\.cpp:([0-9]+):[0-9]+: error" OR CMAKE_MATCH_1 LESS self_test)
        message(FATAL_ERROR "The public headers do not compile: ${error}")
    endif()
    if(CMAKE_MATCH_1 EQUAL self_test)
        set(works ON)
    else()
        set("undeclared_${line_${CMAKE_MATCH_1}}" ON)
    endif()
endforeach()
if(NOT works)
    message(FATAL_ERROR "${COMPILE} ${probe} does not report undeclared names")
endif()

foreach(library IN LISTS LIBRARIES)
    set(public "")
    set(private "")
    foreach(symbol IN LISTS symbols_${library})
        set(declaration "${of_${symbol}}")
        set(word "${word_${symbol}}")
        if(NOT declaration)
            continue()
        endif()
        if(NOT DEFINED "undeclared_${declaration}" AND
           (declaration MATCHES "^static_assert|::operator" OR word IN_LIST near_words OR word IN_LIST repeated_words))
            list(APPEND public "${symbol}")
        elseif((DEFINED "needed_${symbol}" AND NOT "${needed_${symbol}}" STREQUAL library) OR word IN_LIST python_words)
            list(APPEND private "${symbol}")
        endif()
    endforeach()
    list(SORT public)
    list(SORT private)
    list(JOIN public ";\n        " public_lines)
    list(JOIN private ";\n        " private_lines)
    set(map "SEXTANT_${major} {\n    global:\n        ${public_lines};\n    local: *;\n};\n")
    if(private)
        string(APPEND map "SEXTANT_PRIVATE_${VERSION} {\n    global:\n        ${private_lines};\n};\n")
    endif()
    file(CONFIGURE OUTPUT "${TO}/${library}.map" CONTENT "${map}" @ONLY)
    list(JOIN public "\n" names)
    file(WRITE "${TO}/${library}.mangled" "${names}\n")
    execute_process(COMMAND "${CXXFILT}" INPUT_FILE "${TO}/${library}.mangled" OUTPUT_VARIABLE names
                    COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "\n$" "" names "${names}")
    string(REPLACE ";" "\\;" names "${names}")
    string(REPLACE "\n" ";" names "${names}")
    list(REMOVE_DUPLICATES names) # constructors have several symbols
    list(SORT names)
    list(JOIN names "\n" names)
    file(CONFIGURE OUTPUT "${TO}/${library}.symbols" CONTENT "${names}\n" @ONLY)
    file(REMOVE "${TO}/${library}.mangled")
endforeach()
