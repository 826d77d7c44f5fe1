import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** A folder of a test's own, gone when the tests are: not before, since what a test has started may still write to it. */
export function scratchFolder(): string {
  if (folders.length === 0) process.once("exit", removeAll);
  const folder = mkdtempSync(join(tmpdir(), "keyturn-test-"));
  folders.push(folder);
  return folder;
}

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
