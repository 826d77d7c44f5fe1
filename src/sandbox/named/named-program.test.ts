import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { freePort } from "./loopback-address.ts";
import { type Endpoints, type NamedProgram, namedProgram, standInProgram, withSubstitute } from "./named-program.ts";

const around = { clock: systemClock, random: systemRandom, logger: silentLogger };
const endpoints: Endpoints = { control: { address: "127.1.1.1", port: 1 }, dns: { address: "127.1.1.1", port: 2 } };
const { signal } = new AbortController();
const running = { ended: new Promise<void>(() => {}), stop: async () => {} };

/** Works while it is told to. */
function played(name: string, works: () => boolean): NamedProgram & { starts: number } {
  return {
    name,
    starts: 0,
    settle: async () => endpoints,
    async start() {
      this.starts++;
      if (!works()) throw new Error(`${name} fails`);
      return running;
    },
  };
}

function listening(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  return { ...silentLogger, lines, warn: (line) => void lines.push(line) };
}

test("the stand-in has both ports on one address, and ends when it is told to", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-named-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const program = standInProgram(around);
  const [controlPort, dnsPort] = [(await freePort("127.0.0.1")) ?? 0, (await freePort("127.0.0.1")) ?? 0];
  const place = await program.settle({ controlPort, dnsPort, preferred: undefined });
  assert.ok(place);
  assert.equal(place.control.address, place.dns.address);
  const configPath = join(folder, "named.conf");
  writeFileSync(configPath, `options { listen-on port ${dnsPort} { ${place.dns.address}; }; };`);
  const named = await program.start(configPath, place, signal);
  const elsewhere = await program.settle({ controlPort, dnsPort, preferred: place.dns.address });
  assert.notEqual(elsewhere?.dns.address, place.dns.address, "it listens there");
  await named.stop();
  await named.ended;
});

test("BIND's own answers DNS on the address that every system has", async () => {
  const place = await namedProgram("/nowhere/named", around).settle({
    controlPort: (await freePort("127.0.0.1")) ?? 0,
    dnsPort: 1053,
    preferred: undefined,
  });
  assert.equal(place?.dns.address, "127.0.0.1");
  assert.notEqual(place?.control.address, "127.0.0.1");
});

test("a named that ends before it listens has failed, with what it said last", async () => {
  await assert.rejects(
    namedProgram("/nowhere/named", around).start("named.conf", endpoints, signal),
    /listen: .*not found/,
  );
});

test("another one takes the place of a program that never works, and says so once", async () => {
  const logger = listening();
  const [first, second] = [played("named", () => false), played("a stand-in", () => true)];
  const program = withSubstitute(first, second, logger);
  assert.equal(await program.start("a", endpoints, signal), running);
  assert.equal(await program.start("b", endpoints, signal), running);
  assert.deepEqual([first.starts, second.starts], [1, 2]);
  assert.deepEqual(logger.lines, ["named does not start here: a stand-in takes its place"]);
});

test("a program that has worked once stays", async () => {
  let works = true;
  const [first, second] = [played("named", () => works), played("a stand-in", () => true)];
  const program = withSubstitute(first, second, silentLogger);
  await program.start("a", endpoints, signal);
  works = false;
  await assert.rejects(program.start("b", endpoints, signal), /named fails/);
  assert.equal(second.starts, 0);
});
