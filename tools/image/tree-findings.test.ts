import assert from "node:assert/strict";
import { test } from "node:test";
import { type TreeEntry, treeFindings } from "./tree-findings.ts";

const file = (path: string, more: Partial<TreeEntry> = {}): TreeEntry => ({
  path,
  kind: "file",
  mode: 0o644,
  bytes: 1,
  ...more,
});
const folder = (path: string): TreeEntry => ({ path, kind: "folder", mode: 0o755, bytes: 0 });

const sound: readonly TreeEntry[] = [
  file("LICENSE"),
  file("NOTICE"),
  folder("bin"),
  file("bin/keyturn", { mode: 0o755 }),
  folder("dist"),
  file("dist/main.js"),
  file("dist/page/index.html"),
  file("package.json", { manifest: { name: "keyturn", version: "1.0.0", scripts: { start: "x" } } }),
  folder("node_modules"),
  folder("node_modules/@a/b"),
  file("node_modules/@a/b/package.json", { manifest: { name: "@a/b", version: "2.0.0" } }),
  file("node_modules/@a/b/LICENSE.md"),
  file("node_modules/@a/b/esm/package.json", { manifest: { type: "module" } }),
];
const locked = [{ name: "@a/b", version: "2.0.0" }];

test("a sound tree has nothing wrong with it", () => assert.deepEqual(treeFindings(sound, locked), []));

const added: readonly (readonly [entry: TreeEntry, finding: string])[] = [
  [file("tools"), "tools does not belong there"],
  [file("dist/main.ts"), "dist/main.ts: source"],
  [file("dist/main.d.ts"), "dist/main.d.ts: source"],
  [file("dist/main.js.map"), "dist/main.js.map: a map"],
  [file("dist/clock.fixture.js"), "dist/clock.fixture.js: a test"],
  [folder("node_modules/@a/b/test"), "node_modules/@a/b/test: a test"],
  [file("dist/simulation/world.js"), "dist/simulation/world.js: a test"],
  [file("node_modules/@a/b/README.md"), "node_modules/@a/b/README.md: words"],
  [file("dist/other/index.html"), "dist/other/index.html: words"],
  [file("node_modules/.package-lock.json"), "node_modules/.package-lock.json: settings"],
  [file("dist/.npmrc"), "dist/.npmrc: settings"],
  [
    file("node_modules/@a/b/build/b.node"),
    "node_modules/@a/b/build/b.node: native code, which is not the same everywhere",
  ],
  [file("dist/open.js", { mode: 0o664 }), "dist/open.js: writable by others"],
  [file("dist/set.js", { mode: 0o4755 }), "dist/set.js: a set-id or sticky bit"],
  [{ ...file("dist/out.js"), kind: "link", target: "../etc" }, "dist/out.js: a link that leads out"],
  [file("dist/large.js", { bytes: 60_000_000 }), "60000009 bytes, which is more than 60000000"],
  [
    file("node_modules/c/package.json", { manifest: { name: "c", version: "1.0.0", scripts: { postinstall: "x" } } }),
    "node_modules/c/package.json: an install script (postinstall)",
  ],
  [
    file("node_modules/c/package.json", { manifest: { name: "c", version: "1.0.0" } }),
    "c@1.0.0: not in the lock file as needed",
  ],
  [file("node_modules/c/package.json", { manifest: { version: "1.0.0" } }), "node_modules/c: no licence"],
];

for (const [entry, finding] of added) {
  test(`found: ${finding}`, () => {
    assert.ok(
      treeFindings([...sound, entry], locked).includes(finding),
      treeFindings([...sound, entry], locked).join(),
    );
  });
}

test("a link within the tree leads nowhere else", () => {
  const link: TreeEntry = { ...file("dist/in.js"), kind: "link", target: "dist/main.js" };
  assert.deepEqual(treeFindings([...sound, link], locked), []);
});

test("what is not there is missed", () => {
  const without = sound.filter(({ path }) => path !== "NOTICE" && path !== "node_modules/@a/b/package.json");
  assert.deepEqual(treeFindings(without, locked), ["NOTICE is missing", "@a/b@2.0.0 is missing"]);
});

test("a package.json that speaks of packages for development is found, and a command that cannot be run", () => {
  const manifest = { name: "keyturn", devDependencies: {} };
  const changed = sound.map((entry) => {
    if (entry.path === "package.json") return { ...entry, manifest };
    return entry.path === "bin/keyturn" ? { ...entry, mode: 0o644 } : entry;
  });
  assert.deepEqual(treeFindings(changed, locked), [
    "bin/keyturn: not executable",
    "package.json: packages that are not there",
  ]);
});
