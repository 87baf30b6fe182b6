"""Near-duplicates on Apache Spark: fingerprints, matches, sharded indexes, pairs, clusters and deduplication.

Fingerprints are LONG columns, their 64 bits as a signed number; IDs are string or LONG. Needs the extra libidx[spark],
and libidx on every worker: installed, or in an archive that `spark-submit --archives` brings along.
`python -m libidx.spark` is the command.

    from libidx import spark as idx

    pages = idx.fingerprint(spark.read.parquet("pages"), "text")
    kept = idx.dedup(pages, "url", "text").where("not is_duplicate")
    near = idx.clusters(pages, "url", k=3)              # by fingerprints: representative_id, distance
    near = idx.match(pages, "/data/old", k=3)           # files that workers read themselves
    shards = idx.build(pages, "/data/pages.idx", 8, id="url")
    idx.lookup(today, "/data/pages.idx", k=3)
"""

from ._build import build, lookup
from ._clusters import clusters
from ._dedup import dedup, dedup_parts
from ._fingerprint import fingerprint
from ._match import match
from ._pairs import pairs

__all__ = ["build", "clusters", "dedup", "dedup_parts", "fingerprint", "lookup", "match", "pairs"]
