import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

/** Runs a piece of `build.ts` in a process with its own PATH and cache; gives what it printed. */
function inProcess(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const module = JSON.stringify(path.join(import.meta.dirname, "build.ts"));
  const script = `const build = await import(${module}); ${code}`;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["--input-type=module", "-e", script], { env: { ...env } }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });
}

const tryBuild =
  "await build.buildClusterTools(() => {}).catch((error) => console.log(error.name + ': ' + error.message));";

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "keyturn-build-"));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fakeGo(directory: string, script: string): Promise<void> {
  const file = path.join(directory, "go");
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o700);
}

const oldGo = `echo '{"GOVERSION":"go1.20.1","GOOS":"linux","GOARCH":"amd64"}'`;
const refusingGo = "echo 'go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)' >&2; exit 1";

for (const { what, script, says } of [
  { what: "no Go at all", script: undefined, says: /^ClusterError: Go is not installed: .* 1\.26\.0 or newer/ },
  {
    what: "a Go that knows nothing of module versions",
    script: oldGo,
    says: /^ClusterError: Go is too old: install 1\.26\.0/,
  },
  { what: "a Go that refuses the module", script: refusingGo, says: /^ClusterError: Go is too old: install 1\.26\.0/ },
]) {
  test(`${what} is said in one line`, async () => {
    await withDirectory(async (directory) => {
      if (script !== undefined) await fakeGo(directory, script);
      const printed = await inProcess(tryBuild, { PATH: directory, XDG_CACHE_HOME: directory, HOME: directory });
      assert.match(printed, says);
      assert.equal(printed.trim().split("\n").length, 1);
    });
  });
}

test("the newest kubectl of earlier builds is found without Go", async () => {
  await withDirectory(async (directory) => {
    const env = { PATH: "", XDG_CACHE_HOME: directory };
    const find = "console.log(await build.findBuiltKubectl());";
    assert.equal(await inProcess(find, env), "undefined\n");
    for (const [hash, builtAt] of [
      ["aaaa", 2000],
      ["bbbb", 1000],
    ] as const) {
      const folder = path.join(directory, "keyturn", "cluster", hash);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, "kubectl"), "");
      await utimes(path.join(folder, "kubectl"), builtAt, builtAt);
    }
    await mkdir(path.join(directory, "keyturn", "cluster", "empty"));
    assert.equal(await inProcess(find, env), `${path.join(directory, "keyturn", "cluster", "aaaa", "kubectl")}\n`);
  });
});
