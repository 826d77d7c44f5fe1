import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MountedVolume } from "./mounted-volume.ts";

test("a volume shows one state at a time, and nothing of the former one", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-volume-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "ring");
  const volume = new MountedVolume(path);
  volume.put({ "keys.conf": "one", "acl.conf": "one" });
  volume.put({ "keys.conf": "two", "controls.conf": "two" });
  assert.deepEqual(readdirSync(path).sort(), ["..data", "..state-2", "controls.conf", "keys.conf"]);
  for (const file of ["keys.conf", "controls.conf"]) assert.equal(readFileSync(join(path, file), "utf8"), "two");
});
