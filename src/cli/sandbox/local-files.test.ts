import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { type KeyMount, NAMED_CONF, namedConf, PATHS } from "../../bind/named-conf.ts";
import { CONTROL_CHANNEL, controlsStatement } from "../../bind/render-ring.ts";
import { generateRndcKey } from "../../rndc/key.ts";
import { printRndcKey } from "../../rndc/key-file.ts";
import { memoryFiles } from "../../sandbox/named/memory-files.fixture.ts";
import { readNamedConfig } from "../../sandbox/named/named-config.ts";
import { localFiles } from "./local-files.ts";

const key = generateRndcKey("k", "hmac-sha256", seededRandom(1));
const endpoints = { control: { address: "127.1.2.3", port: 9953 }, dns: { address: "127.0.0.1", port: 4053 } };
const folders = new Map([
  [PATHS.config, "/pod/config"],
  [PATHS.key, "/pod/key"],
  [PATHS.ring, "/pod/ring"],
  [PATHS.work, "/pod/work"],
]);

const cases: readonly { readonly reason: string; readonly keys: KeyMount }[] = [
  { reason: "keys from a ring", keys: { kind: "ring", secretName: "k", ringName: "k-ring" } },
  { reason: "one key from a file", keys: { kind: "file", secretName: "k", keyName: "k" } },
];

for (const { reason, keys } of cases) {
  test(`a configuration with ${reason} is read here as it is in a pod, but for places`, () => {
    const put = (folder: string, files: Readonly<Record<string, string>>): readonly [string, string][] =>
      Object.entries(localFiles(files, { folders, endpoints })).map(([name, text]) => [`${folder}/${name}`, text]);
    const files = new Map([
      ...put("/pod/config", { [NAMED_CONF]: namedConf({ recursion: true, keys }) }),
      ...put("/pod/key", { "rndc.key": printRndcKey(key).reveal() }),
      ...put("/pod/ring", {
        "keys.conf": printRndcKey(key).reveal(),
        "controls.conf": controlsStatement(["k"], CONTROL_CHANNEL),
        "acl.conf": 'acl "keyturn-updaters" { key "k"; };\n',
      }),
    ]);
    const config = readNamedConfig(memoryFiles(files), `/pod/config/${NAMED_CONF}`);
    assert.deepEqual(
      [config.listenOn, config.controls?.address, config.controls?.port],
      [endpoints.dns, endpoints.control.address, endpoints.control.port],
    );
    assert.deepEqual([...config.keys.keys()], ["k"]);
  });
}

test("a path that only begins like one that is mounted stays", () => {
  const text = `include "${PATHS.key}s/other";\ninclude "${PATHS.key}/rndc.key";\n`;
  const { a } = localFiles({ a: text }, { folders, endpoints });
  assert.equal(a, `include "${PATHS.key}s/other";\ninclude "/pod/key/rndc.key";\n`);
});
