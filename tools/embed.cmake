# Writes OUTPUT, a C file that has the files INPUTS in it as strings, whose names are PREFIX and that of the file without
# its ending, and the SHA-256 of each, in base64, with _hash behind its name. HEADER declares them.
# usage: cmake -D OUTPUT=FILE -D "INPUTS=FILE;…" -D HEADER=FILE -D PREFIX=PREFIX -P embed.cmake
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
set(text "/* Made by embed.cmake. */\n#include \"${HEADER}\"\n")
foreach(input IN LISTS INPUTS)
    cmake_path(GET input STEM name)
    file(READ ${input} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    file(SHA256 ${input} hex)
    set(base64 "")
    foreach(at RANGE 0 60 6) # three bytes become four characters
        string(SUBSTRING "${hex}00" ${at} 6 three)
        foreach(shift 18 12 6 0)
            math(EXPR place "(0x${three} >> ${shift}) & 63")
            string(SUBSTRING ${alphabet} ${place} 1 character)
            string(APPEND base64 ${character})
        endforeach()
    endforeach()
    string(REGEX REPLACE ".$" "=" base64 ${base64}) # the last byte is none of the hash
    string(APPEND text "const char ${PREFIX}${name}[] = {${bytes}0}, ${PREFIX}${name}_hash[] = \"${base64}\";\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
