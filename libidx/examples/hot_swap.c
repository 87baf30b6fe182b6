/* hot_swap.c: a service's heart: threads answer queries from an index while it is replaced or added to. Every query is
 * answered from one view; a newer view takes its place between queries, and the last thread that uses the older one
 * closes it.
 *
 * usage: hot_swap INDEX THREADS, with fingerprints of hex digits on standard input, a line each
 * Prints a line for each query, as it is answered: query, and for each match fingerprint:distance:ID, with spaces
 * between.
 *
 *   cc -o hot_swap hot_swap.c $(pkg-config --cflags --libs idx) -pthread
 */
#include <idx.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MATCHES = 16, DISTANCE = 3, MAX_SERVICE_THREADS = 64, REFRESH_MILLISECONDS = 100 };

/* ---- Views that threads share ---- */

struct view {
    struct idx_index *index;
    size_t holders; /* threads that use it, and 1 while it is the current one */
};

struct service {
    pthread_mutex_t mutex; /* for `current` and all `holders` */
    struct view *current;
    atomic_bool ends, failed; /* the service is to end; a query could not be answered */
};

/* Returns the current view, which stays open until the caller releases it by release_view. There is a current view. */
static struct view *hold_view(struct service *service) {
    pthread_mutex_lock(&service->mutex);
    struct view *view = service->current;
    view->holders++;
    pthread_mutex_unlock(&service->mutex);
    return view;
}

/* Gives up one hold on a view, and closes the view if that was the last one. */
static void release_view(struct service *service, struct view *view) {
    pthread_mutex_lock(&service->mutex);
    size_t left = --view->holders;
    pthread_mutex_unlock(&service->mutex);
    if (left > 0) return;
    idx_close(view->index);
    free(view);
}

/* Makes `index` the current view, in place of an older one, which closes once no thread holds it. Takes ownership of
 * `index`: if there is no memory for a view, closes it, and the older view stays. */
static void publish_view(struct service *service, struct idx_index *index) {
    struct view *newer = malloc(sizeof *newer), *older;
    if (newer == NULL) {
        idx_close(index); /* the older view serves on */
        return;
    }
    *newer = (struct view){.index = index, .holders = 1};
    pthread_mutex_lock(&service->mutex);
    older = service->current;
    service->current = newer;
    pthread_mutex_unlock(&service->mutex);
    if (older != NULL) release_view(service, older);
}

/* A thread: looks for a newer state of the index ten times a second, and publishes it. If there is none, a look takes
 * two system calls. Errors are printed, and the older view stays. */
static void *run_refresher(void *context) {
    struct service *service = context;
    const struct timespec pause = {0, REFRESH_MILLISECONDS * 1000000L};
    while (!service->ends) {
        struct idx_index *newer = NULL;
        struct idx_error error;
        struct view *view = hold_view(service);
        if (idx_refresh(view->index, &newer, &error) != IDX_OK) fprintf(stderr, "%s\n", error.sentence);
        release_view(service, view);
        if (newer != NULL) publish_view(service, newer);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- Queries ---- */

/* Prints a line with the first MATCHES matches of a query and their documents, all of one view. After an error, the
 * line is not complete. */
static enum idx_status print_answer(const struct idx_index *index, uint64_t query, FILE *output,
                                    struct idx_error *error) {
    struct idx_match matches[MATCHES];
    struct idx_documents *cursor = NULL;
    struct idx_document document;
    size_t count = 0;
    enum idx_status status = idx_lookup(index, query, DISTANCE, matches, MATCHES, &count, error);
    if (status == IDX_OK) status = idx_documents_open(&cursor, index, error);
    fprintf(output, "%016" PRIx64, query);
    for (size_t i = 0; i < count && i < MATCHES && status == IDX_OK; i++) {
        bool found;
        status = idx_documents_find(cursor, matches[i].fingerprint, NULL, error);
        while (status == IDX_OK) {
            status = idx_documents_next(cursor, &document, &found, error);
            if (status != IDX_OK || !found) break;
            fprintf(output, " %016" PRIx64 ":%u:%.*s", matches[i].fingerprint, matches[i].distance,
                    (int)document.id_length, (const char *)document.id);
        }
    }
    fputc('\n', output);
    idx_documents_close(cursor);
    return status;
}

/* Answers the query of a line. Prints the answer into memory first, so that the lines of threads don't mix. Returns
 * false if the line is no query, or answering or writing failed; on standard error it says what is wrong with the line
 * or the answer. */
static bool answer_line(struct service *service, const char *line) {
    char *bytes = NULL, *end;
    size_t size = 0;
    struct idx_error error = {.sentence = "out of memory"};
    uint64_t query = strtoull(line, &end, 16);
    if (end == line || end - line > 16 || *end != '\n') {
        fprintf(stderr, "hot_swap: not a line of up to 16 hex digits: %s", line);
        return false;
    }
    FILE *output = open_memstream(&bytes, &size);
    if (output == NULL) return false;
    struct view *view = hold_view(service);
    enum idx_status status = print_answer(view->index, query, output, &error);
    release_view(service, view);
    bool written = fclose(output) == 0 && status == IDX_OK;
    if (written)
        written = fwrite(bytes, size, 1, stdout) == 1 && fflush(stdout) == 0;
    else
        fprintf(stderr, "%s\n", error.sentence);
    free(bytes);
    return written;
}

/* A thread: reads and answers the next line of standard input until there is none, or a thread failed. */
static void *run_server(void *context) {
    struct service *service = context;
    char line[64];
    while (!service->failed && fgets(line, sizeof line, stdin) != NULL)
        if (!answer_line(service, line)) service->failed = true;
    return NULL;
}

int main(int argc, char **argv) {
    struct service service = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct idx_index *index;
    struct idx_error error;
    pthread_t threads[MAX_SERVICE_THREADS], refresher;
    int wanted = argc == 3 ? atoi(argv[2]) : 0, started = 0;
    if (wanted < 1 || wanted > MAX_SERVICE_THREADS) {
        fprintf(stderr, "usage: hot_swap INDEX THREADS\n");
        return 2;
    }
    if (idx_open(&index, argv[1], NULL, &error) != IDX_OK) {
        fprintf(stderr, "%s\n", error.sentence);
        return 2;
    }
    publish_view(&service, index);
    if (service.current == NULL || pthread_create(&refresher, NULL, run_refresher, &service) != 0) {
        fprintf(stderr, "hot_swap: out of memory or threads\n");
        return 2;
    }
    while (started < wanted && pthread_create(&threads[started], NULL, run_server, &service) == 0) started++;
    if (started == 0) run_server(&service);
    while (started > 0) pthread_join(threads[--started], NULL);
    service.ends = true;
    pthread_join(refresher, NULL);
    release_view(&service, service.current);
    return service.failed ? 2 : 0;
}
