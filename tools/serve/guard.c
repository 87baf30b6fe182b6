/* guard.c: decides who may use the service. */
#include "tools/serve/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- The token ---- */

/* Reads up to `size` bytes of the file. Returns how many, or -1. */
static ssize_t read_token_file(const char *path, char *bytes, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0, got = 1;
    while (file >= 0 && got > 0 && (size_t)length < size) {
        got = read(file, bytes + length, size - (size_t)length);
        if (got > 0) length += got;
    }
    if (file < 0 || got < 0) {
        complain("can't read the token in %s: %s", path, strerror(errno));
        length = -1;
    }
    if (file >= 0) close(file);
    return length;
}

static bool check_token(const char *token, size_t length, const char *where) {
    for (size_t i = 0; i < length; i++) {
        if (token[i] > ' ' && token[i] <= '~') continue;
        return complain(
            "the token in %s has a character that is not printable ASCII; make one by: openssl rand -hex 32", where);
    }
    if (length >= TOKEN_LEAST && length < TOKEN_MOST) return true;
    return complain("the token in %s has to have %d to %d characters; make one by: openssl rand -hex 32", where,
                    TOKEN_LEAST, TOKEN_MOST - 1);
}

bool guard_open(struct guard *guard, const struct serve_options *options) {
    *guard = (struct guard){.hosts = &options->hosts, .origins = &options->origins};
    if (!options->writable) return true;
    const char *variable = getenv(TOKEN_VARIABLE), *where = options->token_file;
    ssize_t length;
    if (where != NULL) {
        length = read_token_file(where, guard->token, sizeof guard->token);
        if (length < 0) return false;
    } else if (variable != NULL) {
        where = "the environment variable " TOKEN_VARIABLE;
        length = (ssize_t)strnlen(variable, sizeof guard->token);
        memcpy(guard->token, variable, (size_t)length);
        unsetenv(TOKEN_VARIABLE);
    } else {
        return complain_of_usage(
            "--writable needs a token: in a file (--token-file), or in the environment variable " TOKEN_VARIABLE);
    }
    while (length > 0 && strchr("\r\n", guard->token[length - 1]) != NULL) guard->token[--length] = '\0';
    guard->token_length = (size_t)length;
    return check_token(guard->token, guard->token_length, where);
}

bool guard_takes_token(const struct guard *guard, const char *authorization) {
    static const char scheme[] = "Bearer ";
    char given[TOKEN_MOST] = {0};
    volatile unsigned char difference = 0;
    if (authorization == NULL || strncasecmp(authorization, scheme, strlen(scheme)) != 0) return false;
    authorization += strlen(scheme);
    size_t length = strnlen(authorization, sizeof given);
    memcpy(given, authorization, length);
    for (size_t i = 0; i < sizeof given; i++) difference |= (unsigned char)(given[i] ^ guard->token[i]);
    /* Unlike &&, & compares both in any case, so that the time does not tell which one differs. */
    return guard->token_length > 0 && (length == guard->token_length) & (difference == 0);
}

/* ---- Names ---- */

/* Compares without regard to case. */
static bool is_among(const struct strings *strings, const char *text) {
    for (size_t i = 0; i < strings->count; i++) {
        if (strcasecmp(strings->values[i], text) == 0) return true;
    }
    return false;
}

static bool is_port(const char *text) {
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 5 && text[digits] == '\0';
}

bool guard_takes_host(const struct guard *guard, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    char name[256];
    bool bracketed = *host == '['; /* An IPv6 address. */
    size_t length = bracketed ? strcspn(host, "]") : strcspn(host, ":");
    const char *rest = host + length;
    if (bracketed && *rest++ == '\0') return false;
    if (*rest != '\0' && (*rest != ':' || !is_port(rest + 1))) return false;
    if (bracketed) host++, length--;
    if (length >= sizeof name) return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (bracketed) return inet_pton(AF_INET6, name, address) == 1;
    return inet_pton(AF_INET, name, address) == 1 || strcasecmp(name, "localhost") == 0 || is_among(guard->hosts, name);
}

bool guard_names_origin(const struct guard *guard, const char *origin) { return is_among(guard->origins, origin); }

bool guard_takes_origin(const struct guard *guard, const char *origin, const char *host) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2 && host != NULL; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(origin, schemes[i], length) == 0 && strcasecmp(origin + length, host) == 0) return true;
    }
    return guard_names_origin(guard, origin);
}
