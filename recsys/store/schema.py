"""The tables of `library.sqlite`. A change here is a new format: raise `FORMAT_VERSION` and add a migration."""

from __future__ import annotations

FORMAT_VERSION = 4
"""Version of the schema below, kept in `PRAGMA user_version`."""

SCHEMA = """
CREATE TABLE papers (
    row INTEGER PRIMARY KEY,         -- given out once, never again
    paper_id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    title TEXT NOT NULL,
    abstract TEXT NOT NULL,
    authors TEXT NOT NULL,           -- JSON array
    categories TEXT NOT NULL,        -- separated by spaces, primary first
    published TEXT NOT NULL,
    updated TEXT NOT NULL,
    comments TEXT NOT NULL,
    doi TEXT NOT NULL,
    journal_ref TEXT NOT NULL,
    withdrawn INTEGER NOT NULL,
    source TEXT NOT NULL,
    rank INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    title_key INTEGER NOT NULL,      -- hash of the title's letters and digits
    start_key INTEGER NOT NULL DEFAULT 0, -- hash of the abstract's beginning; 0 where it is short
    telling INTEGER NOT NULL DEFAULT 0,   -- whether the comments may say that another record is the same work
    checksum INTEGER NOT NULL DEFAULT 0   -- of all the above
);
CREATE INDEX papers_start_key ON papers (start_key);
CREATE INDEX papers_telling ON papers (row) WHERE telling = 1;
CREATE INDEX papers_title_key ON papers (title_key);
CREATE INDEX papers_text_hash ON papers (text_hash);
CREATE INDEX papers_recommendable ON papers (text_hash, paper_id) WHERE withdrawn = 0 AND abstract <> '';
CREATE INDEX papers_left_out ON papers (withdrawn) WHERE NOT (withdrawn = 0 AND abstract <> '');
CREATE TABLE records (
    paper_id TEXT NOT NULL,          -- of a paper that came both with and without a version
    versioned INTEGER NOT NULL,
    record TEXT NOT NULL,            -- JSON: its best record of that kind
    PRIMARY KEY (paper_id, versioned)
) WITHOUT ROWID;
CREATE TABLE works (
    row INTEGER PRIMARY KEY,         -- a paper that is shown as part of another
    work INTEGER NOT NULL,           -- that other's row
    reason TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX works_work ON works (work);
CREATE TABLE rejects (
    reject INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    UNIQUE (file, line, reason, excerpt)
);
CREATE TABLE shards (
    shard INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL,
    fingerprint TEXT NOT NULL,       -- digest
    rows INTEGER NOT NULL,
    dim INTEGER NOT NULL,
    texts BLOB NOT NULL DEFAULT x'',  -- digest of the text hashes of its rows, in order
    UNIQUE (sha256, fingerprint)
);
CREATE TABLE embeddings (
    fingerprint TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    shard INTEGER NOT NULL REFERENCES shards,
    position INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, text_hash)
) WITHOUT ROWID;
CREATE INDEX embeddings_place ON embeddings (shard, position);
CREATE TABLE quarantine (
    fingerprint TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    PRIMARY KEY (fingerprint, text_hash)
) WITHOUT ROWID;
CREATE TABLE builds (
    build INTEGER PRIMARY KEY,
    created TEXT NOT NULL,           -- UTC, ISO 8601
    fingerprint TEXT NOT NULL,       -- digest
    kind TEXT NOT NULL,
    search_file TEXT NOT NULL,       -- sha256, or empty where the kind needs no file
    papers INTEGER NOT NULL,
    k INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    recall REAL NOT NULL DEFAULT 1,  -- share of the true 20 nearest in a list, by an exact sample
    checksum INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE related (
    row INTEGER PRIMARY KEY,
    neighbors BLOB NOT NULL,         -- k rows as uint32, then k scores as float32; little endian, best first
    text_hash BLOB NOT NULL DEFAULT x'',     -- the text whose vector the list was made of
    searchable INTEGER NOT NULL DEFAULT 1,   -- whether the build's search file holds that vector
    checksum INTEGER NOT NULL DEFAULT 0      -- of all the above
);
CREATE TABLE cards (
    row INTEGER PRIMARY KEY,         -- a paper that is listed
    paper_id TEXT NOT NULL,
    before BLOB NOT NULL,            -- JSON members of its card, up to the score; UTF-8
    after BLOB NOT NULL,             -- those after the score
    text_hash BLOB NOT NULL,
    checksum INTEGER NOT NULL        -- of all the above
);
CREATE INDEX cards_row ON cards (row);  -- the rows alone: which cards there are is asked at every build
CREATE TRIGGER papers_change AFTER UPDATE ON papers BEGIN DELETE FROM cards WHERE row = old.row; END;
CREATE TRIGGER papers_remove AFTER DELETE ON papers BEGIN DELETE FROM cards WHERE row = old.row; END;
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
"""
