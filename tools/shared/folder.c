/* folder.c: see folder.h. */
#include "tools/shared/folder.h"

#include "tools/shared/message.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int no_dots(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static char *join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* Whether to go on: not without memory. */
static bool complain_of(const char *path, bool *failed) {
    bool on = errno != ENOMEM;
    complain("%s: %s", path, strerror(errno));
    *failed = true;
    return on;
}

static bool visit_entry(const char *path, folder_visitor visit, void *context, bool *failed) {
    struct stat status;
    if (lstat(path, &status) != 0) return complain_of(path, failed);
    if (S_ISDIR(status.st_mode)) return folder_walk(path, visit, context, failed);
    return !S_ISREG(status.st_mode) || visit(context, path);
}

bool folder_walk(const char *path, folder_visitor visit, void *context, bool *failed) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, no_dots, by_bytes);
    bool on = true;
    if (count < 0) on = complain_of(path, failed);
    for (int i = 0; i < count; i++) {
        char *entry = on ? join(path, entries[i]->d_name) : NULL;
        if (entry != NULL)
            on = visit_entry(entry, visit, context, failed);
        else if (on)
            on = complain_of(path, failed);
        free(entry);
        free(entries[i]);
    }
    free(entries);
    return on;
}

char *folder_parent(const char *path) {
    char *parent = strdup(path);
    size_t length = parent == NULL ? 0 : strlen(parent);
    while (length > 1 && parent[length - 1] == '/') length--;
    while (length > 0 && parent[length - 1] != '/') length--;
    while (length > 1 && parent[length - 1] == '/') length--;
    if (parent == NULL) return NULL;
    parent[length] = '\0';
    if (length > 0) return parent;
    free(parent);
    return strdup(".");
}

bool folder_check_parent(const char *path, const char *option) {
    char *parent = folder_parent(path);
    bool good = parent != NULL && access(parent, W_OK | X_OK) == 0;
    if (parent == NULL)
        complain("out of memory");
    else if (!good)
        complain("%s: %s; choose another place with %s", parent, strerror(errno), option);
    free(parent);
    return good;
}
