import assert from "node:assert/strict";
import { test } from "node:test";
import { disagreement, masked } from "./console.ts";
import { readPage } from "./markdown.ts";
import { read, START, tutorials } from "./tutorials.ts";

test("every tutorial starts in the same way, shows its manifests as they are, and goes through a rotation", () => {
  assert.equal(tutorials.length, 5);
  for (const file of tutorials) {
    const source = read(file);
    const { blocks } = readPage(source);
    assert.equal(blocks.find(({ language }) => language === "sh")?.text, START, file);
    const shown = blocks.filter(({ language }) => language === "yaml").map(({ text }) => `${text}\n`);
    const applied = [...source.matchAll(/kubectl apply -f (\S+\.yaml)/g)].map(([, path = ""]) => read(path));
    assert.deepEqual(shown, applied, `${file}: what is applied is what is shown`);
    assert.match(source, /^\$ keyturn (rotate|credentials set) /m, file);
    // What it makes, it takes away: the next tutorial, or the next try, begins as this one did.
    const [, namespace] = /^\$ kubectl create namespace (\w+)$/m.exec(source) ?? [];
    assert.match(source, new RegExp(`^\\$ kubectl delete namespace ${namespace} -o name$`, "m"), file);
  }
});

test("what may differ is masked, and nothing else", () => {
  const line =
    "catalog-pqpv2jxx  (7f5a3018-9d0b-42dc-8ef2-b71a6e3f0951) at 2026-11-16T13:04:55Z, in 6d23h, bindy-operator";
  assert.equal(masked(line), "catalog-KEY (ID) at INSTANT, in DURATION, bindy-operator");
  assert.equal(masked("names-primary-0-8dc857d5b-bn8jk 1/1"), "names-primary-0-POD 1/1");
  assert.equal(disagreement(["a 1s", "…", "z"], ["a 20s", "b", "c", "z"]), undefined);
  assert.match(disagreement(["a", "b"], ["a"]) ?? "", /the page says\na\nb/);
  assert.match(disagreement(["a", "…"], ["b", "c"]) ?? "", /it printed\nb\nc/);
});
