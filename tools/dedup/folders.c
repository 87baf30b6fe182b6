/* folders.c: makes the folders of `idx dedup --write` and `--dropped` beside their places, and publishes them by
 * rename; kept.c writes the records in them. */
#include "tools/dedup/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names of the folder within the scratch folder, and of the table beside the documents to drop. */
static const char folder_name[] = "folder", table_name[] = "dropped.tsv";

/* ---- Names ---- */

/* Returns the name that the input at `path` has in a tree (tree_create_file), without double slashes and dots that mean
 * nothing; "" means the tree itself. The caller frees the name. Returns NULL if memory ran out. */
static char *make_name_in_tree(const char *path) {
    char *name = malloc(strlen(path) + 1);
    size_t length = 0, part_length;
    for (; name != NULL && *path != '\0'; path += part_length) {
        part_length = strcspn(path, "/");
        if (part_length == 0) {
            part_length = 1;
        } else if (part_length == 2 && memcmp(path, "..", 2) == 0) {
            length = 0;
        } else if (part_length > 1 || *path != '.') {
            if (length > 0) name[length++] = '/';
            memcpy(name + length, path, part_length);
            length += part_length;
        }
    }
    if (name != NULL) name[length] = '\0';
    return name;
}

/* Returns the rank of a byte of a name: by its value, but the end of the name goes first, and then the slash. */
static unsigned rank_name_byte(unsigned char byte) { return byte == '/' ? 1 : byte == '\0' ? 0 : byte + 1U; }

/* Compares two names by the ranks of their bytes, for qsort. So the contents of a folder follow the folder. */
static int compare_names(const void *first, const void *second) {
    const unsigned char *a = *(const unsigned char *const *)first, *b = *(const unsigned char *const *)second;
    while (*a == *b && *a != '\0') a++, b++;
    return (rank_name_byte(*a) > rank_name_byte(*b)) - (rank_name_byte(*a) < rank_name_byte(*b));
}

/* Returns whether a name in a tree is that of the folder, or of something in it. A folder "" is the tree itself. */
static bool is_same_or_within(const char *name, const char *folder) {
    size_t length = strlen(folder);
    return length == 0 || (strncmp(name, folder, length) == 0 && (name[length] == '/' || name[length] == '\0'));
}

/* Sorts the names of inputs in a tree, and checks that none is equal to another one, or within it: once they are
 * sorted, such a name follows the other one at once. Returns false after a complaint. */
static bool sort_and_check_names(char **names, size_t count) {
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++) {
        if (!is_same_or_within(names[i], names[i - 1])) continue;
        return complain(
            "two inputs would be written as '%s'; give each file and folder once, and those of the same name in "
            "separate commands",
            names[i]);
    }
    return true;
}

/* Checks that all files of these inputs have names of their own in a tree. Returns false after a complaint. */
static bool tree_check_input_names(const struct strings *paths) {
    char **names = calloc(paths->count + 1, sizeof *names);
    bool ok = names != NULL;
    for (size_t i = 0; i < paths->count && ok; i++) ok = (names[i] = make_name_in_tree(paths->values[i])) != NULL;
    if (!ok) complain("out of memory");
    ok = ok && sort_and_check_names(names, paths->count);
    for (size_t i = 0; i < paths->count && names != NULL; i++) free(names[i]);
    free(names);
    return ok;
}

/* ---- The folder ---- */

/* Returns whether there is a folder at `path` that can be read and has no entries. */
static bool is_empty_folder(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    if (folder == NULL) return false;
    do {
        entry = readdir(folder);
    } while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    const bool is_empty = entry == NULL;
    closedir(folder);
    return is_empty;
}

/* Checks that a rename can replace what is at `place`: nothing, or an empty folder. It must not be where a file system
 * is mounted, nor named through itself, as by "folder/.", which makes it its own parent. `parent` is the folder that
 * `place` is in. `place` must have no slash at its end, with which a link to a folder would look like the folder.
 * Returns false after a complaint. */
static bool check_place_can_be_replaced(const struct tree *tree, const char *place, const char *parent) {
    struct stat status, parent_status;
    /* Nothing is at the place. If not even the parent is there, folder_check_can_create complains of that. */
    if (lstat(place, &status) != 0 || stat(parent, &parent_status) != 0) return true;
    bool is_mounted = status.st_dev != parent_status.st_dev;
    if (!S_ISDIR(status.st_mode) || !is_empty_folder(place) || (!is_mounted && status.st_ino == parent_status.st_ino))
        return complain("%s exists already, and %s replaces nothing; remove it, or give another name", tree->path,
                        tree->option);
    return !is_mounted || complain("%s: a file system is mounted there, and %s can't replace it; give the name of a "
                                   "folder within it",
                                   tree->path, tree->option);
}

/* Checks that the tree, if it is asked for, can be made: nothing may be at its path but an empty folder, and its parent
 * must be a folder. Returns false after a complaint. */
static bool tree_check_place(const struct tree *tree) {
    if (tree->path == NULL) return true;
    char *place = strdup(tree->path), *parent = folder_find_parent(tree->path);
    bool ok = place != NULL && parent != NULL;
    if (!ok) complain("out of memory");
    for (size_t length = ok ? strlen(place) : 0; length > 1 && place[length - 1] == '/'; length--)
        place[length - 1] = '\0';
    ok = ok && check_place_can_be_replaced(tree, place, parent) && folder_check_can_create(tree->path, tree->option);
    free(place);
    free(parent);
    return ok;
}

/* Complains of what errno says: "TREE/NAME: can't ATTEMPT: REASON", or without the name if that is "". `attempt` is a
 * verb with its object, such as "create the folder". Returns false always. */
static bool complain_of_tree(const struct tree *tree, const char *name, const char *attempt) {
    return complain("%s%s%s: can't %s: %s", tree->path, *name == '\0' ? "" : "/", name, attempt, strerror(errno));
}

/* Makes the tree's folder in a scratch folder, and opens it, unless the tree isn't asked for. Returns false after a
 * complaint. */
static bool tree_open(struct tree *tree) {
    tree->descriptor = -1;
    if (tree->path == NULL) return true;
    char *parent = folder_find_parent(tree->path), *path = NULL;
    bool opened = parent != NULL && scratch_open(&tree->scratch, parent, tree->option);
    if (parent == NULL) complain("out of memory");
    free(parent);
    if (!opened) return false;
    path = scratch_join(&tree->scratch, folder_name);
    opened = path != NULL && mkdir(path, 0777) == 0 &&
             (tree->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0;
    if (!opened) complain_of_tree(tree, "", "create a folder for it");
    free(path);
    return opened;
}

/* Makes the folders that lead to `name` in the tree, unless they are there: of a/b/c.txt, a and a/b. Cuts the name off
 * at each slash for that, and restores it. Returns false after a complaint. */
static bool make_parent_folders(const struct tree *tree, char *name) {
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool is_there = mkdirat(tree->descriptor, name, 0777) == 0 || errno == EEXIST;
        if (!is_there) complain_of_tree(tree, name, "create the folder");
        *slash = '/';
        if (!is_there) return false;
    }
    return true;
}

int tree_create_file(const struct tree *tree, const char *path) {
    char *name = make_name_in_tree(path);
    int file = -1;
    if (name == NULL) complain("out of memory");
    if (name != NULL && make_parent_folders(tree, name)) {
        file = openat(tree->descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno == EEXIST)
            complain("%s: two inputs would be written as '%s', or an input has the name of what %s adds; rename one",
                     tree->path, name, tree->option);
        else if (file < 0)
            complain_of_tree(tree, name, "create");
    }
    free(name);
    return file;
}

/* Waits until the tree's files are on the disk, if it is asked for. Returns false after a complaint. */
static bool tree_sync(const struct tree *tree) {
    return tree->path == NULL || syncfs(tree->descriptor) == 0 || complain_of_tree(tree, "", "be written");
}

/* Publishes the tree, if it is asked for, by rename, which replaces nothing but an empty folder. Returns false after a
 * complaint. */
static bool tree_publish(struct tree *tree) {
    if (tree->path == NULL) return true;
    char *path = scratch_join(&tree->scratch, folder_name);
    bool published = path != NULL && rename(path, tree->path) == 0 && folder_sync_parent(tree->path);
    if (!published) complain_of_tree(tree, "", "be written");
    free(path);
    return published;
}

/* Removes a tree that was not published. Accepts one that was not opened. */
static void tree_close(struct tree *tree) {
    if (tree->scratch.path == NULL) return;
    if (tree->descriptor >= 0) close(tree->descriptor);
    scratch_remove(&tree->scratch);
}

bool folders_are_asked_for(const struct folders *folders) {
    return folders->kept.path != NULL || folders->dropped.path != NULL;
}

bool folders_check_places(const struct folders *folders, const char *report) {
    const char *const options[] = {"--write", "--dropped", "--report"};
    const char *const paths[] = {folders->kept.path, folders->dropped.path, report};
    for (int i = 0; i < 3; i++) {
        for (int j = i + 1; j < 3; j++) {
            if (paths[i] == NULL || paths[j] == NULL || !folder_paths_overlap(paths[i], paths[j])) continue;
            return complain_of_usage("%s and %s need two places, neither of them within the other", options[i],
                                     options[j]);
        }
    }
    return true;
}

bool folders_remove_leftovers(const struct folders *folders, const char *report) {
    const char *const paths[] = {folders->kept.path, folders->dropped.path, report};
    for (int i = 0; i < 3; i++) {
        if (paths[i] == NULL) continue;
        char *parent = folder_find_parent(paths[i]);
        if (parent == NULL) return complain("out of memory");
        scratch_remove_leftovers(parent);
        free(parent);
    }
    return true;
}

bool folders_check_creatable(const struct folders *folders, const struct strings *paths) {
    return tree_check_place(&folders->kept) && tree_check_place(&folders->dropped) && tree_check_input_names(paths);
}

void folders_write_table_line(struct folders *folders, const struct idx_cluster_member *member,
                              const struct idx_kept_set *kept, uint32_t set_size) {
    struct rows rows = {.output = &folders->table};
    if (folders->table.descriptor < 0) return;
    row_write_document_id(&rows, NULL, &member->document);
    row_write_document_id(&rows, NULL, &member->representative);
    row_write_share(&rows, NULL, kept->shared, kept->total);
    if (set_size > 0) row_write_share(&rows, NULL, kept->shared, set_size);
    row_end(&rows);
}

bool folders_open(struct folders *folders) {
    folders->table = (struct output)OUTPUT_BUFFER;
    if (!tree_open(&folders->kept) || !tree_open(&folders->dropped)) return false;
    if (folders->dropped.path == NULL) return true;
    folders->table.descriptor = tree_create_file(&folders->dropped, table_name);
    return folders->table.descriptor >= 0;
}

bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped,
                   const struct extract_rules *rules) {
    const struct tree *const trees[2] = {&folders->kept, &folders->dropped};
    if (folders->dropped.path != NULL) {
        const char *line_end = intake->resemble->contained > 0 ? "\t-\t-\t-\n" : "\t-\t-\n";
        if (intake->divided != NULL)
            divided_write_dropped_documents(intake->divided, intake->resemble, &folders->table, line_end);
        if (!output_flush(&folders->table))
            return complain("%s/%s: %s", folders->dropped.path, table_name, strerror(folders->table.error));
    }
    return folders_copy_records(intake->journal, trees, dropped, intake->divided, rules) && tree_sync(&folders->kept) &&
           tree_sync(&folders->dropped);
}

bool folders_publish(struct folders *folders) {
    return tree_publish(&folders->kept) && tree_publish(&folders->dropped);
}

void folders_close(struct folders *folders) {
    if (folders->table.descriptor > 0) close(folders->table.descriptor);
    free(folders->table.bytes);
    tree_close(&folders->kept);
    tree_close(&folders->dropped);
}
