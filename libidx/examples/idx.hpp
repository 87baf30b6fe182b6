// idx.hpp: libidx in C++17: objects that close themselves, exceptions, vectors. A header to copy and to cut to size;
// near.cpp uses it. What it does not have, such as batches, takes the same form.
#ifndef IDX_HPP
#define IDX_HPP

#include <idx.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace idx {

// Why a call failed: what() is the sentence; the status says which kind it is.
class error : public std::runtime_error {
  public:
    explicit error(const idx_error &cause) : std::runtime_error(cause.sentence), status_(cause.status) {}
    idx_status status() const noexcept { return status_; }

  private:
    idx_status status_;
};

// Calls a function of libidx with the arguments and, as its last one, a struct idx_error. Throws error if it fails.
template <typename Function, typename... Arguments> void call(Function function, Arguments... arguments) {
    idx_error cause;
    if (function(arguments..., &cause) != IDX_OK) throw error(cause);
}

// Closes a handle of libidx, for std::unique_ptr.
template <auto close> struct closer {
    template <typename Handle> void operator()(Handle *handle) const noexcept { close(handle); }
};

// A document, with the fingerprint that it was found by and the distance of that to the query.
struct document {
    std::uint64_t fingerprint;
    unsigned distance;
    std::string id;
};

// An open index: an immutable view that any number of threads may use. It closes when its last copy goes, so a service
// that replaces its copy by that of refresh() closes the older view once nobody uses it any more.
class index {
  public:
    // Opens the index at a path.
    explicit index(const std::string &path) {
        idx_index *opened = nullptr;
        call(idx_open, &opened, path.c_str(), nullptr);
        handle_.reset(opened, idx_close);
    }

    // The largest distance that look-ups can have.
    unsigned k() const noexcept { return properties().k; }

    // What the index is, and how large. Its strings stay valid as long as this view.
    idx_properties properties() const noexcept {
        idx_properties properties;
        idx_get_properties(handle_.get(), &properties);
        return properties;
    }

    // All fingerprints within a distance of the query, nearest first.
    std::vector<idx_match> lookup(std::uint64_t query, unsigned distance) const {
        std::vector<idx_match> matches(16);
        std::size_t count = 0;
        call(idx_lookup, get(), query, distance, matches.data(), matches.size(), &count);
        if (count > matches.size()) {
            matches.resize(count);
            call(idx_lookup, get(), query, distance, matches.data(), matches.size(), &count);
        }
        matches.resize(count);
        return matches;
    }

    // The documents of all fingerprints within a distance, nearest first. The index must have text IDs.
    std::vector<document> documents(std::uint64_t query, unsigned distance) const {
        idx_documents *opened = nullptr;
        call(idx_documents_open, &opened, get());
        std::unique_ptr<idx_documents, closer<idx_documents_close>> cursor(opened);
        std::vector<document> found;
        for (const idx_match &match : lookup(query, distance)) {
            call(idx_documents_find, opened, match.fingerprint, nullptr);
            for (bool more = true; more;) {
                idx_document next;
                call(idx_documents_next, opened, &next, &more);
                if (more)
                    found.push_back({match.fingerprint, match.distance,
                                     std::string(static_cast<const char *>(next.id), next.id_length)});
            }
        }
        return found;
    }

    // A view of the current state of the index, or nothing if this view has that state already.
    std::optional<index> refresh() const {
        idx_index *newer = nullptr;
        call(idx_refresh, get(), &newer);
        if (newer == nullptr) return std::nullopt;
        return index(newer);
    }

  private:
    explicit index(idx_index *opened) : handle_(opened, idx_close) {}
    const idx_index *get() const noexcept { return handle_.get(); }
    std::shared_ptr<idx_index> handle_;
};

// Makes a new index. Without finish() nothing is left behind.
class builder {
  public:
    // Begins an index at a path for look-ups up to distance k. Only with `replace` may there be one already.
    explicit builder(const std::string &path, unsigned k = 3, bool replace = false) {
        idx_build_options options = IDX_BUILD_OPTIONS_INIT;
        idx_builder *opened = nullptr;
        options.k = k;
        options.replace = replace;
        call(idx_builder_open, &opened, path.c_str(), &options);
        handle_.reset(opened);
    }

    // Adds a document, whose ID is copied.
    void add(std::uint64_t fingerprint, std::string_view id) {
        const idx_item item{fingerprint, 0, id.data(), id.size()};
        call(idx_builder_add, handle_.get(), &item);
    }

    // Publishes the index at its path. Nothing can be added afterwards.
    void finish() {
        call(idx_builder_finish, handle_.get(), nullptr);
        handle_.reset();
    }

  private:
    std::unique_ptr<idx_builder, closer<idx_builder_close>> handle_;
};

// Adds documents to an existing index; one writer at a time.
class writer {
  public:
    // Opens the index at a path for writing.
    explicit writer(const std::string &path) {
        idx_writer *opened = nullptr;
        call(idx_writer_open, &opened, path.c_str(), nullptr);
        handle_.reset(opened);
    }

    // Adds a document, whose ID is copied. It is on disk when the call returns.
    void add(std::uint64_t fingerprint, std::string_view id) {
        idx_item item{fingerprint, 0, id.data(), id.size()};
        call(idx_writer_add, handle_.get(), &item, 1);
    }

  private:
    std::unique_ptr<idx_writer, closer<idx_writer_close>> handle_;
};

} // namespace idx

#endif
