/* guard.c: decides who may use the service. */
#include "tools/connections/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- The token ---- */

/* Reads up to `size` bytes of the file at a path into `bytes`, without a NUL. Returns how many it read, or -1, after a
 * complaint, if the file can't be opened or read. */
static ssize_t read_token_file(const char *path, char *bytes, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t last_read = -1; /* What the last read returned: 0 at the end, or once `bytes` is full. */
    while (file >= 0 && (last_read = read(file, bytes + length, size - length)) > 0) length += (size_t)last_read;
    if (last_read < 0) complain("can't read the token in %s: %s", path, strerror(errno));
    if (file >= 0) close(file);
    return last_read < 0 ? -1 : (ssize_t)length;
}

/* Returns whether a token of `length` bytes has a legal length, and printable ASCII alone, which can be sent in a
 * header. If not, complains, and calls the place of the token `source`: a path or the environment variable. */
static bool check_token(const char *token, size_t length, const char *source) {
    for (size_t i = 0; i < length; i++) {
        if (token[i] <= ' ' || token[i] > '~')
            return complain("the token in %s has a character that is not printable ASCII; make one by: openssl rand "
                            "-hex 32",
                            source);
    }
    if (length >= TOKEN_MIN_BYTES && length < TOKEN_BUFFER_BYTES) return true;
    return complain("the token in %s has to have %d to %d characters; make one by: openssl rand -hex 32", source,
                    TOKEN_MIN_BYTES, TOKEN_BUFFER_BYTES - 1);
}

bool guard_open(struct guard *guard, const struct serve_options *options) {
    const char *environment_token = getenv(TOKEN_VARIABLE), *token_path = options->token_file;
    ssize_t length;
    *guard = (struct guard){.hosts = &options->hosts, .origins = &options->origins};
    if (!options->writable) return true;
    if (token_path != NULL) {
        length = read_token_file(token_path, guard->token, sizeof guard->token);
        if (length < 0) return false;
    } else if (environment_token != NULL) {
        length = (ssize_t)strnlen(environment_token, sizeof guard->token);
        memcpy(guard->token, environment_token, (size_t)length);
        unsetenv(TOKEN_VARIABLE);
    } else {
        return complain_of_usage(
            "--writable needs a token: in a file (--token-file), or in the environment variable " TOKEN_VARIABLE);
    }
    /* Cut off the end of the line in a file. strchr also finds a NUL byte, which is cut off as well. */
    while (length > 0 && strchr("\r\n", guard->token[length - 1]) != NULL) guard->token[--length] = '\0';
    guard->token_length = (size_t)length;
    return check_token(guard->token, guard->token_length,
                       token_path != NULL ? token_path : "the environment variable " TOKEN_VARIABLE);
}

bool guard_accepts_token(const struct guard *guard, const char *authorization) {
    static const char scheme[] = "Bearer ";
    char received[TOKEN_BUFFER_BYTES] = {0};
    volatile unsigned char difference = 0; /* So the compiler does not end the loop at the first difference. */
    if (authorization == NULL || strncasecmp(authorization, scheme, strlen(scheme)) != 0) return false;
    authorization += strlen(scheme);
    size_t length = strnlen(authorization, sizeof received);
    memcpy(received, authorization, length);
    for (size_t i = 0; i < sizeof received; i++) difference |= (unsigned char)(received[i] ^ guard->token[i]);
    /* All bytes were compared, since both are padded with 0. Unlike &&, & evaluates both sides in any case, so that the
     * time does not tell which one is false. */
    return guard->token_length > 0 && (length == guard->token_length) & (difference == 0);
}

/* ---- Names ---- */

/* Returns whether one of the strings equals a text, in upper or lower case. */
static bool has_string(const struct strings *strings, const char *text) {
    for (size_t i = 0; i < strings->count; i++)
        if (strcasecmp(strings->values[i], text) == 0) return true;
    return false;
}

/* Returns whether a text is one to five digits, as a port is written. */
static bool is_port(const char *text) {
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 5 && text[digits] == '\0';
}

bool guard_accepts_host(const struct guard *guard, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    char name[256];
    bool is_bracketed = *host == '['; /* An IPv6 address. */
    if (is_bracketed) host++;
    size_t length = strcspn(host, is_bracketed ? "]" : ":");
    if (length >= sizeof name || (is_bracketed && host[length] != ']')) return false;
    const char *port = host + length + (is_bracketed ? 1 : 0); /* "", or a colon and the port. */
    if (*port != '\0' && (*port != ':' || !is_port(port + 1))) return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (is_bracketed) return inet_pton(AF_INET6, name, address) == 1;
    return inet_pton(AF_INET, name, address) == 1 || strcasecmp(name, "localhost") == 0 ||
           has_string(guard->hosts, name);
}

bool guard_names_origin(const struct guard *guard, const char *origin) { return has_string(guard->origins, origin); }

bool guard_accepts_origin(const struct guard *guard, const char *origin, const char *host) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2 && host != NULL; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(origin, schemes[i], length) == 0 && strcasecmp(origin + length, host) == 0) return true;
    }
    return guard_names_origin(guard, origin);
}
