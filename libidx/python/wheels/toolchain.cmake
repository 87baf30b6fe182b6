# Compiles for an older system, or another processor: ../wheels/build makes the folder IDX_TARGET_FOLDER, with a folder
# of compilers, bin, and one of libraries, prefix.
set(folder $ENV{IDX_TARGET_FOLDER})
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "$ENV{IDX_TARGET_PROCESSOR}")
    set(CMAKE_SYSTEM_NAME Linux)
    set(CMAKE_SYSTEM_PROCESSOR $ENV{IDX_TARGET_PROCESSOR})
endif()
set(CMAKE_C_COMPILER ${folder}/bin/cc)
set(CMAKE_ASM_COMPILER ${folder}/bin/cc)
set(CMAKE_CXX_COMPILER ${folder}/bin/c++)
set(CMAKE_AR ${folder}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${folder}/bin/ranlib CACHE FILEPATH "")
# No library of this system, whatever it has.
set(CMAKE_FIND_ROOT_PATH ${folder}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# Tables for unwinding would be a twentieth of a wheel without texts. Backtraces go by frame pointers, which this
# compiler keeps.
set(CMAKE_C_FLAGS_INIT "-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables")
set(CMAKE_CXX_FLAGS_INIT "-ffunction-sections -fdata-sections")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-s -Wl,--gc-sections")
set(CMAKE_C_STANDARD_LIBRARIES -lc++) # static, for ICU
