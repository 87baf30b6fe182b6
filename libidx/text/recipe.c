/* recipe.c: the grammar of recipes, as tables: the methods, and the parts that each of them may have. Functions that
 * read something and return a string return NULL if it is valid, or else a sentence about what is wrong. */
#include "libidx/text/recipe.h"

#include "libidx/text/stop_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The parts that a recipe may have after its method, a bit each. */
enum {
    STOP = 1,
    WEIGHT = 2,
    TOP = 4,
    TITLE = 8,
    ORDER = 16,
    HASH = 32,
    TIES = 64,
    CUT = 128,
    VERSION = 256,
    SHINGLE = 512
};

static const struct method {
    const char *name;
    unsigned min, max; /* bounds of the number after its colon; 0 if it has none */
    unsigned parts;    /* the parts that it can have, one bit each; all methods can have VERSION, too */
} methods[] = {
    [IDXT_WORDS] = {"words", 1, 8, CUT | STOP | WEIGHT | TOP | TITLE | HASH | TIES},
    [IDXT_CHARS] = {"chars", 1, 32, WEIGHT | TOP | TITLE | HASH | TIES},
    [IDXT_SEGMENTS] = {"segments", 1, 64, CUT | STOP | WEIGHT | HASH | TIES},
    [IDXT_SENTENCES] = {"sentences", 1, 64, 0},
    [IDXT_DESCRIPTION] = {"description", 0, 0, 0},
    [IDXT_TERMS] = {"terms", 1, 1000, CUT | STOP | WEIGHT | TITLE | ORDER},
    [IDXT_IDF] = {"idf", 1, 100, CUT | STOP | WEIGHT},
    [IDXT_MINHASH] = {"minhash", 1, IDX_TEXT_MAX_FINGERPRINTS, SHINGLE},
};
enum { METHODS = sizeof methods / sizeof *methods, MAX_TOP = 1000000, MAX_TITLE_WEIGHT = 100, DEFAULT_WIDTH = 5 };

static const char *const weighings[] = {
    [IDXT_WEIGHT_LOGTF] = "logtf", [IDXT_WEIGHT_ONE] = "1",   [IDXT_WEIGHT_TF] = "tf",
    [IDXT_WEIGHT_TFIDF] = "tfidf", [IDXT_WEIGHT_IDF] = "idf",
};
enum { WEIGHINGS = sizeof weighings / sizeof *weighings };

bool idxt_recipe_needs_table(const struct idxt_recipe *recipe) {
    return recipe->weighing == IDXT_WEIGHT_TFIDF || recipe->weighing == IDXT_WEIGHT_IDF;
}

/* Returns whether a method cuts texts into words. The part cut= is for these methods alone. They have two versions,
 * since version 2 cuts scripts without spaces in another way. */
static bool can_cut_words(enum idxt_method method) { return (methods[method].parts & CUT) != 0; }

bool idxt_recipe_asks_dictionaries(const struct idxt_recipe *recipe) {
    return can_cut_words(recipe->method) && recipe->version == 1 && !recipe->by_spaces;
}

bool idxt_recipe_has_features(const struct idxt_recipe *recipe) {
    enum idxt_method method = recipe->method;
    return method != IDXT_SENTENCES && method != IDXT_DESCRIPTION && method != IDXT_MINHASH;
}

size_t idxt_recipe_max_fingerprints(const struct idxt_recipe *recipe) {
    return recipe->method == IDXT_SEGMENTS || recipe->method == IDXT_MINHASH ? recipe->number : 1;
}

/* A part of a recipe's string, without a NUL byte. */
struct piece {
    const char *bytes;
    size_t length;
};

/* Returns whether a piece and a string have the same bytes. */
static bool piece_equals(struct piece piece, const char *string) {
    return piece.length == strlen(string) && memcmp(piece.bytes, string, piece.length) == 0;
}

/* Removes `prefix` from the front of a piece. If it begins otherwise, returns false, and does not change it. */
static bool remove_prefix(struct piece *piece, const char *prefix) {
    size_t length = strlen(prefix);
    if (piece->length < length || memcmp(piece->bytes, prefix, length) != 0) return false;
    piece->bytes += length;
    piece->length -= length;
    return true;
}

/* Returns whether a piece begins with a string. `piece` is a copy, so the caller's piece keeps the prefix. */
static bool has_prefix(struct piece piece, const char *prefix) { return remove_prefix(&piece, prefix); }

/* Removes from *rest the bytes up to the first `separator`, and the separator, or all bytes if there is none. Returns
 * the removed bytes without the separator: for "a;b" returns "a", and leaves "b". */
static struct piece remove_until(struct piece *rest, char separator) {
    const char *found = memchr(rest->bytes, separator, rest->length);
    struct piece front = {.bytes = rest->bytes, .length = found == NULL ? rest->length : (size_t)(found - rest->bytes)};
    size_t removed_length = front.length + (found != NULL ? 1 : 0);
    rest->bytes += removed_length;
    rest->length -= removed_length;
    return front;
}

enum { MAX_DIGITS = 7 }; /* so that no number overflows */

/* Reads a decimal number without leading zeros, from `min` to `max`, of at most MAX_DIGITS digits. Returns false if the
 * piece is anything else; then *number is undefined. */
static bool read_number(struct piece piece, unsigned min, unsigned max, unsigned *number) {
    if (piece.length < 1 || piece.length > MAX_DIGITS || (piece.bytes[0] == '0' && piece.length > 1)) return false;
    unsigned result = 0;
    for (size_t i = 0; i < piece.length; i++) {
        if (piece.bytes[i] < '0' || piece.bytes[i] > '9') return false;
        result = result * 10 + (unsigned)(piece.bytes[i] - '0');
    }
    *number = result;
    return result >= min && result <= max;
}

/* Reads the hash of a table: 16 hexadecimal digits, without capitals. Returns false if the piece is anything else; then
 * *hash is undefined. */
static bool read_table_hash(struct piece piece, uint64_t *hash) {
    if (piece.length != 16) return false;
    *hash = 0;
    for (size_t i = 0; i < 16; i++) {
        const char *digits = "0123456789abcdef", *digit = memchr(digits, piece.bytes[i], 16);
        if (digit == NULL) return false;
        *hash = *hash << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

/* Reads codes of languages joined by +, at least one, and sets *languages to the sum of their bits (stop_words.h).
 * Returns false if a language is unknown or missing. */
static bool read_languages(struct piece piece, uint32_t *languages) {
    *languages = 0;
    while (piece.length > 0) {
        bool has_separator = memchr(piece.bytes, '+', piece.length) != NULL;
        struct piece name = remove_until(&piece, '+');
        uint32_t language = idxt_stop_language_bit(name.bytes, name.length);
        if (language == 0 || (has_separator && piece.length == 0)) return false;
        *languages |= language;
    }
    return *languages != 0;
}

/* Reads the first part of a recipe into `method`, `number` and `needed_stop`: a method with its number, and after
 * words:N possibly stop words. */
static const char *read_method(struct piece piece, struct idxt_recipe *recipe) {
    struct piece name = remove_until(&piece, ':');
    struct piece number = remove_until(&piece, ',');
    int method = 0;
    while (method < METHODS && !piece_equals(name, methods[method].name)) method++;
    if (method == METHODS)
        return "it must begin with words:N, chars:N, segments:N, sentences:N, description, terms:N, idf:P or minhash:M";
    recipe->method = (enum idxt_method)method;
    /* After remove_until, the rest begins right after the removed piece, or one byte later if there was a separator. */
    bool has_colon = number.bytes > name.bytes + name.length, has_comma = piece.bytes > number.bytes + number.length;
    if (methods[method].max == 0) return has_colon ? "description has no number" : NULL;
    if (!read_number(number, methods[method].min, methods[method].max, &recipe->number))
        return "the number after its first colon is missing or out of range";
    if (!has_comma) return NULL;
    bool ok = method == IDXT_WORDS && remove_prefix(&piece, "stop=") && read_languages(piece, &recipe->needed_stop);
    return ok ? NULL
              : "only words:N can be followed by a comma, and then by stop= and languages of de, en, es, fr, "
                "it, nl, pt, ru and zh, joined by +";
}

/* Reads what comes after w=: the name of a weighing, and possibly, if it is by document frequencies, a colon and the
 * hash of the table. Without the hash the recipe is valid, too: idx_text_open adds that of its table. */
static const char *read_weighing(struct piece piece, struct idxt_recipe *recipe) {
    struct piece name = remove_until(&piece, ':');
    int weighing = 0;
    while (weighing < WEIGHINGS && !piece_equals(name, weighings[weighing])) weighing++;
    if (weighing == WEIGHINGS) return "the weights are w=1, w=tf, w=logtf, w=tfidf:HASH and w=idf:HASH";
    recipe->weighing = (enum idxt_weighing)weighing;
    bool has_colon = piece.bytes > name.bytes + name.length;
    if (!has_colon) return NULL;
    recipe->has_table = true;
    return idxt_recipe_needs_table(recipe) && read_table_hash(piece, &recipe->table_hash)
               ? NULL
               : "only w=tfidf and w=idf can be followed by a colon and the 16 hexadecimal digits of a table's hash";
}

/* Reads what comes after hash=: the name of a kind of hash, as idx_hash_name has it. */
static const char *read_hash_kind(struct piece piece, struct idxt_recipe *recipe) {
    int kind = 0;
    const char *name;
    while ((name = idx_hash_name((enum idx_hash_kind)kind)) != NULL && !piece_equals(piece, name)) kind++;
    if (name == NULL) return "the hashes are hash=xxh3, hash=fnv1, hash=fnv1a and hash=md5";
    recipe->hash = (enum idx_hash_kind)kind;
    return NULL;
}

/* Reads words=N or chars=N into `unit` and `width`. The caller has checked that the piece begins with one of the two
 * names. */
static const char *read_unit_and_width(struct piece piece, struct idxt_recipe *recipe) {
    bool of_words = remove_prefix(&piece, "words=");
    if (!of_words) remove_prefix(&piece, "chars=");
    recipe->unit = of_words ? IDX_TEXT_WORDS : IDX_TEXT_CHARACTERS;
    return read_number(piece, 1, IDX_TEXT_MAX_SHINGLE_WIDTH, &recipe->width)
               ? NULL
               : "a shingle has 1 to 16 words or characters, as in words=5 and chars=9";
}

/* Reads a part with one or two possible values, such as ties=1, and sets *part to its bit. Returns false for any other
 * piece, and leaves *part, which the caller has set to 0. */
static bool read_choice_part(struct piece piece, struct idxt_recipe *recipe, unsigned *part) {
    if (piece_equals(piece, "order=weight") || piece_equals(piece, "order=sorted")) {
        recipe->sorted = piece_equals(piece, "order=sorted");
        *part = ORDER;
    } else if (piece_equals(piece, "ties=0") || piece_equals(piece, "ties=1")) {
        recipe->ties = piece_equals(piece, "ties=1");
        *part = TIES;
    } else if (piece_equals(piece, "cut=spaces")) {
        recipe->by_spaces = true;
        *part = CUT;
    } else if (piece_equals(piece, "v1") || piece_equals(piece, "v2")) {
        recipe->version = piece_equals(piece, "v1") ? 1 : 2;
        *part = VERSION;
    }
    return *part != 0;
}

/* Reads a part after the first, whether or not the method can have it. Sets *part to its bit, or to 0 for nfkc-cf, man=
 * and icu=, which every recipe may have, any number of times. The version of ICU is checked, but not kept: it is for
 * people to see. */
static const char *read_part(struct piece piece, struct idxt_recipe *recipe, unsigned *part) {
    static const char *const out_of_range = "one of its parts is unknown, or has a value out of range";
    unsigned icu;
    *part = 0;
    if (piece_equals(piece, "nfkc-cf")) return NULL;
    if (remove_prefix(&piece, "man=")) return read_number(piece, 1, 2, &recipe->manual_version) ? NULL : out_of_range;
    if (remove_prefix(&piece, "icu=")) return read_number(piece, 1, 9999999, &icu) ? NULL : out_of_range;
    if (remove_prefix(&piece, "stop=")) {
        *part = STOP;
        return read_languages(piece, &recipe->dropped_stop)
                   ? NULL
                   : "stop= needs languages of de, en, es, fr, it, nl, pt, ru and zh, joined by +";
    }
    if (remove_prefix(&piece, "w=")) {
        *part = WEIGHT;
        return read_weighing(piece, recipe);
    }
    if (remove_prefix(&piece, "top=")) {
        *part = TOP;
        return read_number(piece, 1, MAX_TOP, &recipe->max_features) ? NULL : out_of_range;
    }
    if (remove_prefix(&piece, "title=")) {
        *part = TITLE;
        return read_number(piece, 0, MAX_TITLE_WEIGHT, &recipe->title_weight) ? NULL : out_of_range;
    }
    if (remove_prefix(&piece, "hash=")) {
        *part = HASH;
        return read_hash_kind(piece, recipe);
    }
    if (has_prefix(piece, "words=") || has_prefix(piece, "chars=")) {
        *part = SHINGLE;
        return read_unit_and_width(piece, recipe);
    }
    return read_choice_part(piece, recipe, part) ? NULL : out_of_range;
}

/* Reads a part after the first. Checks that the method can have it, and that it occurs for the first time. *seen_parts
 * has the bits of the parts before it; adds that of this one. */
static const char *read_and_check_part(struct piece piece, struct idxt_recipe *recipe, unsigned *seen_parts) {
    unsigned part, allowed = methods[recipe->method].parts | VERSION;
    const char *fault = read_part(piece, recipe, &part);
    if (fault != NULL) return fault;
    /* idxt_recipe_parse has set this weighing, so another one comes from w=. */
    if (recipe->method == IDXT_IDF && recipe->weighing != IDXT_WEIGHT_IDF)
        return "idf:P can only have the weight w=idf:HASH";
    if ((allowed & part) != part) return "one of its parts can't be combined with its method";
    if ((*seen_parts & part) != 0) return "one of its parts occurs twice";
    *seen_parts |= part;
    return NULL;
}

/* Sets the version of a recipe whose parts were all read, unless the recipe names one, and checks that the other parts
 * allow the version. */
static const char *set_and_check_version(struct idxt_recipe *recipe) {
    bool has_words = can_cut_words(recipe->method);
    if (recipe->version == 0) recipe->version = has_words ? 2 : 1;
    if (recipe->version == 2 && !has_words) return "version 2 is one of words, segments, terms and idf alone";
    if (((recipe->needed_stop | recipe->dropped_stop) & idxt_stop_language_bit("zh", 2)) && recipe->version == 2 &&
        !recipe->by_spaces)
        return "stop=zh needs whole words of Chinese, and version 2 takes its characters in pairs: add v1 or "
               "cut=spaces";
    return NULL;
}

const char *idxt_recipe_parse(struct idxt_recipe *recipe, const char *string) {
    *recipe = (struct idxt_recipe){0};
    struct piece rest = {string, strlen(string)};
    if (rest.length > IDX_MAX_RECIPE_BYTES) return "it is too long";
    if (rest.length > 0 && string[rest.length - 1] == ';') return "it ends with a semicolon";
    unsigned seen_parts = 0;
    const char *fault = read_method(remove_until(&rest, ';'), recipe);
    if (recipe->method == IDXT_IDF) recipe->weighing = IDXT_WEIGHT_IDF;
    if (recipe->method == IDXT_MINHASH) recipe->width = DEFAULT_WIDTH;
    while (fault == NULL && rest.length > 0) fault = read_and_check_part(remove_until(&rest, ';'), recipe, &seen_parts);
    return fault == NULL ? set_and_check_version(recipe) : fault;
}

/* Appends formatted text to the string of a recipe, which has IDX_MAX_RECIPE_BYTES + 1 bytes. The longest recipe fits.
 */
__attribute__((format(printf, 2, 3))) static void append_formatted(char *string, const char *format, ...) {
    size_t length = strlen(string);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(string + length, IDX_MAX_RECIPE_BYTES + 1 - length, format, arguments);
    va_end(arguments);
}

/* Appends `prefix` and the codes of languages, joined by +, to the string of a recipe, or nothing if there are none.
 * `languages` is the sum of their bits. */
static void append_languages(char *string, const char *prefix, uint32_t languages) {
    const char *separator = prefix;
    for (uint32_t language = 1; languages != 0; language <<= 1) {
        if ((languages & language) == 0) continue;
        append_formatted(string, "%s%s", separator, idxt_stop_language_code(language));
        languages &= ~language;
        separator = "+";
    }
}

void idxt_recipe_format(const struct idxt_recipe *recipe, char string[IDX_MAX_RECIPE_BYTES + 1]) {
    const struct method *method = &methods[recipe->method];
    *string = '\0';
    append_formatted(string, "%s", method->name);
    if (method->max > 0) append_formatted(string, ":%u", recipe->number);
    append_languages(string, ",stop=", recipe->needed_stop);
    if (recipe->method == IDXT_MINHASH)
        append_formatted(string, ";%s=%u", recipe->unit == IDX_TEXT_WORDS ? "words" : "chars", recipe->width);
    else
        append_formatted(string, ";nfkc-cf");
    if (recipe->by_spaces) append_formatted(string, ";cut=spaces");
    append_languages(string, ";stop=", recipe->dropped_stop);
    if ((method->parts & WEIGHT) != 0) append_formatted(string, ";w=%s", weighings[recipe->weighing]);
    if (recipe->has_table) append_formatted(string, ":%016" PRIx64, recipe->table_hash);
    if (recipe->max_features > 0) append_formatted(string, ";top=%u", recipe->max_features);
    if (recipe->title_weight > 0) append_formatted(string, ";title=%u", recipe->title_weight);
    if ((method->parts & ORDER) != 0) append_formatted(string, ";order=%s", recipe->sorted ? "sorted" : "weight");
    if (recipe->hash != IDX_HASH_XXH3) append_formatted(string, ";hash=%s", idx_hash_name(recipe->hash));
    if (recipe->ties) append_formatted(string, ";ties=1");
    if (recipe->manual_version > 0) append_formatted(string, ";man=%u", recipe->manual_version);
    append_formatted(string, ";v%u", recipe->version);
}

bool idxt_recipe_has_single_words(const struct idxt_recipe *recipe) {
    return recipe->method != IDXT_CHARS && (recipe->method != IDXT_WORDS || recipe->number == 1);
}

struct idxt_recipe idxt_recipe_of_features(const struct idxt_recipe *recipe) {
    struct idxt_recipe features = {.method = IDXT_WORDS,
                                   .number = 1,
                                   .weighing = IDXT_WEIGHT_TF,
                                   .dropped_stop = recipe->dropped_stop,
                                   .by_spaces = recipe->by_spaces,
                                   .version = recipe->version};
    if (recipe->method == IDXT_WORDS || recipe->method == IDXT_CHARS) {
        features.method = recipe->method;
        features.number = recipe->number;
        features.needed_stop = recipe->needed_stop;
    }
    return features;
}
