# Writes OUTPUT, a C file that has the bytes of the files INPUTS in it, as asset_NAME_EXTENSION and its length.
# usage: cmake -D OUTPUT=FILE -D "INPUTS=FILE;…" -P embed.cmake
set(text "/* Made by embed.cmake. */\n#include \"tools/serve/service.h\"\n")
foreach(input IN LISTS INPUTS)
    cmake_path(GET input FILENAME name)
    string(MAKE_C_IDENTIFIER "asset_${name}" name)
    file(READ ${input} bytes HEX)
    string(LENGTH "${bytes}" length)
    math(EXPR length "${length} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const unsigned char ${name}[] = {${bytes}0};\nconst size_t ${name}_length = ${length};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
