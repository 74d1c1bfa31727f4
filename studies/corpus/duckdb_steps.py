"""The steps of `prepare` (normalise, exact duplicates, scrub, frequencies) in DuckDB.

DuckDB's regular expressions stand in for scrubbing: the checksums of cards and IBANs cannot be written in them, so it
has less to do here.
"""

from __future__ import annotations

from pathlib import Path

PATTERNS = {
    "EMAIL": r"[\w.%+-]*\w@(?:[\w-]+\.)+[A-Za-z]{2,}",
    "URL": r"(?:https?|ftp)://\S+|www\.\S+",
    "IBAN": r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,4})?\b",
    "CARD": r"\b\d(?:[ -]?\d){12,18}\b",
    "IP": r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
    "PHONE": r"\+?\(?\d(?:[ ()./-]{0,3}\d){6,14}",
    "HANDLE": r"@[A-Za-z0-9_]{2,30}",
}


def run(source: Path, out: Path) -> None:
    import duckdb

    out.mkdir(parents=True)
    scrubbed = "t.text"
    for kind, pattern in PATTERNS.items():
        scrubbed = f"regexp_replace({scrubbed}, '{pattern}', '<{kind}>', 'g')"
    database = duckdb.connect()
    database.execute("set preserve_insertion_order = false")
    database.execute(
        f"""
        create temp view normalised as
        select dialogue_id, source, domains, language, labels,
               list_transform(
                   turns, lambda t: struct_update(t, text := trim(regexp_replace(t.text, '\\s+', ' ', 'g')))
               ) as turns
        from '{source}/*.parquet';
        create temp table first as
        select min(dialogue_id) as dialogue_id
        from normalised group by hash(lower(array_to_string(list_transform(turns, lambda t: t.text), '\n')));
        copy (
            select n.* replace (list_transform(n.turns, lambda t: struct_update(t, text := {scrubbed})) as turns)
            from normalised n semi join first using (dialogue_id)
        ) to '{out}/table.parquet' (format parquet, compression zstd);
        copy (
            select response, count(*) as count
            from (
                select lower(unnest(list_transform(turns[2:], lambda t: t.text))) as response from '{out}/table.parquet'
            )
            group by response having count(*) > 1
        ) to '{out}/frequencies.parquet' (format parquet);
        """
    )
