/* icu_data.c: hides files of the data of ICU from this process, as if the system lacked them. */
#include "tests/text/icu_data.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <unicode/uversion.h>

const char *const icu_dictionaries[ICU_DICTIONARIES] = {"brkitr/cjdict.dict", "brkitr/thaidict.dict",
                                                        "brkitr/laodict.dict", "brkitr/khmerdict.dict",
                                                        "brkitr/burmesedict.dict"};

/* Returns the data that is linked with this program; NULL where there is none. */
static char *find_data(size_t *size) {
    char name[32];
    Dl_info info;
    void *symbol = NULL;
    snprintf(name, sizeof name, "icudt%d_dat", U_ICU_VERSION_MAJOR_NUM);
    char *data = dlsym(RTLD_DEFAULT, name);
    if (data == NULL || dladdr1(data, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return NULL;
    *size = ((const ElfW(Sym) *)symbol)->st_size;
    return data;
}

bool icu_data_is_linked(void) {
    size_t size;
    return find_data(&size) != NULL;
}

bool icu_data_hide(const char *name) {
    size_t size;
    char *data = find_data(&size);
    char *at = data == NULL ? NULL : memmem(data, size, name, strlen(name) + 1);
    if (at == NULL) return false;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *begin = (char *)((uintptr_t)at & ~(uintptr_t)(page - 1));
    if (mprotect(begin, (size_t)(at - begin) + strlen(name), PROT_READ | PROT_WRITE) != 0) return false;
    at[strlen(name) - 1]++;
    return true;
}
