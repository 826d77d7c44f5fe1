import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { ALGORITHMS, type RndcAlgorithm } from "../../src/rndc/algorithms.ts";
import { generateRndcKey, readRndcKey, secretText } from "../../src/rndc/key.ts";
import { parseRndcKey, printRndcKey } from "../../src/rndc/key-file.ts";
import { configure, HOST, type NamedPlace, newPlace, untilUp, ZONE } from "./named-stage.ts";
import { findProgram, NO_BIND, standIn } from "./stages.ts";

/** BIND's own tools take the stand-in for a named, and our keys for theirs. */
const run = promisify(execFile);
const names = ["rndc", "rndc-confgen", "named-checkconf", "nsupdate", "dig"] as const;
const found = await Promise.all(names.map(async (name) => [name, await findProgram(name)] as const));
const programs = new Map(found);
const isInstalled = found.every(([, program]) => program !== undefined);
const tool = (name: (typeof names)[number], words: readonly string[]) =>
  run(programs.get(name) ?? name, words, { timeout: 20_000 });

const keys = (Object.keys(ALGORITHMS) as RndcAlgorithm[]).map((algorithm) =>
  generateRndcKey(`tool-${algorithm}`, algorithm, systemRandom),
);
const [key = generateRndcKey("none", "hmac-sha256", systemRandom)] = keys;
let place: NamedPlace;
let running: { stop(): Promise<void> };

before(async () => {
  place = await newPlace();
  configure(place, { keys });
  running = await standIn.start(place);
  await untilUp(place, key);
});
after(() => running.stop());

const fileOf = (name: string): string => join(place.folder, "keys", `${name}.conf`);
const rndc = (file: string, ...words: string[]) =>
  tool("rndc", ["-s", HOST, "-p", String(place.controlPort), "-k", file, ...words]);

/** Both ways: what named does not take we do not take, and the other way round but for keys that are too weak. */
const texts = [
  'key a { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; };',
  'key a { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA"; };',
  'key a { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAB=="; };',
  'key a { algorithm hmac-sha256; secret "AAAA AAAA\nAAAAAAAAAAAAAA=="; };',
  "key a { algorithm hmac-sha256; secret AAAA//AAAAAAAAAAAAAAAA==; };",
  "key a { algorithm hmac-sha256; secret AAAA/AAAAAAAAAAAAAAAAA==; };",
  'key a#b { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; };',
  'key"a"{algorithm hmac-sha256;secret"AAAAAAAAAAAAAAAAAAAAAA==";};',
  'key a { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; };;',
  'key a { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; }',
  'key a { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA==" };',
  'key a { algorithm "HMAC-SHA256"; SECRET "AAAAAAAAAAAAAAAAAAAAAA=="; }; # /*',
  'key a { algorithm hmac-sha256; /* } */ secret "AAAAAAAAAAAAAAAAAAAAAA=="; // ;\n};',
  'key a { algorithm hmac-sha256; /* secret "AAAAAAAAAAAAAAAAAAAAAA=="; };',
  'key a { secret "AAAAAAAAAAAAAAAAAAAAAA=="; };',
  'key "" { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; };',
];
if (isInstalled) toolTests();
else test("BIND's own tools on the stand-in", { skip: NO_BIND });

test("a key from separate values is the same as one from a file", () => {
  const parts = { name: key.name, algorithm: key.algorithm, secret: secretText(key) };
  assert.deepEqual(readRndcKey(parts).key.secret.reveal(), key.secret.reveal());
});

function toolTests(): void {
  for (const each of keys) {
    test(`rndc with ${each.algorithm} against the stand-in`, async () => {
      assert.match((await rndc(fileOf(each.name), "status")).stdout, /server is up and running/);
    });

    test(`nsupdate and dig with ${each.algorithm} against the stand-in`, async () => {
      const name = `${each.algorithm}.${ZONE}`;
      const script = join(place.folder, "update");
      const lines = [`server ${HOST} ${place.dnsPort}`, `zone ${ZONE}`, `update add ${name} 60 A 192.0.2.7`, "send"];
      writeFileSync(script, `${lines.join("\n")}\n`);
      await tool("nsupdate", ["-k", fileOf(each.name), script]);
      const words = [`@${HOST}`, "-p", String(place.dnsPort), "-k", fileOf(each.name), name, "A"];
      for (const way of ["+notcp", "+tcp"]) {
        const { stdout } = await tool("dig", [...words, way]);
        assert.match(stdout, /status: NOERROR.*IN\s+A\s+192\.0\.2\.7.*TSIG.*NOERROR/s, way);
        assert.doesNotMatch(stdout, /Couldn't verify|malformed|WARNING: .*(signature|TSIG)/i);
      }
    });
  }

  test("rndc with a wrong key, and with a command that there is not", async () => {
    const wrong = join(place.folder, "wrong.key");
    writeFileSync(wrong, printRndcKey(generateRndcKey(key.name, key.algorithm, systemRandom)).reveal());
    await assert.rejects(rndc(wrong, "status"), /connection to remote host closed/);
    await assert.rejects(rndc(fileOf(key.name), "bogus"), /'bogus' failed: unknown command/);
  });

  test("what rndc-confgen writes is read, and what we print is a configuration", async () => {
    for (const { algorithm } of keys) {
      const file = join(place.folder, "generated.key");
      const { stdout } = await tool("rndc-confgen", ["-A", algorithm, "-k", "generated"]);
      const text = stdout.slice(stdout.indexOf("key "), stdout.indexOf("};") + 2);
      const { key: generated, warnings } = parseRndcKey(new Redacted(text));
      assert.deepEqual([generated.name, generated.algorithm, warnings], ["generated", algorithm, []]);
      writeFileSync(file, printRndcKey(generated).reveal());
      const printed = (await tool("named-checkconf", ["-p", file])).stdout;
      assert.match(printed, new RegExp(`key "generated".*${algorithm}`, "s"));
    }
  });

  for (const text of texts) {
    test(`named-checkconf and we agree on ${JSON.stringify(text)}`, async () => {
      const file = join(place.folder, "agree.key");
      writeFileSync(file, `${text}\n`);
      const isTaken = (attempt: () => unknown): boolean => {
        try {
          attempt();
          return true;
        } catch {
          return false;
        }
      };
      const theirs = await tool("named-checkconf", [file]).then(
        () => true,
        () => false,
      );
      assert.equal(
        isTaken(() => parseRndcKey(new Redacted(`${text}\n`))),
        theirs,
      );
    });
  }
}
