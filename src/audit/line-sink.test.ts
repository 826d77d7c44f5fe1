import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileSink, streamSink } from "./line-sink.ts";

async function inFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-audit-"));
  try {
    await run(join(folder, "audit.log"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("lines are appended to a file that only its owner reads", () =>
  inFolder(async (path) => {
    const sink = new FileSink(path);
    assert.equal(await sink.mend(), 0);
    await sink.write("a\n");
    await sink.write("b\nc\n");
    await sink.close();
    assert.equal(await readFile(path, "utf8"), "a\nb\nc\n");
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  }));

test("a file that logrotate moves away, takes away or empties is no end of the log", () =>
  inFolder(async (path) => {
    const sink = new FileSink(path);
    await sink.write("a\n");
    await rename(path, `${path}.1`);
    await sink.write("b\n");
    assert.deepEqual(await Promise.all([readFile(`${path}.1`, "utf8"), readFile(path, "utf8")]), ["a\n", "b\n"]);
    await rename(path, `${path}.2`);
    await writeFile(path, "", { mode: 0o600 });
    await sink.write("c\n");
    assert.equal(await readFile(path, "utf8"), "c\n", "the file that it has made instead");
    await truncate(path, 0);
    await sink.write("d\n");
    assert.equal(await readFile(path, "utf8"), "d\n", "copytruncate");
    await sink.close();
  }));

test("a line that was left unfinished is closed, and its length told", async () => {
  const table: readonly (readonly [content: string, torn: number, reason: string])[] = [
    ["", 0, "an empty file"],
    ["a\n", 0, "whole lines"],
    ["a\nbcd", 3, "a part of a line"],
    ["bcd", 3, "nothing but a part of a line"],
  ];
  for (const [content, torn, reason] of table) {
    await inFolder(async (path) => {
      await writeFile(path, content);
      const sink = new FileSink(path);
      assert.equal(await sink.mend(), torn, reason);
      await sink.write("next\n");
      await sink.close();
      assert.equal(await readFile(path, "utf8"), `${content}${torn > 0 ? "\n" : ""}next\n`, reason);
    });
  }
});

test("what cannot be opened is an error, and works once it can", () =>
  inFolder(async (path) => {
    const below = join(path, "audit.log");
    const sink = new FileSink(below);
    await assert.rejects(sink.write("a\n"), { code: "ENOENT" });
    await mkdir(path);
    await sink.write("a\n");
    await sink.close();
    assert.equal(await readFile(below, "utf8"), "a\n");
  }));

test("a stream gets the lines as they are", async () => {
  let text = "";
  const sink = streamSink((more) => {
    text += more;
  });
  assert.equal(await sink.mend(), 0);
  await sink.write("a\n");
  await sink.close();
  assert.equal(text, "a\n");
});
