import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { UsageError } from "../base/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import { SqliteJournal } from "./sqlite-journal.ts";
import { Store } from "./store.ts";

function temporaryFile(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-journal-"));
  context.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "state.db");
}

const thing = (name: string, value: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  value,
});

test("what was written is there after closing and opening again, with the same revision", (context) => {
  const path = temporaryFile(context);
  const store = new Store({ journal: new SqliteJournal(path) });
  store.write("things", "x", thing("x", "kept"));
  store.write("things", "y", thing("y", "removed"));
  store.write("things", "x", thing("x", "changed"));
  store.write("things", "y", undefined);
  const { revision } = store;
  const before = store.list("things");
  store.close();
  const again = new Store({ journal: new SqliteJournal(path) });
  context.after(() => again.close());
  assert.equal(again.revision, revision, "a deletion counts too, so that no resourceVersion is given out twice");
  assert.deepEqual(again.list("things"), before);
  assert.throws(() => again.changesAfter("things", revision - 1), /too old resource version/);
  assert.deepEqual(again.changesAfter("things", revision), []);
});

test("a second process is kept out while the file is open", (context) => {
  const path = temporaryFile(context);
  const journal = new SqliteJournal(path);
  context.after(() => journal.close());
  assert.throws(
    () => new SqliteJournal(path),
    (error) => error instanceof UsageError && /in use/.test(error.message),
  );
});

test("a file of another format, or no database at all, is refused in one line", (context) => {
  const path = temporaryFile(context);
  new SqliteJournal(path).close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE meta SET value = 99 WHERE name = 'format'");
  database.close();
  assert.throws(
    () => new SqliteJournal(path),
    (error) => error instanceof UsageError && /format 99/.test(error.message),
  );
  assert.throws(() => new SqliteJournal(join(path, "nowhere")), UsageError);
});
