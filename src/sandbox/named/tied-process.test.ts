import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { delay, systemClock } from "../../base/clock.ts";
import { startTied } from "./tied-process.ts";

const isAlive = (processId: number): boolean => {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
};

async function untilGone(processId: number): Promise<void> {
  const deadlineTick = systemClock.monotonic() + 10_000;
  while (isAlive(processId)) {
    assert.ok(systemClock.monotonic() < deadlineTick, `${processId} is still there`);
    await delay(systemClock, 20);
  }
}

test("a program runs under the number that is said, until it is stopped", async () => {
  const tied = startTied("/bin/sleep", ["600"]);
  assert.ok(isAlive(tied.processId ?? 0));
  await tied.stop();
  await untilGone(tied.processId ?? 0);
});

test("what a program says last is there when it ends by itself", async () => {
  const tied = startTied("/bin/sh", ["-c", 'echo one >&2; echo "two $1" >&2; exit 3', "sh", "words"]);
  assert.equal(await tied.ended, "two words");
  await tied.stop();
});

test("a program that is not there has ended", async () => {
  assert.match(await startTied("/nowhere/named", []).ended, /not found/);
});

test("a program does not outlive who started it, even one that is killed", async () => {
  const module = join(import.meta.dirname, "tied-process.ts");
  const script = `const { startTied } = await import(${JSON.stringify(module)});
console.log(startTied("/bin/sleep", ["600"]).processId);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const processId = Number(said.toString());
  assert.ok(isAlive(processId));
  parent.kill("SIGKILL");
  await untilGone(processId);
});
