"""Near-duplicates in a Parquet file with the columns url and text: Polars reads and writes it, DuckDB joins clusters.

    pip install polars duckdb pyarrow
    python parquet.py INPUT.parquet OUTPUT.parquet
"""

import sys

import duckdb
import polars

import libidx


def deduplicate(source, target, resemble=0.8):
    """Writes the rows whose texts resemble no earlier row's that is written."""
    rows = polars.read_parquet(source)
    rows.filter(libidx.dedup(rows["text"], resemble=resemble).keep).write_parquet(target)


def clusters(source, k=3):
    """A relation of DuckDB: cluster, url, distance in bits to the cluster's first document; clusters of two or more."""
    texts = polars.read_parquet(source, columns=["text"])["text"]
    fingerprints, features = libidx.Fingerprinter().with_features(texts)
    rows = (features > 0).nonzero()[0].astype("uint64")  # the others have no words to compare
    found = libidx.clusters(fingerprints[rows], rows, k)
    return duckdb.sql(
        """
        select cluster, url, distance
        from found join read_parquet($source, file_row_number = true) on id = file_row_number
        order by cluster, id
        """,
        params={"source": source},
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python parquet.py INPUT.parquet OUTPUT.parquet")
    deduplicate(*sys.argv[1:])
    print(clusters(sys.argv[1]))
