/* views.h: the open index, which a newer view replaces while requests go on. */
#ifndef IDX_TOOLS_SERVE_VIEWS_H
#define IDX_TOOLS_SERVE_VIEWS_H

#include <idx.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Each request keeps the view that it began with. A view that was replaced is closed after the last request that has it
 * has ended. A thread opens newer views. */

struct view {
    struct idx_index *index;
    struct idx_properties properties;

    /* The mutex of the views protects these. */
    unsigned references; /* By requests; the current view stays open without any. */
    struct view *next;   /* The next retired view. */
};

struct views {
    pthread_mutex_t mutex;         /* It is held for short times only. */
    pthread_mutex_t refresh_mutex; /* A thread holds it while it refreshes. */
    struct view *current;
    struct view *retired; /* These were replaced, and may still be in use. */
    atomic_ullong refresh_count, failure_count;
    bool thread_started, refresh_asked, end_asked; /* `mutex` protects the last two, which the thread waits for. */
    pthread_t thread;
    pthread_cond_t changed;   /* A refresh was asked for, or the service ends. */
    unsigned refresh_seconds; /* The time between two refreshes; 0: only views_ask_refresh causes them. */
    bool last_refresh_failed; /* The last refresh failed, and a message said so. `refresh_mutex` protects it. */
};

/* Opens the index as the first view. Returns false after a complaint; the caller calls views_close even then. */
bool views_open(struct views *views, const char *path, const struct idx_open_options *options);

/* Opens a newer view if the index has changed, and makes it the current one; closes replaced views that no request uses
 * any more. Returns false after an error. Then the current view stays, and a message says so, but only after the first
 * of several errors in a row. Any thread may call this. */
bool views_refresh(struct views *views);

/* Returns the current view, which stays open until the caller passes it to views_release. */
struct view *views_acquire(struct views *views);

/* Ends the use of a view that views_acquire returned. If it was replaced since, a later views_refresh closes it. */
void views_release(struct views *views, struct view *view);

/* Starts the thread that refreshes when views_ask_refresh is called, and every `refresh_seconds` seconds, unless that
 * is 0. Returns false after a complaint; the caller calls views_stop_thread even then. */
bool views_start_thread(struct views *views, unsigned refresh_seconds);

/* Asks the thread to refresh now, and does not wait for that. */
void views_ask_refresh(struct views *views);

/* Ends the thread that refreshes, if it was started, and waits until it has ended. */
void views_stop_thread(struct views *views);

/* Closes all views. Call this after views_stop_thread, once no request uses a view. */
void views_close(struct views *views);

#endif
