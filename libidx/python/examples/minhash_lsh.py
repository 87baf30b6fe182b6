"""An index of texts on disk, by the names that users of datasketch's MinHashLSH know.

    lsh = MinHashLSH("pages.idx", threshold=0.8)    # makes the index, or opens it: at once, whatever its size
    with lsh.insertion_session() as session:        # writes to disk 1,000 texts at a time
        for url, text in pages:
            session.insert(url, text)
    lsh.query(text)                                 # the keys of all texts that resemble it by 0.8 or more
    lsh.remove(url)

What differs from datasketch: texts take the place of MinHash objects. The answers are exact, since the texts' shingles
are compared; so num_perm, weights and params have nothing to say. What was inserted or removed is on disk when the call
returns, also after a kill. Keys are str. insert looks for no text of the same key, as with check_duplication=False: a
key may have several texts, and remove removes all of them. One process at a time inserts and removes, while any number
of others query. After compact, the index is as small as one that was built at once.
"""

import os

import libidx


class MinHashLSH:
    """Texts by key, of which query finds those that resemble one by the threshold or more.

    shingle: what texts have in common: as many words in a row, or characters in a row with "chars:N". Of an index that
    is there already, it must be the same. A context manager, which closes the index."""

    def __init__(self, path, threshold=0.8, shingle=5):
        self.path, self.threshold = path, threshold
        if not os.path.exists(path):
            libidx.build(path, texts=[], ids=[], id_type="text", resemble=threshold, shingle=shingle)
        self._index, self._writer = libidx.open(path, residence="none"), None
        unit, _, width = str(shingle).rpartition(":")
        if f";{unit or 'words'}={width};" not in self._index.info().recipe:
            raise ValueError(f"{path} was made with other shingles: its recipe is {self._index.info().recipe}")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def insert(self, key, text):
        """Adds a text. One without words resembles none, and is left out. Many are faster in an insertion_session."""
        self._insert_many([key], [text])

    def insertion_session(self, buffer_size=1000):
        """What collects texts, and inserts so many at once."""
        return InsertionSession(self, buffer_size)

    def query(self, text):
        """The keys of the texts that resemble one, the most alike first."""
        self._index.refresh()  # what other processes, and this one, inserted and removed since
        return [key for key, _ in self._index.lookup(text, resemble=self.threshold)]

    def query_many(self, texts, threads=1):
        """The keys for each of many texts, which is several times faster than one after the other."""
        self._index.refresh()
        found = self._index.lookup(list(texts), resemble=self.threshold, threads=threads)
        return found.tolist(errors="surrogateescape")

    def query_and_insert(self, keys, texts):
        """Inserts those of many texts that resemble none, also of those before it. Returns a list of bool."""
        added, _ = self._open_writer().check_and_add(list(texts), list(keys), resemble=self.threshold, limit=1)
        return added.tolist()

    def remove(self, key):
        """Removes the texts of a key. Raises ValueError if there is none."""
        if self._open_writer().remove_ids([key]).documents == 0:
            raise ValueError("The given key does not exist")

    def compact(self):
        """Frees the space of removed texts."""
        self._close_writer()
        libidx.compact(self.path, all=True)

    def close(self):
        self._close_writer()
        self._index.close()

    def _insert_many(self, keys, texts):
        self._open_writer().add(texts, keys)

    def _open_writer(self):
        """Opened when it is first needed, since one process at a time may have it."""
        if self._writer is None:
            self._writer = libidx.Writer(self.path)
        return self._writer

    def _close_writer(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class InsertionSession:
    """Texts that are inserted together. Leaving it inserts the rest, unless an exception was raised."""

    def __init__(self, lsh, buffer_size):
        self.lsh, self.buffer_size = lsh, buffer_size
        self.keys, self.texts = [], []

    def __enter__(self):
        return self

    def __exit__(self, kind, *unused):
        if kind is None:
            self.close()

    def insert(self, key, text):
        self.keys.append(key)
        self.texts.append(text)
        if len(self.keys) >= self.buffer_size:
            self.close()

    def close(self):
        self.lsh._insert_many(self.keys, self.texts)
        self.keys, self.texts = [], []
