// near.cpp: builds an index by idx.hpp, looks up, adds, refreshes, and shows an error. usage: near NEW_INDEX
//
//   c++ -std=c++17 -o near near.cpp $(pkg-config --cflags --libs idx)
#include "idx.hpp"

#include <cinttypes>
#include <cstdio>

// Prints the documents within the index's k of a query, a line each: fingerprint, distance and ID.
static void print_documents(const idx::index &index, std::uint64_t query) {
    for (const idx::document &document : index.documents(query, index.k()))
        std::printf("%016" PRIx64 "\t%u\t%s\n", document.fingerprint, document.distance, document.id.c_str());
}

int main(int argc, char **argv) try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: near NEW_INDEX\n");
        return 2;
    }
    idx::builder builder(argv[1]);
    builder.add(0x1234, "first");
    builder.add(0xcafe, "second");
    builder.finish();

    idx::index index(argv[1]);
    print_documents(index, 0xcaff);
    idx::writer(argv[1]).add(0xcafc, "third");
    if (std::optional<idx::index> newer = index.refresh()) index = *newer; // the older view closes here
    print_documents(index, 0xcaff);

    try {
        index.lookup(0, 17);
    } catch (const idx::error &error) {
        std::printf("%d: %s\n", error.status(), error.what());
    }
    return 0;
} catch (const idx::error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
