/* views.c: keeps the index open, and replaces it by a newer view while requests go on. */
#include "tools/serve/views.h"

#include "tools/shared/library.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* Returns a new view of an index, which the view closes at its end. Returns NULL, without a complaint, and closes the
 * index, if memory ran out. */
static struct view *make_view(struct idx_index *index) {
    struct view *view = calloc(1, sizeof *view);
    if (view == NULL) {
        idx_close(index);
        return NULL;
    }
    view->index = index;
    idx_get_properties(index, &view->properties);
    return view;
}

/* Closes the index of a view, and frees the view. */
static void free_view(struct view *view) {
    idx_close(view->index);
    free(view);
}

bool views_open(struct views *views, const char *path, const struct idx_open_options *options) {
    struct idx_index *index;
    struct idx_error error;
    pthread_condattr_t attributes;
    *views = (struct views){.current = NULL};
    pthread_mutex_init(&views->mutex, NULL);
    pthread_mutex_init(&views->refresh_mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* wait_for_refresh has its deadline by this clock. */
    pthread_cond_init(&views->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!succeeded(idx_open(&index, path, options, &error), &error)) return false;
    views->current = make_view(index);
    return views->current != NULL || complain("out of memory");
}

/* Removes from the retired views those that no request uses. Returns them as a list, linked by `next`, whose views the
 * caller frees; NULL if there are none. */
static struct view *detach_unused_views(struct views *views) {
    struct view *unused = NULL, **link = &views->retired;
    pthread_mutex_lock(&views->mutex);
    while (*link != NULL) {
        struct view *view = *link;
        if (view->references > 0) {
            link = &view->next;
            continue;
        }
        *link = view->next;
        view->next = unused;
        unused = view;
    }
    pthread_mutex_unlock(&views->mutex);
    return unused;
}

/* Closes the retired views that no request uses. The refreshing thread does this, since closing a large index takes a
 * while. */
static void close_unused_views(struct views *views) {
    struct view *next;
    for (struct view *view = detach_unused_views(views); view != NULL; view = next) {
        next = view->next;
        free_view(view);
    }
}

/* Makes a newer view the current one. The older one is retired, since requests may still have it. */
static void replace_current_view(struct views *views, struct view *newer_view) {
    pthread_mutex_lock(&views->mutex);
    struct view *older_view = views->current;
    views->current = newer_view;
    older_view->next = views->retired;
    views->retired = older_view;
    pthread_mutex_unlock(&views->mutex);
    atomic_fetch_add(&views->refresh_count, 1);
}

/* Opens a newer view if the index has changed, and makes it the current one. The caller holds the mutex
 * `refresh_mutex`, so that no other thread replaces the current view meanwhile. Returns IDX_OK, even if nothing has
 * changed; or the status of idx_refresh or IDX_OUT_OF_MEMORY, with *error set. */
static enum idx_status open_view_if_newer(struct views *views, struct idx_error *error) {
    struct idx_index *newer_index;
    enum idx_status status = idx_refresh(views->current->index, &newer_index, error);
    if (status != IDX_OK || newer_index == NULL) return status;
    struct view *view = make_view(newer_index);
    if (view == NULL) {
        *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
        return error->status;
    }
    replace_current_view(views, view);
    return IDX_OK;
}

bool views_refresh(struct views *views) {
    struct idx_error error;
    pthread_mutex_lock(&views->refresh_mutex);
    bool ok = open_view_if_newer(views, &error) == IDX_OK;
    if (!ok) {
        atomic_fetch_add(&views->failure_count, 1);
        if (!views->last_refresh_failed) complain("%s; the service goes on with what it has open", error.sentence);
    }
    views->last_refresh_failed = !ok;
    close_unused_views(views);
    pthread_mutex_unlock(&views->refresh_mutex);
    return ok;
}

struct view *views_acquire(struct views *views) {
    pthread_mutex_lock(&views->mutex);
    struct view *view = views->current;
    view->references++;
    pthread_mutex_unlock(&views->mutex);
    return view;
}

void views_release(struct views *views, struct view *view) {
    pthread_mutex_lock(&views->mutex);
    view->references--;
    pthread_mutex_unlock(&views->mutex);
}

void views_close(struct views *views) {
    if (views->current != NULL) free_view(views->current);
    close_unused_views(views);
    pthread_mutex_destroy(&views->mutex);
    pthread_mutex_destroy(&views->refresh_mutex);
    pthread_cond_destroy(&views->changed);
}

/* ---- The thread that refreshes ---- */

/* Waits until views_ask_refresh asks for a refresh, or until the time for one: after refresh_seconds, or after one
 * second if there are retired views, since refreshing also closes those. Returns false if the thread is to end. */
static bool wait_for_refresh(struct views *views) {
    struct timespec deadline;
    int result = 0;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    pthread_mutex_lock(&views->mutex);
    unsigned seconds = views->retired != NULL ? 1 : views->refresh_seconds; /* 0: there is no deadline. */
    deadline.tv_sec += seconds;
    while (!views->refresh_asked && !views->end_asked && result != ETIMEDOUT) {
        if (seconds > 0)
            result = pthread_cond_timedwait(&views->changed, &views->mutex, &deadline);
        else
            pthread_cond_wait(&views->changed, &views->mutex);
    }
    views->refresh_asked = false;
    bool goes_on = !views->end_asked;
    pthread_mutex_unlock(&views->mutex);
    return goes_on;
}

/* Refreshes the views, which are the context, whenever wait_for_refresh returns true. This is the thread's function. */
static void *refresh_views_until_end(void *views) {
    while (wait_for_refresh(views)) views_refresh(views);
    return NULL;
}

bool views_start_thread(struct views *views, unsigned refresh_seconds) {
    views->refresh_seconds = refresh_seconds;
    views->thread_started = pthread_create(&views->thread, NULL, refresh_views_until_end, views) == 0;
    return views->thread_started || complain("can't start a thread");
}

/* Sets `flag`, which is refresh_asked or end_asked, to true, and wakes the thread that waits for these. */
static void set_flag_and_wake_thread(struct views *views, bool *flag) {
    pthread_mutex_lock(&views->mutex);
    *flag = true;
    pthread_cond_signal(&views->changed);
    pthread_mutex_unlock(&views->mutex);
}

void views_ask_refresh(struct views *views) { set_flag_and_wake_thread(views, &views->refresh_asked); }

void views_stop_thread(struct views *views) {
    set_flag_and_wake_thread(views, &views->end_asked);
    if (views->thread_started) pthread_join(views->thread, NULL);
}
