import { chmodSync, closeSync, openSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { UsageError } from "../base/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Change, Journal, JournalContent } from "./store.ts";

/** Raised when what is stored can no longer be read by older code. */
const FORMAT = 1;

/**
 * Keeps the embedded server's objects in one SQLite file. Every change is one transaction in the write-ahead log, handed
 * to the operating system before `append` returns: a killed process loses nothing it has acknowledged, and nothing is
 * half there. Must not: be opened by two processes; the lock is taken for as long as it is open.
 */
export class SqliteJournal implements Journal {
  readonly #database: DatabaseSync;
  readonly #upsert: StatementSync;
  readonly #remove: StatementSync;
  readonly #advance: StatementSync;

  constructor(path: string) {
    this.#database = openExclusively(path);
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS objects (
        kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, key)
      ) STRICT, WITHOUT ROWID;
      INSERT OR IGNORE INTO meta VALUES ('format', ${FORMAT}), ('revision', 0);
    `);
    this.#checkFormat(path);
    this.#upsert = this.#database.prepare(
      "INSERT INTO objects VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body",
    );
    this.#remove = this.#database.prepare("DELETE FROM objects WHERE kind = ? AND key = ?");
    this.#advance = this.#database.prepare("UPDATE meta SET value = ? WHERE name = 'revision'");
  }

  load(): JournalContent {
    const rows = this.#database.prepare("SELECT kind, key, body FROM objects ORDER BY kind, key");
    return { revision: this.#readMeta("revision"), objects: readObjects(rows) };
  }

  append(kind: string, change: Change): void {
    this.#database.exec("BEGIN");
    try {
      if (change.type === "DELETED") this.#remove.run(kind, change.key);
      else this.#upsert.run(kind, change.key, JSON.stringify(change.object));
      this.#advance.run(change.revision);
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #readMeta(name: string): number {
    return Number(this.#database.prepare("SELECT value FROM meta WHERE name = ?").get(name)?.value);
  }

  #checkFormat(path: string): void {
    const format = this.#readMeta("format");
    if (format === FORMAT) return;
    this.close();
    throw new UsageError(
      `${path} was written in format ${format}, this version reads ${FORMAT}: use another --data-dir`,
    );
  }
}

function openExclusively(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    // Made first, so that neither it nor the log beside it, which copies its mode, is ever readable for others.
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    database = new DatabaseSync(path);
    // Exclusive locking keeps a second process out, and spares the shared-memory file.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    database.exec("BEGIN IMMEDIATE; COMMIT");
    return database;
  } catch (error) {
    if (database?.isOpen) database.close();
    const busy = error instanceof Error && /locked|busy/i.test(error.message);
    throw new UsageError(
      busy
        ? `${path} is in use by another process: stop that one, or choose another --data-dir`
        : `${path} cannot be opened as the embedded server's storage: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
}

function* readObjects(rows: StatementSync): JournalContent["objects"] {
  for (const row of rows.iterate()) {
    const object = JSON.parse(String(row.body)) as KubeObject;
    yield { kind: String(row.kind), key: String(row.key), object };
  }
}
